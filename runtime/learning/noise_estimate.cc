#include "windhover/runtime/learning/noise_estimate.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/linear_algebra/interlude.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"
#include "windhover/samplers/registry.h"

namespace windhover {

// With linear predictors the rows say nothing about the same directions at every theta; in a
// network the directions change with theta.
NoiseEstimate::NoiseEstimate(Arena& arena, const SamplerConfig& config, const ModelConfig& model,
                             bool of_equal_rows) noexcept
    : dimension_(model.dimension()),
      of_equal_rows_(of_equal_rows),
      measured_(arena, config, dimension_),
      values_(arena.allocate<double>(numbers()).data()),
      reference_(arena.allocate<double>(dimension_).data()),
      scale_(arena.allocate<double>(dimension_).data()) {
  const bool linear = !find_model(model.name)->network;
  if (is_full() && linear) null_directions_ = arena.make<NullDirections>(arena, dimension_);
  if (of_equal_rows || !model.weighted()) return;
  assumed_ = arena.allocate<double>(std::size_t{dimension_} * dimension_).data();
}

void NoiseEstimate::start_over() noexcept {
  std::fill_n(values_, numbers(), 0.0);
  measured_.reset();
  std::fill_n(reference_, dimension_, 0.0);
  reference_known_ = false;
}

bool NoiseEstimate::end_pass(const AnchorSums& rows, double weight_floor,
                             Interlude* interlude) noexcept {
  const bool swept = measured_.rows_in_pass() > 0;
  const double weight = measured_.end_pass(weight_floor, interlude);
  if (weight == 0) return !swept;
  if (!reference_known_) std::fill_n(reference_, dimension_, 0.0);
  reference_known_ = true;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    reference_[j] += weight * (expected(rows, j) - reference_[j]);
  }
  return true;
}

double NoiseEstimate::expected(const AnchorSums& rows, std::uint32_t j) const noexcept {
  return of_equal_rows_ ? rows.mean_curvature(j) : rows.mean_curvature(j) / rows.weight_ratio();
}

void NoiseEstimate::follow_sums(const AnchorSums& rows) noexcept {
  measured_.estimate_from_sums();
  reference_known_ = true;
  for (std::uint32_t j = 0; j < dimension_; ++j) reference_[j] = expected(rows, j);
}

void NoiseEstimate::refresh(const AnchorSums& rows, double dispersion,
                            Interlude* interlude) noexcept {
  const Eigen::Index d = dimension_;
  const std::size_t width = matrix_width(dimension_);
  const bool projected = null_directions_ != nullptr && reference_known_;
  if (projected) null_directions_->find(rows, values_, interlude);
  const double spread = of_equal_rows_ ? rows.weight_ratio() : 1.0;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    const bool known = reference_known_ && reference_[j] > 0;
    const double ratio = known ? expected(rows, j) / reference_[j] : 1.0;
    scale_[j] = std::sqrt(spread * std::max(ratio, 0.0)) / dispersion;
  }
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    const bool never_seen = reference_known_ && !(reference_[j] > 0);
    const double extra = never_seen ? std::max(expected(rows, j), 0.0) / dispersion : 0.0;
    if (!is_full()) {
      values_[j] = scale_[j] * scale_[j] * measured_.variances()[j] + extra;
      continue;
    }
    for (std::uint32_t i = j; i < dimension_; ++i) {
      values_[j * d + i] = scale_[i] * scale_[j] * measured_.matrix()[j * width + i];
    }
    advance(interlude, kProductsANumber * (dimension_ - j));
    values_[j * (dimension_ + 1)] += extra;
  }
  if (is_full()) symmetrize(values_, d, interlude);
  if (projected) null_directions_->remove_from(values_, interlude);
}

void NoiseEstimate::assume(const AnchorSums& rows, const double* curvature,
                           Interlude* interlude) noexcept {
  if (assumed_ == nullptr) return;
  const double scale = 1 / rows.weight_ratio();
  const std::size_t count = std::size_t{dimension_} * dimension_;
  for (std::size_t i = 0; i < count; ++i) assumed_[i] = scale * curvature[i];
  advance(interlude, kSweptNumber * static_cast<double>(count));
}

void NoiseEstimate::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("noise covariance");
  visitor.value(reference_known_);
  visitor.visit(reference_, dimension_);
  visitor.visit(values_, numbers());
  measured_.visit_state(visitor);
  if (assumed_ != nullptr) visitor.visit(assumed_, std::size_t{dimension_} * dimension_);
}

}  // namespace windhover
