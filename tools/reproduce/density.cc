#include "windhover/tools/reproduce/density.h"

#include <algorithm>

namespace windhover::reproduce {

Walk::Walk(const SamplerConfig& config, const Told& told, PotentialGradient gradient,
           const Eigen::VectorXd& start, std::uint64_t seed, std::uint16_t chain)
    : model_(told.dimension(), told.n, std::move(gradient)),
      prior_(Eigen::VectorXd::Zero(start.size())),
      source_(&model_, told.dimension(), prior_.data()),
      sampler_(config, told),
      memory_(sampler_, config, told.dimension(), chain),
      seed_(seed) {
  source_.set_scale(told.n, 1.0);
  source_.set_minibatch({nullptr, &slot_, 1});
  std::ranges::copy(start, memory_.theta.begin());
  Rng rng(seed_, {.chain = chain, .purpose = Purpose::kInitialState});
  sampler_->start(memory_.chain, rng);
}

bool Walk::step(const OwnedSampler& sampler) {
  Rng rng(seed_,
          {.step = step_++, .chain = memory_.chain.index, .purpose = Purpose::kInjectedNoise});
  return ok(sampler->step(memory_.chain, source_, rng));
}

void add_path(Series& series, Walk& walk, std::size_t moves, std::size_t thin) {
  for (std::size_t i = 0; i < moves && walk.step(); ++i) {
    if (i % thin == 0) series.add(walk.theta()[0], walk.theta()[1]);
  }
}

}  // namespace windhover::reproduce
