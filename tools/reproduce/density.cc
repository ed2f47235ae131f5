#include "windhover/tools/reproduce/density.h"

#include "windhover/tools/error.h"

namespace windhover::reproduce {

Walk::Walk(const SamplerConfig& config, const Told& told, PotentialGradient gradient,
           const Eigen::VectorXd& start, std::uint64_t seed, std::uint16_t chain)
    : model_(static_cast<std::uint32_t>(start.size()), told.n, std::move(gradient)),
      prior_(Eigen::VectorXd::Zero(start.size())),
      source_(&model_, static_cast<std::uint32_t>(start.size()), prior_.data()),
      sampler_(config, static_cast<std::uint32_t>(start.size())),
      theta_(start),
      state_(sampler_.entry().state_size(config, static_cast<std::uint32_t>(start.size()))),
      work_(step_scratch(static_cast<std::uint32_t>(start.size()))),
      chain_{.theta = theta_.data(), .index = chain, .state = state_.data(), .work = work_.data()},
      seed_(seed) {
  source_.set_scale(told.n, 1.0);
  source_.set_minibatch({nullptr, &slot_, 1});
  if (!ok(sampler_->refresh(told.view()))) throw UserError("the sampler refuses its estimates");
  Rng rng(seed_, {.chain = chain, .purpose = Purpose::kInitialState});
  sampler_->start(chain_, rng);
}

bool Walk::step(const OwnedSampler& sampler) {
  Rng rng(seed_, {.step = step_++, .chain = chain_.index, .purpose = Purpose::kInjectedNoise});
  return ok(sampler->step(chain_, source_, rng));
}

}  // namespace windhover::reproduce
