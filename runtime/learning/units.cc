#include "windhover/runtime/learning/units.h"

#include <algorithm>
#include <cmath>

namespace windhover {

void Column::add(double x, double weight) noexcept {
  if (values_ == 0) first_ = x;
  if (values_ == 1 && x != first_) second_ = x;
  const bool known = (values_ > 0 && x == first_) || (values_ > 1 && x == second_);
  if (!known) values_ = std::min(values_ + 1, 3);
  count_ += weight;
  const double delta = x - mean_;
  mean_ += weight * delta / count_;
  squares_ += weight * delta * (x - mean_);
}

double Column::range_of_two() const noexcept {
  return values_ == 2 ? std::abs(second_ - first_) : 0.0;
}

FeatureUnits feature_units(const EngineConfig& config, const Column& column) noexcept {
  const bool scaled = config.standardize == Standardize::kScaled;
  const bool shifted = config.model.max_nonzeros == 0 && (config.model.intercept || !scaled);
  const double range = scaled ? column.range_of_two() : 0.0;
  const double inverse_scale = !column.varies() ? 1.0
                               : range > 0      ? 1.0 / range
                                                : 1.0 / std::sqrt(column.variance());
  return {shifted ? column.mean() : 0.0, inverse_scale};
}

TargetTransform given_target_units(const EngineConfig& config) noexcept {
  if (config.standardize_target != Standardize::kGiven) return {};
  return {config.target_shift, config.target_scale};
}

TargetTransform scanned_target_units(const EngineConfig& config, const Column& targets,
                                     double exposure) noexcept {
  const double mean = targets.mean();
  const bool shifted = config.model.intercept;
  const Response response = find_model(config.model.name)->response;
  if (is_count(response)) {
    // A mean of 0 counts as half a count.
    const double least = 0.5 / std::max(targets.count(), 1.0);
    return {shifted ? std::log(std::max(mean, least)) - std::log(exposure) : 0.0, 1.0};
  }
  const double equal = scale_of_equal_targets(response, mean);
  double scale = equal > 0 ? equal : 1.0;
  if (targets.varies()) {
    scale = std::sqrt(shifted ? targets.variance() : targets.variance() + mean * mean);
  }
  return {shifted ? mean : 0.0, scale};
}

namespace {

// Brings one block's coefficients to units of the raw features, and its constant to x = 0.
void to_raw_block(const ParameterLayout& layout, const FeatureTransform& transform,
                  double* theta) noexcept {
  const std::size_t features = transform.shift.size();
  for (std::size_t j = 0; j < features; ++j) {
    theta[j] *= transform.inverse_scale[j];
    if (layout.constant) theta[features] -= theta[j] * transform.shift[j];
  }
}

void to_units_of_target(const ParameterLayout& layout, const TargetTransform& target,
                        Posterior& p) noexcept {
  ParameterColumns& of = p.parameters;
  const double scale = target.scale;
  for (std::size_t j = layout.first_of_target; j < p.dimension; ++j) {
    for (double* numbers : {p.mean, of.mode, of.sd, of.sd_robust, of.mcse_mean}) {
      numbers[j] *= scale;
    }
    of.prior_precision[j] /= scale * scale;
    double* deviations = p.deviations + j * p.draws;
    for (std::size_t m = 0; m < p.draws; ++m) deviations[m] *= scale;
    p.average.scale(static_cast<std::uint32_t>(j), scale);
  }
  if (layout.constant) {
    p.mean[p.dimension - 1] += target.shift;
    of.mode[p.dimension - 1] += target.shift;
  }
  if (layout.log_variance) {
    p.mean[layout.first_of_target - 1] += 2 * std::log(scale);
    of.mode[layout.first_of_target - 1] += 2 * std::log(scale);
  }
  p.target_scale = scale;
  p.dispersion *= scale * scale;
  for (double& variance : p.noise.variance) variance *= scale * scale;
  p.provenance.noise_variance *= scale * scale;
  p.provenance.noise_variance_sd *= scale * scale;
}

// Spread of the constant at x = 0, which is direction' theta of the fitted parameters; `constant`
// is its index, `scale` the unit of y.
void describe_constant(std::size_t constant, double scale, Estimator& estimator, double* direction,
                       Posterior& p) noexcept {
  const DirectionVariance at_zero = estimator.checks().variance_along(direction);
  std::fill_n(direction, p.dimension, 0.0);
  direction[constant] = 1;
  const double fitted = scale * std::sqrt(estimator.checks().variance_along(direction).sandwich);
  ParameterColumns& of = p.parameters;
  const double dependence = of.sd_robust[constant] / fitted;
  of.sd[constant] = scale * std::sqrt(p.temperature * at_zero.posterior);
  of.sd_robust[constant] = scale * std::sqrt(at_zero.sandwich) * dependence;
}

// The same by the retained draws, for a network. `first` is where the block begins.
void describe_constant_by_draws(std::size_t first, std::size_t constant, Posterior& p) noexcept {
  const FeatureTransform& t = p.transform;
  double mean = 0;
  double squares = 0;
  for (std::size_t m = 0; m < p.draws; ++m) {
    double value = p.deviations[constant * p.draws + m];
    for (std::size_t j = 0; j < t.shift.size(); ++j) {
      value -= p.deviations[(first + j) * p.draws + m] * t.inverse_scale[j] * t.shift[j];
    }
    const double delta = value - mean;
    mean += delta / static_cast<double>(m + 1);
    squares += delta * (value - mean);
  }
  p.parameters.sd[constant] = std::sqrt(squares / (p.draws - 1));
}

}  // namespace

void to_raw_features(const ParameterLayout& layout, const FeatureTransform& transform,
                     const double* theta, double* out) noexcept {
  if (out != theta) std::copy_n(theta, layout.dimension, out);
  for (std::uint32_t b = 0; b < layout.blocks; ++b) {
    to_raw_block(layout, transform, out + std::size_t{b} * layout.stride);
  }
}

void to_model_units(const ParameterLayout& layout, const FeatureTransform& transform,
                    const TargetTransform& target, const double* served, double* theta) noexcept {
  const std::size_t features = transform.shift.size();
  if (theta != served) std::copy_n(served, layout.dimension, theta);
  for (std::uint32_t b = 0; b < layout.blocks; ++b) {
    double* block = theta + std::size_t{b} * layout.stride;
    for (std::size_t j = 0; j < features; ++j) {
      if (layout.constant) block[features] += block[j] * transform.shift[j];
      block[j] /= transform.inverse_scale[j];
    }
  }
  if (layout.constant) theta[layout.dimension - 1] -= target.shift;
  if (layout.log_variance) theta[layout.first_of_target - 1] -= 2 * std::log(target.scale);
  for (std::uint32_t j = layout.first_of_target; j < layout.dimension; ++j) {
    theta[j] /= target.scale;
  }
}

void serve_raw_units(const ParameterLayout& layout, const TargetTransform& target,
                     Estimator& estimator, double* direction, Posterior& p) noexcept {
  ParameterColumns& of = p.parameters;
  to_units_of_target(layout, target, p);
  to_raw_features(layout, p.transform, p.mean, of.raw_mean);
  to_raw_features(layout, p.transform, of.mode, of.mode);
  const std::span<const double> shift = p.transform.shift;
  const std::span<const double> inverse_scale = p.transform.inverse_scale;
  const bool shifted = std::ranges::any_of(shift, [](double s) { return s != 0; });
  for (std::uint32_t b = 0; b < layout.blocks; ++b) {
    const std::size_t first = std::size_t{b} * layout.stride;
    const std::size_t constant = first + shift.size();
    if (layout.constant && shifted) {
      const double sd = of.sd[constant];
      double prior_variance = 1 / of.prior_precision[constant];
      std::fill_n(direction, p.dimension, 0.0);
      direction[constant] = 1;
      for (std::size_t j = 0; j < shift.size(); ++j) {
        const double weight = direction[first + j] = -shift[j] * inverse_scale[j];
        prior_variance += weight * weight / of.prior_precision[first + j];
      }
      of.prior_precision[constant] = 1 / prior_variance;
      if (estimator.laplace().loss().is_summary()) {
        const double scale = constant >= layout.first_of_target ? target.scale : 1.0;
        describe_constant(constant, scale, estimator, direction, p);
      } else {
        describe_constant_by_draws(first, constant, p);
      }
      of.mcse_mean[constant] *= of.sd[constant] / sd;
    }
    for (std::size_t j = 0; j < shift.size(); ++j) {
      const double scale = inverse_scale[j];
      for (double* numbers : {of.sd, of.sd_robust, of.mcse_mean}) {
        numbers[first + j] *= scale;
      }
      of.prior_precision[first + j] /= scale * scale;
    }
  }
}

}  // namespace windhover
