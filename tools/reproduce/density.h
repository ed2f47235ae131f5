// A density given as a function, and a chain of a sampler by name on it.
#ifndef WINDHOVER_TOOLS_REPRODUCE_DENSITY_H_
#define WINDHOVER_TOOLS_REPRODUCE_DENSITY_H_

#include <Eigen/Core>
#include <functional>

#include "windhover/tools/reproduce/library.h"
#include "windhover/tools/reproduce/plot.h"

namespace windhover::reproduce {

// Of the potential, -log density; may be noisy, as that of a minibatch is.
using PotentialGradient = std::function<void(const double* theta, double* gradient)>;

// A user's own model: every row says potential / n.
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
  // For the engine, which is not asked here: a chain is told its estimates.
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
  // One move by another sampler of the same name, e.g. with another step; what the chain keeps
  // goes on.
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

// Every `thin`-th of that many moves, of a density in two dimensions.
void add_path(Series& series, Walk& walk, std::size_t moves, std::size_t thin = 1);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_DENSITY_H_
