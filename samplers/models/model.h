// What a model is to the rest: sums of gradients and curvatures over rows. Samplers never see a
// model, models never see a sampler.
//
// To add a model of the generalized linear kind, write one likelihood (models/likelihoods.h) and
// one line in the registry. Anything else derives from Model.
#ifndef WINDHOVER_SAMPLERS_MODELS_MODEL_H_
#define WINDHOVER_SAMPLERS_MODELS_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "windhover/platform/state_visitor.h"
#include "windhover/platform/status.h"
#include "windhover/samplers/models/response.h"
#include "windhover/samplers/rows.h"

namespace windhover {

// How a feature enters: (x - shift) * inverse_scale. `features` numbers each; identity by default.
struct FeatureTransform {
  std::span<double> shift;
  std::span<double> inverse_scale;

  void visit_state(StateVisitor& visitor) noexcept {
    visitor.visit(shift);
    visitor.visit(inverse_scale);
  }
};

// y = shift + scale y', where the parameters describe y'. kLogNormal: the same of log y. Counts:
// the same of the linear predictor, with scale 1. The default is the identity, which classes keep.
struct TargetTransform {
  double shift = 0;
  double scale = 1;
};

// In all sums here a row's -log p and its derivatives are multiplied by the row's weight, if any.

// Sums over rows at an iterate, in units of dispersion 1. `outer` is width x width column-major
// with width = matrix_width(dimension), lower triangle valid.
struct NoiseSums {
  double* gradient;  // sum of g_i, dimension
  double* outer;     // sum of g_i g_i^T
  double rows = 0;
};

// The same with the diagonal alone.
struct NoiseVarianceSums {
  double* gradient;  // sum of g_i, dimension
  double* squares;   // sum of g_ij^2, dimension
  double rows = 0;
};

// Sums over rows at an anchor, in units of dispersion 1.
struct CurvatureSums {
  double* gradient;   // sum of g_i, dimension
  double* curvature;  // sum of the rows' curvatures (see Curvature), as `outer` above
  double* third;      // sum of l'''_i x_i (x_i^T P x_i), dimension; filled when P is given
  double loss = 0;    // sum of -log p, without what does not depend on theta
  double rows = 0;
  // Sums of the weights and of their squares where rows have weights; otherwise 0.
  double weight = 0;
  double squared_weight = 0;
  // With a dispersion: sum of w_i (y'_i - eta_i)^2, w_i the row's weight, times the likelihood's
  // own weight for Student's t. With a shape: sum of w_i times the squared derivative of -log p by
  // the shape's logarithm.
  double squares = 0;
  double shape_gradient = 0;   // with a shape: derivative of -log p by its logarithm, ...
  double shape_curvature = 0;  // ... and the second one; when P is given the first is the mean over
                               // N(theta, P), to second order
  // For a shape that shape_crosses(): the derivative of `gradient` by its logarithm (dimension);
  // otherwise null.
  double* shape_cross = nullptr;
  bool with_loss = true;  // false: `loss` need not be summed
};

// A Gaussian posterior as rows are judged by it: what Model::row_effects() is asked about.
struct RowJudge {
  const double* mode;
  const double* covariance;       // P, dimension x dimension
  const double* prior_precision;  // Lambda
  double divisor;                 // dispersion that -log p is divided by, or 1
  // A row whose numbers cannot exceed these need not be looked at.
  double least_moved;
  double least_information;
  double least_surprise;
};

// What one row alone would do to that posterior, counted once whatever its weight: a row of weight
// w is w rows, each judged so. A row below the judge's bounds has only the defaults.
struct RowEffect {
  double moved = 0;        // squared move of its linear predictor's mode, in posterior variances
  double information = 0;  // about its linear predictor there, over the posterior's
  double known = 1;        // posterior over prior variance of its linear predictor
  // That posterior variance, where the linear predictor is a logarithm or log-odds; otherwise 0.
  // Where it is large the row is certain at the mode, and certain of the opposite at some draws.
  double doubt = 0;
  // Squared distance of y, in predictive scales, for likelihoods whose rows move little however far
  // off they are (Student's t); otherwise 0.
  double surprise = 0;
};

// A Gaussian posterior as Model::row_distances() is asked about it.
struct DistanceJudge {
  const double* mode;
  const double* covariance;  // P, dimension x dimension
  double divisor;            // dispersion that -log p is divided by, or 1
  // Where a row's squared distance in noise is at most this, RowDistance::predictive, which is
  // never larger, is set to the same number.
  double least;
};

// How far y is from what a posterior expects of it, squared, in standard deviations: twice what the
// row's log likelihood lacks to the most that any linear predictor could give it.
struct RowDistance {
  double noise = 0;  // by the noise alone, at the mode: the deviance
  // Less what the posterior leaves open: the least sum, over linear predictors, of the deviance and
  // of the squared distance from the mode in posterior variances.
  double predictive = 0;
};

// A Gaussian posterior as Model::predictive_losses() is asked about it.
struct PredictiveJudge {
  const double* mode;
  const double* covariance;  // P, dimension x dimension
  double divisor;            // dispersion that -log p is divided by, or 1
};

// How far a row's normal y is from its prediction, in the units of the dispersion.
struct PredictiveResidual {
  double error = 0;     // y minus its linear predictor at the mode
  double variance = 0;  // of the linear predictor under P
  double weight = 1;    // of the row

  double square() const noexcept { return error * error; }
};

inline std::size_t matrix_width(std::size_t dimension) { return (dimension + 3) / 4 * 4; }

// What add_curvature() sums for a row, at the given theta.
enum class Curvature : std::uint8_t {
  kHessian,      // of -log p(y | x, theta): positive semi-definite
  kGaussNewton,  // J^T H J, with H the Hessian in the linear predictors and J their derivative
  kFisher,       // its expectation over y: positive semi-definite where the Hessian is not
};

// One thread, noexcept, no allocation after construction. All rows lie in RowLayout(config) as they
// came; linear predictors, dispersions and sums are of transformed features and targets.
class Model {
 public:
  virtual std::string_view name() const noexcept = 0;
  virtual Response response() const noexcept = 0;

  // kTargetOutOfDomain when no y of the model can have this value.
  virtual Status check_target(double y) const noexcept = 0;

  // gradient <- sum over the batch of the gradient of -log p(y | x, theta), dispersion 1; without
  // the prior. Complexity O(rows x features).
  virtual void gradient_sum(const RowBatch& batch, const double* theta,
                            double* gradient) noexcept = 0;

  // The sum over the batch of -log p(y | x, theta) at dispersion 1, without the prior and without
  // terms that do not depend on theta; NaN where the model has none. Complexity O(rows x features).
  virtual double loss_sum(const RowBatch&, const double*) noexcept {
    return std::numeric_limits<double>::quiet_NaN();
  }

  // gradients row i <- gradient of row i: rows x dimension numbers, in units of dispersion 1.
  // Complexity O(rows x dimension).
  virtual void row_gradients(const RowBatch& batch, std::size_t dimension, const double* theta,
                             double* gradients) noexcept {
    for (std::size_t i = 0; i < batch.count; ++i) {
      gradient_sum(batch.part(i, 1), theta, gradients + i * dimension);
    }
  }

  // Adds the batch to `sums`. Complexity O(rows x dimension^2).
  virtual void add_noise(const RowBatch& batch, const double* theta, NoiseSums& sums) noexcept = 0;

  // Adds the batch to `sums`. Complexity O(rows x features), or O(non-zeros).
  virtual void add_noise_variances(const RowBatch& batch, const double* theta,
                                   NoiseVarianceSums& sums) noexcept = 0;

  // Adds `weight` times the batch to `sums` (-1 takes rows out again); `covariance` is P (dimension
  // x dimension), or null to leave `third` out.
  virtual void add_curvature(const RowBatch& batch, const double* anchor, const double* covariance,
                             double weight, CurvatureSums& sums) noexcept = 0;

  // Adds the batch to `sums`, at the linear predictors that the targets themselves suggest. One
  // Newton step from theta = 0 is then a weighted least-squares fit, the usual start of iteratively
  // reweighted least squares (McCullagh and Nelder 1989, section 2.5). `loss` stays as it was.
  // Without has_start() Newton's method starts at the last mode where quadratic(), at initial()
  // where not log_concave(), and otherwise at theta = 0.
  virtual bool has_start() const noexcept { return false; }
  virtual void add_start(const RowBatch&, CurvatureSums&) noexcept {}

  // effects[i] <- what row i of the batch would do. false: the model does not say. Complexity
  // O(rows x dimension), and dimension^2 for each row beyond a bound of the judge.
  virtual bool row_effects(const RowBatch&, const RowJudge&, RowEffect*) noexcept { return false; }

  // distances[i] <- that of row i of the batch, counted once whatever its weight. REQUIRES:
  // tells_distance(response()). Complexity O(rows x features), and dimension^2 for each row beyond
  // the judge's least.
  virtual void row_distances(const RowBatch&, const DistanceJudge&, RowDistance*) noexcept {}

  // losses[i] <- the row's weight times -log of the mean likelihood of row i over N(mode, P),
  // without terms that depend neither on theta nor on P. Exact for a normal y; otherwise by
  // quadrature over the linear predictor, for classes over each predictor by itself (MacKay 1992),
  // and for other models at the mode alone. Complexity O(rows x dimension^2).
  virtual void predictive_losses(const RowBatch& batch, const PredictiveJudge& judge,
                                 double* losses) noexcept {
    for (std::size_t i = 0; i < batch.count; ++i) {
      losses[i] = loss_sum(batch.part(i, 1), judge.mode) / judge.divisor;
    }
  }

  // residuals[i] <- that of row i; the judge's divisor is not looked at. REQUIRES:
  // is_normal(response()). Complexity O(rows x dimension^2).
  virtual void predictive_residuals(const RowBatch&, const PredictiveJudge&,
                                    PredictiveResidual*) noexcept {}

  // True when the loss is quadratic in theta: one Newton step is exact, `third` is 0.
  virtual bool quadratic() const noexcept = 0;
  virtual Curvature curvature() const noexcept { return Curvature::kHessian; }

  // A model whose loss is not a multiple of 1 / dispersion must know the dispersion; its sums are
  // then those of dispersion x (-log p) at this dispersion. A model with a shape is told the shape,
  // and its sums are those of -log p.
  virtual void set_dispersion(double) noexcept {}

  // False where the posterior may have several modes. Newton's method then descends from initial()
  // to one of them, the chains explore around it, and no mode or exact summary is served.
  virtual bool log_concave() const noexcept { return true; }
  // Writes random parameters to start from. REQUIRES: not log_concave().
  virtual void initial(std::uint64_t, double*) const noexcept {}

  // E[y | linear predictor], of a binomial model for one trial; NaN where y has several predictors.
  virtual double mean(double linear_predictor) const noexcept = 0;

  virtual FeatureTransform& transform() noexcept = 0;
  // The identity until it is set. After a change the dispersion has to be set again.
  TargetTransform& target() noexcept { return target_; }
  const TargetTransform& target() const noexcept { return target_; }

 protected:
  ~Model() = default;  // lives in an arena; nobody deletes it

  TargetTransform target_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_MODELS_MODEL_H_
