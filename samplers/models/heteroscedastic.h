// Linear regression whose noise depends on x: the logarithm of its variance is linear too.
//
// theta holds two blocks of one coefficient a column (features, then the intercept): those of the
// log-variance first, then those of the mean.
#ifndef WINDHOVER_SAMPLERS_MODELS_HETEROSCEDASTIC_H_
#define WINDHOVER_SAMPLERS_MODELS_HETEROSCEDASTIC_H_

#include "windhover/platform/arena.h"
#include "windhover/samplers/models/model.h"
#include "windhover/samplers/models/predictor_blocks.h"
#include "windhover/samplers/models/row_effect.h"

namespace windhover {

// y ~ N(eta, exp(s)), eta and s linear in x (Harvey 1976). Curvature: the Fisher information, x x^T
// / exp(s) for the mean, x x^T / 2 for the log-variance, and 0 between them. A log-variance below
// kLeast, with y' in units of its sd, counts as kLeast: targets that the features explain perfectly
// would take it to minus infinity.
class HeteroscedasticModel final : public Model {
 public:
  static constexpr std::string_view kName = "heteroscedastic";
  static constexpr Response kResponse = Response::kHeteroscedastic;
  static constexpr double kLeast = -27.6;  // log(1e-12)
  // Beyond this squared residual, in units of the variance, a row's curvature in s is no longer the
  // information but the Hessian over kFar: then no step raises a log-variance by more than kFar.
  // Where the model holds one row in 10^6 lies there.
  static constexpr double kFar = 25;

  static std::uint32_t dimension(const ModelConfig& config) noexcept {
    return 2 * config.columns();
  }

  HeteroscedasticModel(Arena& arena, const ModelConfig& config) noexcept;
  void reset() noexcept { blocks_.reset(); }

  std::string_view name() const noexcept override { return kName; }
  Response response() const noexcept override { return kResponse; }
  bool quadratic() const noexcept override { return false; }
  Curvature curvature() const noexcept override { return Curvature::kFisher; }
  double mean(double eta) const noexcept override { return eta; }
  Status check_target(double) const noexcept override { return Status::kOk; }
  FeatureTransform& transform() noexcept override { return blocks_.rows.transform(); }

  void gradient_sum(const RowBatch& batch, const double* theta, double* gradient) noexcept override;
  double loss_sum(const RowBatch& batch, const double* theta) noexcept override;
  void row_gradients(const RowBatch& batch, std::size_t dimension, const double* theta,
                     double* gradients) noexcept override;
  void add_noise(const RowBatch& batch, const double* theta, NoiseSums& sums) noexcept override;
  void add_noise_variances(const RowBatch& batch, const double* theta,
                           NoiseVarianceSums& sums) noexcept override;
  void add_curvature(const RowBatch& batch, const double* anchor, const double* covariance,
                     double weight, CurvatureSums& sums) noexcept override;
  // Judges each of the two predictors with the other held at the mode: `moved` is the sum of the
  // two, `information` the larger, `known` the smaller, and `doubt` that of the log-variance.
  bool row_effects(const RowBatch& batch, const RowJudge& judge,
                   RowEffect* effects) noexcept override;

 private:
  static constexpr std::size_t kChunk = LinearRows::kChunk;
  enum Block : std::size_t { kLogVariance = 0, kMean = 1, kBlocks = 2 };

  // Computes eta - y and s of each row of a chunk, with y in units of the target's scale. Returns
  // the sum of -log p.
  double evaluate(const RowBatch& chunk, const double* theta) noexcept;
  // After evaluate(): computes each row's derivatives of -log p in the predictors, times its
  // weight.
  void differentiate(std::size_t rows) noexcept;
  void add_third(const RowBatch& chunk, const double* covariance, double weight,
                 double* third) noexcept;
  RowAtMode row_at_mode(std::size_t i, Block block) const noexcept;
  void add_effect(std::size_t i, Block block, double variance, double prior_variance,
                  RowEffect& effect) const noexcept;
  template <class F>
  void for_chunks(const RowBatch& batch, F&& f) noexcept;

  PredictorBlocks blocks_;
  double* residuals_;      // kChunk each: eta - y
  double* log_variances_;  // s
  double* slopes_[kBlocks];
  double* leverages_[3];  // of the log-variance, between the two, of the mean
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_MODELS_HETEROSCEDASTIC_H_
