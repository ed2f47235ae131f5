#include "windhover/tests/samplers/walk.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace windhover {
namespace {

Matrix noise_root(const OwnedEstimates& e) {
  if (e.noise.isZero()) return e.noise;
  return Matrix(e.noise.llt().matrixL()) / std::sqrt(e.minibatch_size);
}

}  // namespace

NoisyGradient::NoisyGradient(const OwnedEstimates& estimates, FunctionModel::Gradient mean_gradient)
    : root_(noise_root(estimates)),
      z_(estimates.noise.rows()),
      gradient_(estimates.noise.rows(),
                [this, mean = std::move(mean_gradient)](const double* theta, double* g) {
                  mean(theta, g);
                  rng_.fill_normals({z_.data(), static_cast<std::size_t>(z_.size())});
                  Eigen::Map<Vector>(g, z_.size()).noalias() += root_ * z_;
                }) {}

NoisyGradient::NoisyGradient(const OwnedEstimates& estimates)
    : NoisyGradient(estimates, [a = estimates.curvature](const double* theta, double* g) {
        Eigen::Map<Vector>(g, a.rows()).noalias() = a * Eigen::Map<const Vector>(theta, a.rows());
      }) {}

void walk(std::string_view name, const SamplerConfig& config, const OwnedEstimates& estimates,
          GradientSource& gradient, const Vector& start, int steps,
          const std::function<void(OwnedChain&)>& visit) {
  Memory memory;
  const SamplerEntry& entry = *find_sampler(name);
  ASSERT_TRUE(entry.check(config).ok()) << entry.check(config).error().sentence;
  AnySampler& sampler =
      *entry.make(memory.arena(), config, static_cast<std::uint32_t>(start.size()));
  ASSERT_EQ(sampler.refresh(estimates.view()), Status::kOk);
  OwnedChain chain(entry, config, start);
  Rng rng(5, {.purpose = Purpose::kInitialState});
  sampler.start(chain.get(), rng);
  for (int step = 0; step < steps; ++step) {
    rng.seek({.step = static_cast<std::uint64_t>(step), .purpose = Purpose::kInjectedNoise});
    ASSERT_EQ(sampler.step(chain.get(), gradient, rng), Status::kOk) << step;
    visit(chain);
  }
}

Matrix walked_covariance(std::string_view name, const SamplerConfig& config,
                         const OwnedEstimates& estimates, int steps) {
  const Index d = estimates.curvature.rows();
  NoisyGradient gradient(estimates);
  Matrix sum = Matrix::Zero(d, d);
  double count = 0;
  int left = steps / 10;
  walk(name, config, estimates, gradient.source(), Vector::Zero(d), steps, [&](OwnedChain& chain) {
    if (left-- > 0 || !chain.get().is_draw) return;
    sum += chain.theta() * chain.theta().transpose();
    count += 1;
  });
  return sum / count;
}

}  // namespace windhover
