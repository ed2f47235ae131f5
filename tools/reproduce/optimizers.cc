#include "windhover/tools/reproduce/optimizers.h"

#include "windhover/tools/reproduce/harness.h"

namespace windhover::reproduce {

namespace {

// L from its free parameters, in units of 1 / sqrt(n): the logarithms of the diagonal and, when
// full, the columns below it.
class Cholesky {
 public:
  Cholesky(Index dimension, bool full, double n)
      : d_(dimension), full_(full), unit_(1.0 / std::sqrt(n)), sd_(dimension) {
    if (full_) lower_.setZero(d_, d_);
  }
  Index parameters() const { return full_ ? d_ + d_ * (d_ - 1) / 2 : d_; }

  void set(const double* parameters) {
    sd_ = unit_ * Eigen::Map<const Eigen::ArrayXd>(parameters, d_).exp().matrix();
    if (!full_) return;
    lower_.diagonal() = sd_;
    const double* next = parameters + d_;
    for (Index j = 0; j < d_; ++j) {
      for (Index i = j + 1; i < d_; ++i) lower_(i, j) = unit_ * *next++;
    }
  }
  VectorXd times(const VectorXd& z) const {
    return full_ ? VectorXd(lower_.triangularView<Eigen::Lower>() * z) : sd_.cwiseProduct(z);
  }
  // The gradient of the mean loss less (1/n) log|L|; g is the gradient of the mean loss at m + L z.
  void gradient(const VectorXd& g, const VectorXd& z, double* out) const {
    const double inverse_n = unit_ * unit_;
    for (Index j = 0; j < d_; ++j) *out++ = g[j] * z[j] * sd_[j] - inverse_n;
    for (Index j = 0; full_ && j < d_; ++j) {
      for (Index i = j + 1; i < d_; ++i) *out++ = unit_ * g[i] * z[j];
    }
  }
  const VectorXd& sd() const { return sd_; }
  MatrixXd factor() const { return full_ ? lower_ : MatrixXd(sd_); }

 private:
  Index d_;
  bool full_;
  double unit_;
  VectorXd sd_;  // the diagonal
  MatrixXd lower_;
};

}  // namespace

MatrixXd VariationalFit::covariance() const {
  if (factor.cols() == 1) return factor.col(0).cwiseAbs2().asDiagonal();
  return factor * factor.transpose();
}

VariationalFit bbvi(OwnedModel& model, const VectorXd& start, const BbviOptions& options) {
  const Index d = start.size();
  Cholesky cholesky(d, options.full, static_cast<double>(model.row_count()));
  const auto size = static_cast<std::size_t>(d + cholesky.parameters());
  VectorXd parameters = VectorXd::Zero(static_cast<Index>(size));
  VectorXd gradient = parameters;
  VectorXd sum = parameters;
  parameters.head(d) = start;
  Adam adam(size);
  std::vector<std::uint32_t> slots(options.minibatch_size);
  VectorXd z(d), theta(d), g(d);
  double summed = 0;
  for (std::uint64_t t = 0; t < options.steps; ++t) {
    cholesky.set(parameters.data() + d);
    fill_normals(options.seed, {.step = t, .purpose = Purpose::kInjectedNoise}, entries_of(z));
    theta = parameters.head(d) + cholesky.times(z);
    model.draw(options.seed, {.step = t, .purpose = Purpose::kMinibatch}, slots);
    model.gradient()(theta.data(), g.data());
    gradient.head(d) = g;
    cholesky.gradient(g, z, gradient.data() + d);
    const double left = 1.0 - static_cast<double>(t) / static_cast<double>(options.steps);
    adam.step(options.rate * left, {gradient.data(), size}, {parameters.data(), size});
    if (options.after_step) {
      options.after_step(t, parameters.head(d), cholesky.sd().cwiseAbs2());
    }
    if (left > 0.25) continue;
    sum += parameters;
    summed += 1;
  }
  parameters = sum / summed;
  cholesky.set(parameters.data() + d);
  return {parameters.head(d), cholesky.factor()};
}

Gaussian mean_field_optimum(const VectorXd& mean, const MatrixXd& precision) {
  return {mean, precision.diagonal().cwiseInverse().asDiagonal()};
}

}  // namespace windhover::reproduce
