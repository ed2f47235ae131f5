#include "windhover/samplers/single_pass.h"

#include <algorithm>
#include <cmath>

namespace windhover {

using Eigen::Index;

double RowWeights::add(double rows) noexcept {
  const double rate = effective_size_ > 0 ? 2 * rows / (effective_size_ + rows) : 0;
  const double keep = rate * (sum_ + rows) > rows ? 1 - rate : 1;
  sum_ = keep * sum_ + rows;
  squares_ = keep * keep * squares_ + rows;
  return keep;
}

SinglePass::SinglePass(Arena& arena, std::uint32_t dimension, SinglePassNoise noise) noexcept
    : dimension_(dimension),
      noise_(noise),
      gradient_(arena.allocate<double>(dimension).data()),
      normals_(arena.allocate<double>(dimension).data()),
      root_(arena.allocate<double>(weighs_rows() ? 0 : std::size_t{dimension} * dimension).data()) {
}

void SinglePass::refresh(const Estimates& estimates, const Factor& factor,
                         const double* prior_precision) noexcept {
  n_ = estimates.n;
  look_at(estimates, factor, prior_precision);
  if (weighs_rows()) return;
  const Index d = dimension_;
  const bool curvature = noise_ == SinglePassNoise::kCurvature;
  MatrixMap root(root_, d, d);
  root = ConstMatrixMap(curvature ? curvature_ : noise_covariance_, d, d);
  for (Index j = 0; curvature && j < d; ++j) root(j, j) -= prior_precision_[j] / n_;
  semidefinite_root(root_, d);
}

void SinglePass::look_at(const Estimates& estimates, const Factor& factor,
                         const double* prior_precision) noexcept {
  factor_ = &factor;
  curvature_ = estimates.curvature;
  noise_covariance_ = estimates.noise_covariance;
  prior_precision_ = prior_precision;
}

void SinglePass::visit_state(StateVisitor& visitor) noexcept {
  visitor.value(n_);
  if (!weighs_rows()) visitor.visit(root_, std::size_t{dimension_} * dimension_);
}

namespace {

// Whether both random weights are above 0. A variance of 1, for which one is 0, may round to less.
bool has_light_rows(double weight_variance) noexcept { return weight_variance < 0.999; }

}  // namespace

SinglePass::WeighedRows SinglePass::choose(const RowBatch& fresh, double weight_variance, Rng& rng,
                                           std::span<std::uint32_t> chosen) const noexcept {
  if (!weighs_rows()) return {fresh, fresh, weight_variance};
  // From a variance v of 1 on, weights are 1 + v with probability 1 / (1 + v), else 0: the same
  // mean and variance with the fewest gradients.
  const double chance = has_light_rows(weight_variance) ? 2 : 1 + weight_variance;
  const double share = 4294967296.0 / chance;
  const auto threshold = static_cast<std::uint32_t>(std::min(share, 4294967295.0));
  rng.fill_bits(chosen.first(fresh.count));
  std::size_t count = 0;
  for (std::size_t i = 0; i < fresh.count; ++i) {
    if (chosen[i] < threshold) chosen[count++] = fresh.slots[i];
  }
  return {fresh, {fresh.base, chosen.data(), count}, weight_variance};
}

double SinglePass::sum(const double* theta, GradientSource& gradient,
                       const WeighedRows& rows) noexcept {
  gradient.set_minibatch(rows.chosen);
  gradient.likelihood_sum(theta, gradient_);
  if (!weighs_rows()) return 1;
  if (!has_light_rows(rows.variance)) return 1 + rows.variance;
  gradient.set_minibatch(rows.all);
  gradient.likelihood_sum(theta, normals_);
  const double sd = std::sqrt(rows.variance);
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    gradient_[j] = (1 - sd) * normals_[j] + 2 * sd * gradient_[j];
  }
  return 1;
}

void SinglePass::move(Chain& chain, double scale) noexcept {
  factor_->solve(gradient_);
  for (std::uint32_t j = 0; j < dimension_; ++j) chain.theta[j] += scale * gradient_[j];
}

void SinglePass::draw_noise(Rng& rng) noexcept {
  const Index d = dimension_;
  rng.fill_normals({normals_, dimension_});
  VectorMap(gradient_, d).noalias() =
      ConstMatrixMap(root_, d, d).triangularView<Eigen::Lower>() * ConstVectorMap(normals_, d);
}

void SinglePass::start(Chain& chain, const double* mode, Rng& rng) const noexcept {
  rng.fill_normals({chain.state, dimension_});
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    chain.state[j] /= std::sqrt(prior_precision_[j]);
    // The rows' gradients at the mode sum to -Lambda mode. seed() adds them, with weights of mean
    // 1; injected noise leaves them out.
    const double centre = chain.state[j] - (weighs_rows() ? mode[j] : 0.0);
    gradient_[j] = prior_precision_[j] / n_ * centre;
  }
  factor_->solve(gradient_);
  for (std::uint32_t j = 0; j < dimension_; ++j) chain.theta[j] = mode[j] + gradient_[j];
}

void SinglePass::seed(Chain& chain, const double* mode, GradientSource& gradient,
                      const WeighedRows& rows) noexcept {
  move(chain, -sum(mode, gradient, rows) / n_);
}

void SinglePass::unseed(Chain& chain, const double* mode, GradientSource& gradient) noexcept {
  gradient.likelihood_sum(mode, gradient_);
  move(chain, 1 / n_);
}

void SinglePass::seed_noise(Chain& chain, double rows, double weight_variance, Rng& rng) noexcept {
  draw_noise(rng);
  move(chain, std::sqrt(weight_variance * rows) / n_);
}

Status SinglePass::step(Chain& chain, GradientSource& gradient, const RowWeights& weights,
                        const WeighedRows& rows, double keep, Rng& rng) noexcept {
  const double inverse_weight = 1 / weights.sum();
  double noise = 0;
  if (!weighs_rows()) {
    draw_noise(rng);
    noise = std::sqrt(rows.variance * static_cast<double>(rows.all.count)) * inverse_weight;
    std::copy_n(gradient_, dimension_, normals_);
  }
  const double scale = sum(chain.theta, gradient, rows) * inverse_weight;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    const double prior = (1 - keep) / n_ * prior_precision_[j] * (chain.theta[j] - chain.state[j]);
    gradient_[j] = scale * gradient_[j] + prior + (noise != 0 ? noise * normals_[j] : 0.0);
  }
  move(chain, -1);
  return finite_or_diverged(chain.theta, dimension_);
}

// H = h A^-1 with h = 2 S / (n + S) has the stationary covariance A^-1 noise A^-1 / n.
void SinglePass::law(double minibatch_size, double* preconditioner,
                     double* injected) const noexcept {
  const Index d = dimension_;
  factor_->inverse(2 * minibatch_size / (n_ + minibatch_size), preconditioner);
  MatrixMap noise(injected, d, d);
  noise.setZero();
  if (noise_ == SinglePassNoise::kCurvature) {
    noise = ConstMatrixMap(curvature_, d, d) - ConstMatrixMap(noise_covariance_, d, d);
  } else {
    for (Index j = 0; j < d; ++j) noise(j, j) = prior_precision_[j] / n_;
  }
  noise /= minibatch_size;
}

}  // namespace windhover
