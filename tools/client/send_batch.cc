#include "windhover/tools/client/send_batch.h"

namespace windhover {

void SendBatch::add(const EncodedRow& row, const Schema& schema) {
  features.insert(features.end(), row.values.begin(), row.values.end());
  targets.push_back(row.target);
  if (schema.has_offset()) offsets.push_back(row.offset);
  if (schema.has_weight()) weights.push_back(row.weight);
  if (schema.has_trials()) trials.push_back(row.trials);
  if (!schema.sparse()) return;
  indices.insert(indices.end(), row.indices.begin(), row.indices.end());
  row_ends.push_back(static_cast<std::uint32_t>(indices.size()));
}

void SendBatch::drop(std::size_t count) {
  const std::size_t rows = targets.size();
  const std::size_t begin =
      row_ends.empty() ? count * (features.size() / rows) : (count > 0 ? row_ends[count - 1] : 0);
  const auto at = [](std::size_t n) { return static_cast<std::ptrdiff_t>(n); };
  features.erase(features.begin(), features.begin() + at(begin));
  targets.erase(targets.begin(), targets.begin() + at(count));
  if (!offsets.empty()) offsets.erase(offsets.begin(), offsets.begin() + at(count));
  if (!weights.empty()) weights.erase(weights.begin(), weights.begin() + at(count));
  if (!trials.empty()) trials.erase(trials.begin(), trials.begin() + at(count));
  if (row_ends.empty()) return;
  indices.erase(indices.begin(), indices.begin() + at(begin));
  row_ends.erase(row_ends.begin(), row_ends.begin() + at(count));
  for (std::uint32_t& end : row_ends) end -= static_cast<std::uint32_t>(begin);
}

}  // namespace windhover
