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

// y = shift + scale y', with y' what the parameters describe; log y likewise with kLogNormal, and a
// count's linear predictor, with scale 1. It is the identity by default, and for classes always.
struct TargetTransform {
  double shift = 0;
  double scale = 1;
};

// In all sums here a row's -log p, and so each of its derivatives, is multiplied by the row's
// weight, where it has one.

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
  // For models with a dispersion: sum of w_i (y'_i - eta_i)^2, w_i what a row counts as, which for
  // Student's t is multiplied by the likelihood's own weight. For models with a shape: sum of the
  // squared derivatives of -log p by its logarithm, each times w_i.
  double squares = 0;
  double shape_gradient = 0;   // with a shape: derivative of -log p by its logarithm, ...
  double shape_curvature = 0;  // ... and the second one; when P is given the first is the mean over
                               // N(theta, P), to second order
  // For a shape that shape_crosses(): derivative of `gradient` by its logarithm, dimension; or
  // null.
  double* shape_cross = nullptr;
  bool with_loss = true;  // false: `loss` may stay as it is
};

// A Gaussian posterior as rows are judged by it: what Model::row_effects() is asked about.
struct RowJudge {
  const double* mode;
  const double* covariance;       // P, dimension x dimension
  const double* prior_precision;  // Lambda
  double divisor;                 // dispersion that -log p is divided by, or 1
  // Below these a row may be left unlooked at.
  double least_moved;
  double least_information;
  double least_surprise;
};

// What one row by itself would do to that posterior, counted once whatever its weight: a row of
// weight w is w rows, each judged so. All numbers are 0 where it is below the judge's bounds.
struct RowEffect {
  double moved = 0;        // squared way of its linear predictor's mode, in posterior sd
  double information = 0;  // about its linear predictor there, in units of the posterior's
  double known = 1;        // variance of its linear predictor, posterior over prior
  // That variance where the linear predictor is a logarithm or log-odds; otherwise 0. Where it is
  // large the row is certain at the mode and of the other kind at some draws.
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
  // Where a row's squared distance in noise is no more than this, RowDistance::predictive, which is
  // never larger, is set to the same number.
  double least;
};

// How far y is from what a posterior expects of it, squared, in standard deviations: twice the log
// likelihood that the row lacks to the best that its linear predictor could do for it.
struct RowDistance {
  double noise = 0;  // of the noise alone, the linear predictor at the mode: its deviance
  // The distance that remains with what the posterior leaves open of the linear predictor: the
  // deviance, and the squared way in posterior sd, at the point where their sum is least.
  double predictive = 0;
};

// A Gaussian posterior as Model::predictive_losses() is asked about it.
struct PredictiveJudge {
  const double* mode;
  const double* covariance;  // P, dimension x dimension
  double divisor;            // dispersion that -log p is divided by, or 1
};

// How far a row's normal y is from what such a posterior expects, in the units of the dispersion.
struct PredictiveResidual {
  double error = 0;     // y less its linear predictor at the mode
  double variance = 0;  // that P leaves to the linear predictor
  double weight = 1;    // what the row counts as

  double square() const noexcept { return error * error; }
};

inline std::size_t matrix_width(std::size_t dimension) { return (dimension + 3) / 4 * 4; }

// What add_curvature() sums for a row, where theta stands.
enum class Curvature : std::uint8_t {
  kHessian,      // of -log p(y | x, theta), never negative definite
  kGaussNewton,  // J^T H J, with H the Hessian in the linear predictors and J their derivative
  kFisher,       // its expectation over y: positive semi-definite where the Hessian is not
};

// Single-threaded, noexcept, no allocation after construction. All rows lie in RowLayout(config).
// Rows are as they came; linear predictors, dispersions and sums are of transformed features and
// targets.
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

  // The sum over the batch of -log p(y | x, theta), dispersion 1; without what does not depend on
  // theta, and without the prior; NaN where the model does not say. Complexity O(rows x features).
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

  // Adds the batch to `sums` as at the linear predictors that the targets themselves suggest: one
  // Newton step from theta = 0 is then a weighted least-squares fit, the usual start of iteratively
  // reweighted least squares (McCullagh and Nelder 1989, section 2.5). `loss` stays as it was.
  // Without has_start() Newton's method starts at theta = 0, where the loss is quadratic at the
  // mode it came to last, and in a network at initial().
  virtual bool has_start() const noexcept { return false; }
  virtual void add_start(const RowBatch&, CurvatureSums&) noexcept {}

  // effects[i] <- what row i of the batch would do. false: the model does not say. Complexity
  // O(rows x dimension), and dimension^2 for each row that is beyond a bound of the judge's.
  virtual bool row_effects(const RowBatch&, const RowJudge&, RowEffect*) noexcept { return false; }

  // distances[i] <- that of row i of the batch, counted once whatever its weight. REQUIRES:
  // tells_distance(response()). Complexity O(rows x features), and dimension^2 for each row that is
  // farther off than the judge's least.
  virtual void row_distances(const RowBatch&, const DistanceJudge&, RowDistance*) noexcept {}

  // losses[i] <- -log of the mean of the likelihood of row i over N(mode, P), times the row's
  // weight, where it has one; without what depends neither on theta nor on P. It is exact for a
  // normal y. Elsewhere it is by quadrature over the linear predictor, for classes over each by
  // itself (MacKay 1992), and for other models at the mode alone. Complexity O(rows x dimension^2).
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

  // A model whose loss is not a multiple of 1 / dispersion must know the dispersion: its sums are
  // then those of dispersion x (-log p) and stand for this one. A model with a shape is told that
  // one, and its sums are those of -log p.
  virtual void set_dispersion(double) noexcept {}

  // False where the posterior may have several modes: Newton's method then descends from initial()
  // to one of them, the chains explore what lies around it, and no mode or exact summary is served.
  virtual bool log_concave() const noexcept { return true; }
  // Writes random parameters to start from. REQUIRES: not log_concave().
  virtual void initial(std::uint64_t, double*) const noexcept {}

  // E[y | linear predictor], for a binomial model per trial; NaN where it takes more than one
  // predictor.
  virtual double mean(double linear_predictor) const noexcept = 0;

  virtual FeatureTransform& transform() noexcept = 0;
  // Identity until it is set. After a change a dispersion has to be set again.
  TargetTransform& target() noexcept { return target_; }
  const TargetTransform& target() const noexcept { return target_; }

 protected:
  ~Model() = default;  // lives in an arena; nobody deletes it

  TargetTransform target_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_MODELS_MODEL_H_
