// The one list of samplers and the one list of models: factory, listing, documentation and contract
// tests all read these tables.
#ifndef WINDHOVER_SAMPLERS_REGISTRY_H_
#define WINDHOVER_SAMPLERS_REGISTRY_H_

#include <span>
#include <string_view>

#include "windhover/samplers/sampler.h"

namespace windhover {

// A sampler chosen at run time: one virtual call a minibatch.
class AnySampler {
 public:
  virtual Status refresh(const Estimates& estimates) noexcept = 0;
  // Call it when theta is no longer where the last step left it.
  virtual void start(Chain& chain, Rng& rng) const noexcept = 0;
  virtual Status step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept = 0;
  // See HasLaw for both; they write nothing where the entry has no law.
  virtual void law(double* preconditioner, double* injected) const noexcept = 0;
  virtual void apply_law(double* vector, double* noise, double* room) const noexcept = 0;
  virtual double momentum() const noexcept = 0;
  // In how many moves a chain forgets, as of the last refresh(); 0: about n / S.
  virtual double relaxation() const noexcept = 0;
  // Shows the state that all chains share. REQUIRES: a refresh() has succeeded, or the visitor
  // restores.
  virtual void visit_state(StateVisitor& visitor) noexcept = 0;

 protected:
  ~AnySampler() = default;
};

struct SamplerEntry {
  std::string_view name;
  std::string_view approximates;
  std::string_view cost_per_step;
  std::string_view memory;
  std::string_view source;  // paper and equation
  Result<bool> (*check)(const SamplerConfig& config) noexcept;
  bool has_law;
  bool targets_posterior;  // false: the sandwich
  // How many numbers Chain::state has; 0 for most samplers.
  std::size_t (*state_size)(const SamplerConfig& config, std::uint32_t dimension) noexcept;
  // Null while measuring. Check arena.exhausted() before using the result.
  AnySampler* (*make)(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept;
};

// Which parameters multiply features, and which are in units of y.
struct ParameterLayout {
  std::uint32_t dimension;
  // How many blocks there are; each has the coefficients of the features, then that of a constant 1
  // where there is one.
  std::uint32_t blocks;
  std::uint32_t stride;  // from one block to the next
  bool constant;
  // Parameters from here on are in units of y; the last of them is added to the linear predictor as
  // it is.
  std::uint32_t first_of_target;
  // Whether the block before them predicts the logarithm of y's variance.
  bool log_variance = false;
};

struct ModelEntry {
  std::string_view name;
  std::string_view likelihood;
  std::string_view
      cost_per_step;        // of a gradient on S rows of F features and of a sum of curvature
  std::string_view memory;  // doubles of its own
  std::string_view source;
  Response response;
  bool network;  // models/network.h: predictions run the draws forward
  std::uint32_t (*dimension)(const ModelConfig& config) noexcept;
  // Lambda, the prior precision of each parameter: `dimension` numbers.
  void (*prior_precision)(const ModelConfig& config, double* precision) noexcept;
  ParameterLayout (*layout)(const ModelConfig& config) noexcept;
  Model* (*make)(Arena& arena, const ModelConfig& config) noexcept;
  void (*reset)(Model& model) noexcept;
};

std::span<const SamplerEntry> sampler_registry() noexcept;
std::span<const ModelEntry> model_registry() noexcept;

// Null when there is none of that name.
const SamplerEntry* find_sampler(std::string_view name) noexcept;
const ModelEntry* find_model(std::string_view name) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_REGISTRY_H_
