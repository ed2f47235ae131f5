// The library as a user of it has it: an engine over rows in memory, and a sampler by name.
#ifndef WINDHOVER_TOOLS_REPRODUCE_LIBRARY_H_
#define WINDHOVER_TOOLS_REPRODUCE_LIBRARY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "windhover/platform/memory.h"
#include "windhover/runtime/engine.h"
#include "windhover/samplers/registry.h"
#include "windhover/tools/data/dataset.h"

namespace windhover::reproduce {

// Given every iterate of every chain once the cold start is over; must not throw.
using Visit = std::function<void(std::uint16_t chain, const double* theta)>;

// An engine that has seen all rows, in driven mode. Errors are RunError with the library's words.
class EngineRun {
 public:
  // Sets features, window and frames from the data; the rest of `config` stays.
  EngineRun(EngineConfig config, const Dataset& data);
  EngineRun(const EngineRun&) = delete;

  Engine& engine() { return *engine_; }
  Reader& reader() { return *reader_; }
  std::uint32_t dimension() const { return engine_->dimension(); }
  // Gradient evaluations of single rows, so far.
  std::uint64_t examples() const;
  std::uint64_t steps() const;
  // Until the cold start is over: the chains sample. Calls `going_on` now and then.
  void settle(const std::function<void()>& going_on = {});
  // `steps` more of all chains together; `visit` may be empty.
  void run(std::uint64_t steps, const Visit& visit = {});

 private:
  RealClock clock_;
  MappedBlock block_;
  Engine* engine_ = nullptr;
  std::unique_ptr<Reader> reader_;
};

// What is said about a sampler, in words: the settings of a part (context.h).
std::string settings_text(const SamplerConfig& config);

// A sampler by name in memory of its own. UserError when it refuses the configuration.
class OwnedSampler {
 public:
  OwnedSampler(const SamplerConfig& config, std::uint32_t dimension);
  AnySampler* operator->() const { return sampler_; }
  const SamplerEntry& entry() const { return *entry_; }

 private:
  const SamplerEntry* entry_;
  std::unique_ptr<MappedBlock> block_;
  std::unique_ptr<Arena> arena_;
  AnySampler* sampler_;
};

// A model by name over rows in memory, and its minibatch gradients.
class OwnedModel {
 public:
  OwnedModel(const ModelConfig& config, const Dataset& data);
  OwnedModel(const OwnedModel&) = delete;

  Model& model() { return *model_; }
  GradientSource& gradient() { return *gradient_; }
  std::uint32_t dimension() const { return static_cast<std::uint32_t>(prior_.size()); }
  // Lambda, one number a parameter; what is written there counts from the next gradient on.
  std::vector<double>& prior() { return prior_; }
  std::uint32_t row_count() const { return row_count_; }
  RowBatch batch(const std::vector<std::uint32_t>& slots) const {
    return {rows_.data(), slots.data(), slots.size()};
  }
  // Draws the next minibatch with replacement and points gradient() at it.
  void draw(std::uint64_t seed, const RandomPosition& position, std::vector<std::uint32_t>& slots);

 private:
  std::unique_ptr<MappedBlock> block_;
  std::unique_ptr<Arena> arena_;
  Model* model_;
  std::vector<double> prior_;
  std::vector<double> rows_;
  std::uint32_t row_count_;
  std::unique_ptr<GradientSource> gradient_;
};

// One chain of a sampler that is told its estimates, on minibatches drawn with replacement.
class ChainRun {
 public:
  // `sampler` is refreshed already, and `model` outlives this.
  ChainRun(OwnedModel& model, const OwnedSampler& sampler, const SamplerConfig& config,
           std::uint32_t minibatch_size, std::uint64_t seed, std::uint16_t chain);

  const std::vector<double>& theta() const { return theta_; }
  // Puts the chain there: as many numbers as the model has parameters.
  void start(const std::vector<double>& theta);
  // False when theta is no longer finite.
  bool step();
  bool is_draw() const { return chain_.is_draw; }
  std::uint64_t steps() const { return step_; }

 private:
  OwnedModel& model_;
  const OwnedSampler& sampler_;
  std::uint64_t seed_;
  std::vector<double> theta_;
  std::vector<double> state_;
  std::vector<double> work_;
  std::vector<std::uint32_t> slots_;
  Chain chain_;
  std::uint64_t step_ = 0;
};

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_LIBRARY_H_
