#include "windhover/tools/reproduce/told_chain.h"

#include <algorithm>

#include "windhover/tools/error.h"

namespace windhover::reproduce {
namespace {

constexpr std::uint16_t kFirstChain = 1;  // whose minibatches the first estimate takes

}  // namespace

ToldChain::ToldChain(OwnedModel& model, const SamplerConfig& config, Measured measured,
                     std::uint64_t first_rows, std::uint64_t refresh_every, std::uint64_t seed)
    : model_(model),
      config_(config),
      measured_(measured),
      refresh_every_(refresh_every),
      seed_(seed),
      sampler_(config, model.dimension()),
      memory_(sampler_, config, model.dimension()),
      slots_(config.minibatch_size) {
  const std::size_t d = model.dimension();
  model.model().initial(seed, memory_.theta.data());
  curvature_.assign(measured == Measured::kNothing ? d : d * d,
                    measured == Measured::kNothing ? 1.0 : 0.0);
  covariance_ = curvature_;
  if (measured != Measured::kNothing) {
    SamplerConfig estimator = config;
    estimator.decay = DecaySchedule::kHarmonic;
    estimator.noise_structure =
        measured == Measured::kMatrices ? NoiseStructure::kFull : NoiseStructure::kDiagonal;
    noise_ = std::make_unique<Placed<NoiseCovariance>>(estimator, model.dimension());
    (*noise_)->reset();
    for (std::uint64_t i = 0; i * slots_.size() < first_rows; ++i) {
      model_.draw(seed_, {.step = i, .chain = kFirstChain, .purpose = Purpose::kMinibatch}, slots_);
      look();
    }
  }
  tell();
  Rng rng(seed, {.purpose = Purpose::kInitialState});
  sampler_->start(memory_.chain, rng);
}

void ToldChain::look() {
  (*noise_)->add_minibatch(model_.model(), model_.batch(slots_), memory_.theta.data());
  examples_ += slots_.size();
}

void ToldChain::tell() {
  const std::size_t d = model_.dimension();
  Estimates e{.dimension = model_.dimension(),
              .n = static_cast<double>(model_.row_count()),
              .minibatch_size = static_cast<double>(config_.minibatch_size)};
  if (measured_ == Measured::kNothing) {
    e.curvature_diagonal = curvature_.data();
    e.noise_variances = covariance_.data();
  } else {
    const std::size_t width = matrix_width(d);
    for (std::size_t j = 0; j < d; ++j) {
      if (measured_ == Measured::kDiagonal) {
        covariance_[j * (d + 1)] = (*noise_)->variances()[j];
        continue;
      }
      for (std::size_t i = j; i < d; ++i) {
        covariance_[j * d + i] = covariance_[i * d + j] = (*noise_)->matrix()[j * width + i];
      }
    }
    curvature_ = covariance_;
    for (std::size_t j = 0; j < d; ++j) curvature_[j * (d + 1)] += model_.prior()[j] / e.n;
    e.curvature = curvature_.data();
    e.noise_covariance = covariance_.data();
  }
  const Status status = sampler_->refresh(e);
  // The first must succeed; later ones leave the sampler as it was.
  if (!ok(status) && step_ == 0) {
    throw RunError(std::string(config_.name) + " refuses its first estimates");
  }
}

bool ToldChain::step() {
  if (!sound_) return false;
  model_.draw(seed_, {.step = step_, .purpose = Purpose::kMinibatch}, slots_);
  if (measured_ != Measured::kNothing && step_ == next_look_) {
    look();
    tell();
    next_look_ += std::clamp<std::uint64_t>(next_look_ / 2, 1, refresh_every_);
  }
  Rng rng(seed_, {.step = step_, .purpose = Purpose::kInjectedNoise});
  ++step_;
  examples_ += slots_.size();
  sound_ = ok(sampler_->step(memory_.chain, model_.gradient(), rng));
  return sound_;
}

}  // namespace windhover::reproduce
