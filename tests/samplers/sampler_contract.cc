#include "windhover/tests/samplers/sampler_contract.h"

#include <algorithm>

namespace windhover {

std::vector<std::string_view> sampler_names() {
  std::vector<std::string_view> names;
  for (const SamplerEntry& entry : sampler_registry()) names.push_back(entry.name);
  return names;
}

OwnedEstimates ordinary_estimates(Index d) {
  return {random_covariance(1, d), random_covariance(2, d)};
}

AnySampler& SamplerContract::make(const SamplerConfig& config, Index d) {
  return *entry.make(memory.arena(), config, static_cast<std::uint32_t>(d));
}

SamplerConfig SamplerContract::noiseless() const {
  SamplerConfig config = noiseless_config();
  if (!entry.check(config).ok()) config.temperature = 1.0;
  return config;
}

SamplerContract::FixedGradient::FixedGradient(const Vector& g)
    : config{.features = static_cast<std::uint32_t>(g.size()), .intercept = false},
      table(config, g.transpose(), Vector::Zero(1)),
      prior(Vector::Zero(g.size())),
      model(config),
      source(&model, config.features, prior.data()) {
  source.set_scale(1000.0, 1.0);
  source.set_minibatch(table.all());
}

Vector SamplerContract::path(AnySampler& sampler, const SamplerConfig& config) {
  FixedGradient gradient(normals(5, kDimension, 1));
  OwnedChain chain(entry, config, Vector::Zero(kDimension));
  Rng rng(7);
  sampler.start(chain.get(), rng);
  for (int step = 0; step < 5; ++step) {
    EXPECT_EQ(sampler.step(chain.get(), gradient.source, rng), Status::kOk);
  }
  return chain.theta();
}

Vector SamplerContract::path(const SamplerConfig& config) {
  AnySampler& sampler = make(config);
  EXPECT_EQ(sampler.refresh(ordinary_estimates().view()), Status::kOk);
  return path(sampler, config);
}

void SamplerContract::stays_near_the_mode(const SamplerConfig& config,
                                          const OwnedEstimates& estimates) {
  Memory own;
  const Index d = estimates.curvature.rows();
  AnySampler& sampler = *entry.make(own.arena(), config, static_cast<std::uint32_t>(d));
  ASSERT_EQ(sampler.refresh(estimates.view()), Status::kOk);
  FunctionGradient gradient(d, [&](const double* theta, double* g) {
    Eigen::Map<Vector>(g, d) = estimates.curvature * Eigen::Map<const Vector>(theta, d);
  });
  OwnedChain chain(entry, config, Vector::Zero(d));
  Rng rng(7);
  sampler.start(chain.get(), rng);
  double farthest = 0;
  for (int step = 0; step < 1000; ++step) {
    ASSERT_EQ(sampler.step(chain.get(), gradient.source(), rng), Status::kOk);
    const Vector& at = chain.theta();
    farthest = std::max(farthest, estimates.n * at.dot(estimates.curvature * at));
  }
  // Chi-squared with d degrees of freedom, and room for how well each of them does.
  EXPECT_LT(farthest, 20.0 * static_cast<double>(d));
}

}  // namespace windhover
