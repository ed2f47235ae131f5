#include "windhover/samplers/constant_rate/iterate_averaging.h"

#include <algorithm>
#include <cmath>

namespace windhover {

Result<bool> IterateAveraging::check(const SamplerConfig& config) noexcept {
  if (!(config.step_size >= 0) || !std::isfinite(config.step_size)) {
    return Error{Status::kInvalidConfig,
                 "step_size must be a finite number of at least 0 (0: chosen)", config.step_size};
  }
  return true;
}

void IterateAveraging::start(Chain& chain, Rng&) const noexcept {
  std::copy_n(chain.theta, dimension_, chain.state);
  std::fill_n(chain.state + dimension_, dimension_ + 1, 0.0);
}

Status IterateAveraging::refresh(const Estimates& e) noexcept {
  if (!e.diagonals_are_sound()) return Status::kNotPositiveDefinite;
  const double largest = largest_rate(e.curvature, dimension_, work_, work_ + dimension_,
                                      [](double*, Eigen::Index) {});
  const double rate = given_rate_ > 0 ? given_rate_ : 1.0 / largest;
  if (!(rate * largest < kLargestRate)) return Status::kNotPositiveDefinite;
  rate_ = rate;
  window_ = std::max(1.0, std::round(e.n / e.minibatch_size));
  relaxation_ = window_ + 1.0 / (rate * least_curvature(e.curvature, dimension_, work_));
  return Status::kOk;
}

Status IterateAveraging::step(Chain& chain, GradientSource& gradient, Rng&) const noexcept {
  double* iterate = chain.state;
  double* sum = iterate + dimension_;
  double& length = sum[dimension_];
  gradient(iterate, chain.work);
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    iterate[j] -= rate_ * chain.work[j];
    sum[j] += iterate[j];
  }
  length += 1;
  if (length >= window_) {
    for (std::uint32_t j = 0; j < dimension_; ++j) chain.theta[j] = sum[j] / length;
    std::fill_n(sum, dimension_ + 1, 0.0);
  }
  return finite_or_diverged(iterate, dimension_);
}

}  // namespace windhover
