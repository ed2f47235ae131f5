#include "windhover/runtime/scoring/outcome_filter.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "windhover/runtime/prediction/prediction_kernels.h"
#include "windhover/samplers/kernels/kernels.h"

namespace windhover {

OutcomeFilter::OutcomeFilter(Arena& arena, std::size_t n) noexcept
    : direction_(arena.allocate<double>(n)),
      gain_(arena.allocate<double>(n)),
      mean_(arena.allocate<double>(n)),
      covariance_(arena.allocate<double>(n * n)) {}

void OutcomeFilter::begin() noexcept {
  any_taken_in_ = false;
  shift_ = growth_ = 0;
}

// Done only when a next row comes: most posteriors that follow a stream predict one take of few
// rows.
void OutcomeFilter::take_in() noexcept {
  if (shift_ == 0 && growth_ == 0) return;
  const std::size_t n = mean_.size();
  if (!any_taken_in_) {
    std::ranges::fill(mean_, 0.0);
    std::ranges::fill(covariance_, 0.0);
    for (std::size_t i = 0; i < n; ++i) covariance_[i * (n + 1)] = 1;
    any_taken_in_ = true;
  }
  for (std::size_t i = 0; i < n; ++i) mean_[i] += shift_ * gain_[i];
  std::array<double, kSymmetricBlock> scaled;
  for (std::size_t j = 0; j < n; j += kSymmetricBlock) {
    const std::size_t columns = std::min(kSymmetricBlock, n - j);
    for (std::size_t k = 0; k < columns; ++k) scaled[k] = growth_ * gain_[j + k];
    kernels().multiply_add(scaled.data(), 1, 1, &gain_[j], n, &covariance_[j * (n + 1)], n, columns,
                           n - j, 1);
  }
  shift_ = growth_ = 0;
}

OutcomeFilter::LinearPredictor OutcomeFilter::look() noexcept {
  take_in();
  const PredictionKernels& kernel = prediction_kernels();
  const std::size_t n = mean_.size();
  double mean = 0;
  if (any_taken_in_) {
    mean = kernel.dot(mean_.data(), direction_.data(), n);
    std::ranges::fill(gain_, 0.0);
    kernels().symmetric_product(covariance_.data(), n, 1.0, direction_.data(), gain_.data());
  } else {
    std::ranges::copy(direction_, gain_.begin());
  }
  variance_ = std::max(0.0, kernel.dot(gain_.data(), direction_.data(), n));
  return {mean, variance_};
}

void OutcomeFilter::tell(const Outcome& outcome) noexcept {
  // The outcome as a normal observation of the linear predictor with this precision. It is left out
  // where less would be known after it, as after an outcome far off under heavy tails.
  const double precision = -outcome.curvature / (1 + outcome.curvature * variance_);
  if (!(precision >= 0) || !std::isfinite(outcome.slope + precision)) return;
  const double counted = outcome.weight * precision;
  growth_ = -counted / (1 + counted * variance_);
  shift_ = outcome.weight * outcome.slope * (1 + precision * variance_) / (1 + counted * variance_);
}

}  // namespace windhover
