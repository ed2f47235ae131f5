#include "windhover/io/predict_scratch.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "windhover/io/codec.h"
#include "windhover/io/wire_fields.h"
#include "windhover/platform/check.h"

namespace windhover {

PredictScratch::PredictScratch(Arena& arena, const Limits& limits) noexcept
    : doubles_(arena.allocate<double>(limits.frame_cap / sizeof(float))),
      keys_(arena.allocate<std::string_view>(limits.max_keys)),
      integers_(arena.allocate<std::uint32_t>(limits.frame_cap / sizeof(std::uint32_t))),
      summaries_(arena.allocate<PredictiveSummary>(limits.max_query_rows)) {}

void PredictScratch::reset() noexcept {
  std::uninitialized_default_construct(summaries_.begin(), summaries_.end());
}

PredictRequest PredictScratch::load(const PredictQuery& query) noexcept {
  doubles_used_ = integers_used_ = 0;
  PredictRequest request;
  request.rows = query.rows;
  request.features = to_doubles(query.features, query.scalar);
  request.indices = to_integers(query.indices);
  request.row_ends = to_integers(query.row_ends);
  request.quantile_probabilities = to_doubles(query.quantile_probabilities, Scalar::kFloat64);
  request.thresholds = to_doubles(query.thresholds, Scalar::kFloat64);
  if (query.keys.count > 0) request.keys = load_keys(query);
  request.outcomes = to_doubles(query.outcomes, Scalar::kFloat64);
  if (query.offsets.count > 0) request.offsets = to_doubles(query.offsets, Scalar::kFloat64);
  if (query.trials.count > 0) request.trials = to_doubles(query.trials, Scalar::kFloat64);
  request.interval_probability = query.interval_probability;
  request.thompson_id = query.thompson_id;
  request.posterior_spread = query.posterior_spread;
  return request;
}

std::span<const std::string_view> PredictScratch::load_keys(const PredictQuery& query) noexcept {
  return to_texts(query.keys, predict_field::kKeys);
}

OutcomeBatch PredictScratch::load(const OutcomeQuery& query) noexcept {
  doubles_used_ = 0;
  return {to_texts(query.keys, outcome_field::kKeys), to_doubles(query.targets, Scalar::kFloat64)};
}

std::span<const std::string_view> PredictScratch::to_texts(const KeyList& keys,
                                                           int field) noexcept {
  WINDHOVER_CHECK(keys.count <= keys_.size());
  const std::span<std::string_view> texts = keys_.first(keys.count);
  read_keys(keys, field, texts);
  return texts;
}

std::span<const double> PredictScratch::to_doubles(const PackedArray& array,
                                                   Scalar scalar) noexcept {
  WINDHOVER_CHECK(array.count <= doubles_.size() - doubles_used_);
  const std::span<double> copy = doubles_.subspan(doubles_used_, array.count);
  doubles_used_ += array.count;
  if (array.count == 0) return copy;
  if (scalar == Scalar::kFloat64) {
    std::memcpy(copy.data(), array.data, copy.size_bytes());
  } else {
    for (std::size_t i = 0; i < array.count; ++i) {
      float value;
      std::memcpy(&value, array.data + i * sizeof value, sizeof value);
      copy[i] = static_cast<double>(value);
    }
  }
  return copy;
}

std::span<const std::uint32_t> PredictScratch::to_integers(const PackedArray& array) noexcept {
  WINDHOVER_CHECK(array.count <= integers_.size() - integers_used_);
  const std::span<std::uint32_t> copy = integers_.subspan(integers_used_, array.count);
  integers_used_ += array.count;
  if (array.count != 0) std::memcpy(copy.data(), array.data, copy.size_bytes());
  return copy;
}

}  // namespace windhover
