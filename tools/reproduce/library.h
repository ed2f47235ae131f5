// The library as a user of it has it: an engine over rows in memory, and a sampler by name.
#ifndef WINDHOVER_TOOLS_REPRODUCE_LIBRARY_H_
#define WINDHOVER_TOOLS_REPRODUCE_LIBRARY_H_

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "windhover/platform/memory.h"
#include "windhover/samplers/estimates/estimates.h"
#include "windhover/samplers/registry.h"
#include "windhover/tools/data/dataset.h"
#include "windhover/tools/owned_engine.h"

namespace windhover::reproduce {

// Given every iterate of every chain once the cold start is over; must not throw.
using Visit = std::function<void(std::uint16_t chain, const double* theta)>;

// An engine that has seen all rows, in driven mode. Errors are RunError with the library's words.
class EngineRun {
 public:
  // Sets features, window and frames from the data; the rest of `config` stays.
  EngineRun(EngineConfig config, const Dataset& data);

  Engine& engine() { return *engine_; }
  Reader& reader() { return reader_; }
  std::uint32_t dimension() const { return engine_->dimension(); }
  // Gradient evaluations of single rows, so far.
  std::uint64_t examples() const;
  std::uint64_t steps() const;
  // Of each parameter, as it is served. RunError when nothing is.
  std::vector<ParameterSummary> posterior();
  // Until the cold start is over: the chains sample. Calls `going_on` now and then.
  void settle(const std::function<void()>& going_on = {});
  // `steps` more of all chains together; `visit` may be empty.
  void run(std::uint64_t steps, const Visit& visit = {});

 private:
  OwnedEngine engine_;
  Reader reader_;
};

// What is said about a sampler, in words: the settings of a part (context.h).
std::string settings_text(const SamplerConfig& config);

// What a sampler is told: curvature and gradient noise of the mean loss of n rows. Owns what the
// library borrows.
struct Told {
  Eigen::MatrixXd curvature;
  Eigen::MatrixXd noise;
  double n = 1;
  double minibatch_size = 1;

  // Of a potential itself, without noise.
  static Told noiseless(const Eigen::MatrixXd& curvature) {
    return {curvature, Eigen::MatrixXd::Zero(curvature.rows(), curvature.cols())};
  }
  // The same of curvature I, in two dimensions.
  static Told unit() { return noiseless(Eigen::MatrixXd::Identity(2, 2)); }
  std::uint32_t dimension() const { return static_cast<std::uint32_t>(curvature.rows()); }
  Estimates view() const {
    return {.dimension = dimension(),
            .n = n,
            .minibatch_size = minibatch_size,
            .curvature = curvature.data(),
            .noise_covariance = noise.data()};
  }
};

// A sampler by name in memory of its own. UserError when it refuses the configuration, RunError
// when it refuses what it is told.
class OwnedSampler {
 public:
  OwnedSampler(const SamplerConfig& config, std::uint32_t dimension);
  OwnedSampler(const SamplerConfig& config, const Told& told);
  void tell(const Estimates& estimates);
  AnySampler* operator->() const { return sampler_; }
  const SamplerEntry& entry() const { return *entry_; }

 private:
  const SamplerEntry* entry_;
  std::unique_ptr<MappedBlock> block_;
  std::unique_ptr<Arena> arena_;
  AnySampler* sampler_;
};

// What one chain of a sampler keeps. Not to be moved: its parts point at one another.
struct ChainMemory {
  ChainMemory(const OwnedSampler& sampler, const SamplerConfig& config, std::size_t dimension,
              std::uint16_t index = 0);
  ChainMemory(const ChainMemory&) = delete;

  std::vector<double> theta;
  std::vector<double> state;
  std::vector<double> work;
  Chain chain;
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

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_LIBRARY_H_
