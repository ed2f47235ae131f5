// A line of the registry, made from a class that satisfies Sampler.
#ifndef WINDHOVER_SAMPLERS_SAMPLER_ENTRY_H_
#define WINDHOVER_SAMPLERS_SAMPLER_ENTRY_H_

#include <string_view>

#include "windhover/samplers/registry.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

template <Sampler S>
class SamplerAdapter final : public AnySampler {
 public:
  SamplerAdapter(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept
      : sampler_(arena, config, dimension) {}
  Status refresh(const Estimates& estimates) noexcept override {
    return sampler_.refresh(estimates);
  }
  void start([[maybe_unused]] Chain& chain, [[maybe_unused]] Rng& rng) const noexcept override {
    if constexpr (KeepsState<S>) sampler_.start(chain, rng);
  }
  Status step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept override {
    return sampler_.step(chain, gradient, rng);
  }
  void law([[maybe_unused]] double* preconditioner,
           [[maybe_unused]] double* injected) const noexcept override {
    if constexpr (HasLaw<S>) sampler_.law(preconditioner, injected);
  }
  void apply_law([[maybe_unused]] double* vector, [[maybe_unused]] double* noise,
                 [[maybe_unused]] double* room) const noexcept override {
    if constexpr (HasLaw<S>) sampler_.apply_law(vector, noise, room);
  }
  double momentum() const noexcept override {
    if constexpr (requires(const S s) { s.momentum(); }) return sampler_.momentum();
    return 0;
  }
  double relaxation() const noexcept override {
    if constexpr (requires(const S s) { s.relaxation(); }) return sampler_.relaxation();
    return 0;
  }
  void visit_state(StateVisitor& visitor) noexcept override { sampler_.visit_state(visitor); }

 private:
  S sampler_;
};

template <Sampler S>
std::size_t state_size_of([[maybe_unused]] const SamplerConfig& config,
                          [[maybe_unused]] std::uint32_t dimension) noexcept {
  static_assert(KeepsState<S> || (
                                     !requires { &S::state_size; } && !requires { &S::start; }),
                "state_size() and start() go together, as KeepsState says");
  if constexpr (KeepsState<S>) {
    return S::state_size(config, dimension);
  } else {
    return 0;
  }
}

// A sampler whose law is meant to be the sandwich A^-1 C A^-1 / n says kTargetsSandwich = true. Of
// others, a law that is not the posterior counts as an error (runtime: Provenance::law_ratio).
template <class S>
concept TargetsSandwich = S::kTargetsSandwich;

// A sampler that can draw from exp(-U / T), T = SamplerConfig::temperature, says kTempered = true;
// for the others a temperature has no meaning.
template <class S>
concept Tempered = S::kTempered;

template <Sampler S>
Result<bool> check_sampler(const SamplerConfig& config) noexcept {
  if constexpr (!Tempered<S>) {
    if (config.temperature != 1.0) {
      return Error{Status::kInvalidConfig,
                   "sampler.temperature must be 1: this sampler draws from the posterior itself",
                   config.temperature};
    }
  }
  return S::check(config);
}

template <Sampler S>
constexpr SamplerEntry sampler_entry(std::string_view approximates, std::string_view cost,
                                     std::string_view memory, std::string_view source) {
  const auto make = [](Arena& arena, const SamplerConfig& config,
                       std::uint32_t dimension) noexcept {
    return static_cast<AnySampler*>(arena.make<SamplerAdapter<S>>(arena, config, dimension));
  };
  return {S::kName,
          approximates,
          cost,
          memory,
          source,
          check_sampler<S>,
          HasLaw<S>,
          !TargetsSandwich<S>,
          state_size_of<S>,
          make};
}

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_SAMPLER_ENTRY_H_
