// Densities with known moments, for tests and experiments of samplers: log density, gradient, exact
// mean and covariance.
#ifndef WINDHOVER_TESTS_SAMPLERS_TARGETS_H_
#define WINDHOVER_TESTS_SAMPLERS_TARGETS_H_

#include <numbers>
#include <utility>

#include "windhover/tests/samplers/support.h"

namespace windhover {

// All have: dimension(); log_density(theta), normalised; gradient(theta), of the potential -log
// density; mean(); covariance().

class GaussianTarget {
 public:
  GaussianTarget(Vector mean, const Matrix& covariance)
      : mean_(std::move(mean)), covariance_(covariance), precision_(covariance.inverse()) {
    const Matrix root = covariance.llt().matrixL();
    log_scale_ = -root.diagonal().array().log().sum() -
                 0.5 * static_cast<double>(mean_.size()) * std::log(2 * std::numbers::pi);
  }

  Index dimension() const { return mean_.size(); }
  double log_density(const Vector& theta) const {
    const Vector d = theta - mean_;
    return log_scale_ - 0.5 * d.dot(precision_ * d);
  }
  Vector gradient(const Vector& theta) const { return precision_ * (theta - mean_); }
  const Vector& mean() const { return mean_; }
  const Matrix& covariance() const { return covariance_; }

 private:
  Vector mean_;
  Matrix covariance_;
  Matrix precision_;
  double log_scale_ = 0;
};

class GaussianMixtureTarget {
 public:
  // Weights add up to 1.
  GaussianMixtureTarget(std::vector<double> weights, std::vector<GaussianTarget> parts)
      : weights_(std::move(weights)), parts_(std::move(parts)) {}

  Index dimension() const { return parts_.front().dimension(); }
  double log_density(const Vector& theta) const {
    double largest = -1e300;
    for (std::size_t k = 0; k < parts_.size(); ++k) largest = std::max(largest, term(k, theta));
    double sum = 0;
    for (std::size_t k = 0; k < parts_.size(); ++k) sum += std::exp(term(k, theta) - largest);
    return largest + std::log(sum);
  }
  Vector gradient(const Vector& theta) const {
    const double total = log_density(theta);
    Vector g = Vector::Zero(dimension());
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      g += std::exp(term(k, theta) - total) * parts_[k].gradient(theta);
    }
    return g;
  }
  Vector mean() const {
    Vector m = Vector::Zero(dimension());
    for (std::size_t k = 0; k < parts_.size(); ++k) m += weights_[k] * parts_[k].mean();
    return m;
  }
  Matrix covariance() const {
    const Vector centre = mean();
    Matrix c = Matrix::Zero(dimension(), dimension());
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const Vector d = parts_[k].mean() - centre;
      c += weights_[k] * (parts_[k].covariance() + d * d.transpose());
    }
    return c;
  }

 private:
  double term(std::size_t k, const Vector& theta) const {
    return std::log(weights_[k]) + parts_[k].log_density(theta);
  }

  std::vector<double> weights_;
  std::vector<GaussianTarget> parts_;
};

// v ~ N(0, scale^2), then x_i ~ N(0, e^v): scales from narrow to wide (Neal 2003, section 8). theta
// is v, x_1, ..., x_d.
class FunnelTarget {
 public:
  explicit FunnelTarget(Index xs = 9, double scale = 3.0) : xs_(xs), scale_(scale) {}

  Index dimension() const { return xs_ + 1; }
  double log_density(const Vector& theta) const {
    const double v = theta(0);
    const double squares = theta.tail(xs_).squaredNorm();
    return -0.5 * v * v / (scale_ * scale_) - std::log(scale_) - 0.5 * squares * std::exp(-v) -
           0.5 * static_cast<double>(xs_) * v -
           0.5 * static_cast<double>(xs_ + 1) * std::log(2 * std::numbers::pi);
  }
  Vector gradient(const Vector& theta) const {
    const double v = theta(0);
    Vector g = std::exp(-v) * theta;
    g(0) = v / (scale_ * scale_) - 0.5 * theta.tail(xs_).squaredNorm() * std::exp(-v) +
           0.5 * static_cast<double>(xs_);
    return g;
  }
  Vector mean() const { return Vector::Zero(dimension()); }
  Matrix covariance() const {
    Vector variances = Vector::Constant(dimension(), std::exp(0.5 * scale_ * scale_));
    variances(0) = scale_ * scale_;
    return variances.asDiagonal();
  }

 private:
  Index xs_;
  double scale_;
};

// Two wells at -1 and 1 with a barrier between: density exp(-height (x^2 - 1)^2 + tilt x) / Z, in
// one dimension. Moments by a trapezoidal rule, good to 1e-12.
class DoubleWellTarget {
 public:
  explicit DoubleWellTarget(double height = 3.0, double tilt = 0.0) : height_(height), tilt_(tilt) {
    double total = 0;
    double first = 0;
    double second = 0;
    constexpr double kSpacing = 1e-3;
    for (int i = -8000; i <= 8000; ++i) {
      const double x = kSpacing * i;
      const double density = std::exp(-potential(x));
      total += density;
      first += x * density;
      second += x * x * density;
    }
    log_normaliser_ = std::log(total * kSpacing);
    mean_ = Vector::Constant(1, first / total);
    covariance_ = Matrix::Constant(1, 1, second / total - mean_(0) * mean_(0));
  }

  Index dimension() const { return 1; }
  double log_density(const Vector& theta) const { return -potential(theta(0)) - log_normaliser_; }
  Vector gradient(const Vector& theta) const {
    const double x = theta(0);
    return Vector::Constant(1, 4 * height_ * x * (x * x - 1) - tilt_);
  }
  const Vector& mean() const { return mean_; }
  const Matrix& covariance() const { return covariance_; }

 private:
  double potential(double x) const { return height_ * (x * x - 1) * (x * x - 1) - tilt_ * x; }

  double height_;
  double tilt_;
  double log_normaliser_ = 0;
  Vector mean_;
  Matrix covariance_;
};

// A target as a model, so that a GradientSource over it gives the gradient of potential / n: every
// row says the same, potential / n, and nothing but what a sampler injects is noise. Use it with
// prior precisions of 0.
template <class Target>
class TargetModel final : public Model {
 public:
  TargetModel(const Target& target, double n) : target_(target), n_(n) {}

  std::string_view name() const noexcept override { return "target"; }
  Response response() const noexcept override { return Response::kGaussian; }
  Status check_target(double) const noexcept override { return Status::kOk; }
  bool quadratic() const noexcept override { return false; }
  double mean(double predictor) const noexcept override { return predictor; }
  FeatureTransform& transform() noexcept override { return transform_; }

  void gradient_sum(const RowBatch& batch, const double* theta,
                    double* gradient) noexcept override {
    const Index d = target_.dimension();
    const Vector g = target_.gradient(Eigen::Map<const Vector>(theta, d));
    Eigen::Map<Vector>(gradient, d) = static_cast<double>(batch.count) / n_ * g;
  }
  void add_noise(const RowBatch& batch, const double* theta, NoiseSums& sums) noexcept override {
    const Index d = target_.dimension();
    const Vector g = target_.gradient(Eigen::Map<const Vector>(theta, d)) / n_;
    const auto width = static_cast<Index>(matrix_width(static_cast<std::size_t>(d)));
    const auto rows = static_cast<double>(batch.count);
    Eigen::Map<Vector>(sums.gradient, d) += rows * g;
    Eigen::Map<Matrix>(sums.outer, width, width).topLeftCorner(d, d) += rows * g * g.transpose();
    sums.rows += rows;
  }
  void add_noise_variances(const RowBatch& batch, const double* theta,
                           NoiseVarianceSums& sums) noexcept override {
    const Index d = target_.dimension();
    const Vector g = target_.gradient(Eigen::Map<const Vector>(theta, d)) / n_;
    const auto rows = static_cast<double>(batch.count);
    Eigen::Map<Vector>(sums.gradient, d) += rows * g;
    Eigen::Map<Vector>(sums.squares, d).array() += rows * g.array().square();
    sums.rows += rows;
  }
  void add_curvature(const RowBatch&, const double*, const double*, double,
                     CurvatureSums&) noexcept override {}

 private:
  const Target& target_;
  double n_;
  FeatureTransform transform_;
};

}  // namespace windhover

#endif  // WINDHOVER_TESTS_SAMPLERS_TARGETS_H_
