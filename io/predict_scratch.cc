#include "windhover/io/predict_scratch.h"

#include <cstring>
#include <memory>

#include "windhover/platform/check.h"

namespace windhover {

PredictScratch::PredictScratch(Arena& arena, const Limits& limits) noexcept
    : doubles_(arena.allocate<double>(limits.frame_cap / sizeof(float))),
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
  request.outcomes = to_doubles(query.outcomes, Scalar::kFloat64);
  if (query.offsets.count > 0) request.offsets = to_doubles(query.offsets, Scalar::kFloat64);
  request.interval_probability = query.interval_probability;
  request.thompson_id = query.thompson_id;
  return request;
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
