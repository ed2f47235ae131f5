// The library as its users call it: an engine over rows in memory, a sampler and a model by name,
// and a chain of a sampler on a density given as a function.
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
#include "windhover/tools/reproduce/plot.h"

namespace windhover::reproduce {

// Called with every iterate of every chain once the cold start is over. It must not throw.
using Visit = std::function<void(std::uint16_t chain, const double* theta)>;

// An engine in driven mode that has seen all rows. Errors are RunError with the library's words.
class EngineRun {
 public:
  // Sets features, window and frames from the data; keeps the rest of `config`.
  EngineRun(EngineConfig config, const Dataset& data);

  Engine& engine() { return *engine_; }
  Reader& reader() { return reader_; }
  std::uint32_t dimension() const { return engine_->dimension(); }
  // Gradients of single rows, so far.
  std::uint64_t examples() const;
  std::uint64_t steps() const;
  // The served summary of each parameter. RunError when there is none.
  std::vector<ParameterSummary> posterior();
  // Runs until the cold start is over and the chains sample. Calls `going_on` after each poll.
  // RunError when it does not end.
  void settle(const std::function<void()>& going_on = {});
  // Runs at least `steps` more steps of all chains together. `visit` may be empty.
  void run(std::uint64_t steps, const Visit& visit = {});

 private:
  OwnedEngine engine_;
  Reader reader_;
};

// The sampler's settings in words, for the settings of a part (context.h).
std::string settings_text(const SamplerConfig& config);

// The estimates that a sampler is told: curvature and gradient noise of the mean loss of n rows.
// Owns the memory that the library refers to.
struct Told {
  Eigen::MatrixXd curvature;
  Eigen::MatrixXd noise;
  double n = 1;
  double minibatch_size = 1;

  // For a potential whose gradient is exact.
  static Told noiseless(const Eigen::MatrixXd& curvature) {
    return {curvature, Eigen::MatrixXd::Zero(curvature.rows(), curvature.cols())};
  }
  // The same with curvature I in two dimensions.
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

// A sampler by name in its own memory. UserError when the sampler refuses the configuration,
// RunError when it refuses its estimates.
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

// The memory of one chain. Must not be moved: its parts point at one another.
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
  // Lambda, one number per parameter. A change counts from the next gradient on.
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

// Gradient of the potential, -log density; it may be noisy, as that of a minibatch is.
using PotentialGradient = std::function<void(const double* theta, double* gradient)>;

// A model from a user's density: the loss of every row is potential / n.
class DensityModel final : public Model {
 public:
  DensityModel(std::uint32_t dimension, double n, PotentialGradient gradient)
      : dimension_(dimension), n_(n), gradient_(std::move(gradient)) {}

  std::string_view name() const noexcept override { return "density"; }
  Response response() const noexcept override { return Response::kGaussian; }
  Status check_target(double) const noexcept override { return Status::kOk; }
  bool quadratic() const noexcept override { return false; }
  double mean(double predictor) const noexcept override { return predictor; }
  FeatureTransform& transform() noexcept override { return transform_; }
  void gradient_sum(const RowBatch& batch, const double* theta,
                    double* gradient) noexcept override {
    gradient_(theta, gradient);
    const double scale = static_cast<double>(batch.count) / n_;
    for (std::uint32_t j = 0; j < dimension_; ++j) gradient[j] *= scale;
  }
  // Only an engine needs these sums. Here chains are told their estimates.
  void add_noise(const RowBatch&, const double*, NoiseSums&) noexcept override {}
  void add_noise_variances(const RowBatch&, const double*, NoiseVarianceSums&) noexcept override {}
  void add_curvature(const RowBatch&, const double*, const double*, double,
                     CurvatureSums&) noexcept override {}

 private:
  std::uint32_t dimension_;
  double n_;
  PotentialGradient gradient_;
  FeatureTransform transform_;
};

// One chain.
class Walk {
 public:
  Walk(const SamplerConfig& config, const Told& told, PotentialGradient gradient,
       const Eigen::VectorXd& start, std::uint64_t seed, std::uint16_t chain = 0);

  Eigen::Map<const Eigen::VectorXd> theta() const { return {memory_.theta.data(), prior_.size()}; }
  bool is_draw() const { return memory_.chain.is_draw; }
  // False when theta is no longer finite.
  bool step() { return step(sampler_); }
  // One move by another sampler of the same name, e.g. with another step; the chain's state is
  // kept.
  bool step(const OwnedSampler& sampler);

 private:
  DensityModel model_;
  Eigen::VectorXd prior_;
  GradientSource source_;
  std::uint32_t slot_ = 0;
  OwnedSampler sampler_;
  ChainMemory memory_;
  std::uint64_t seed_;
  std::uint64_t step_ = 0;
};

// Adds every `thin`-th of `moves` moves on a density in two dimensions.
void add_path(Series& series, Walk& walk, std::size_t moves, std::size_t thin = 1);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_LIBRARY_H_
