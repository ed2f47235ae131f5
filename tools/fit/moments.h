#ifndef WINDHOVER_TOOLS_FIT_MOMENTS_H_
#define WINDHOVER_TOOLS_FIT_MOMENTS_H_

#include <Eigen/Core>
#include <cstdint>

namespace windhover {

// Mean and covariance of a stream of vectors, summed about a centre near their mean so that no
// digits are lost. add() allocates nothing and is O(D^2).
class Moments {
 public:
  explicit Moments(const Eigen::VectorXd& centre)
      : centre_(centre),
        deviation_(Eigen::VectorXd::Zero(centre.size())),
        sum_(deviation_),
        products_(Eigen::MatrixXd::Zero(centre.size(), centre.size())) {}

  void add(const double* theta) noexcept {
    const Eigen::Index d = centre_.size();
    for (Eigen::Index i = 0; i < d; ++i) deviation_[i] = theta[i] - centre_[i];
    for (Eigen::Index j = 0; j < d; ++j) {
      sum_[j] += deviation_[j];
      double* column = products_.data() + j * d;
      const double scale = deviation_[j];
      for (Eigen::Index i = j; i < d; ++i) column[i] += scale * deviation_[i];
    }
    ++count_;
  }

  std::uint64_t count() const { return count_; }

  // REQUIRES: count() > 0.
  Eigen::VectorXd mean() const { return centre_ + sum_ / static_cast<double>(count_); }
  Eigen::MatrixXd covariance() const {
    const auto n = static_cast<double>(count_);
    const Eigen::MatrixXd lower = products_ / n - sum_ * sum_.transpose() / (n * n);
    return lower.selfadjointView<Eigen::Lower>();
  }

 private:
  Eigen::VectorXd centre_;
  Eigen::VectorXd deviation_;
  Eigen::VectorXd sum_;
  Eigen::MatrixXd products_;  // lower triangle
  std::uint64_t count_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_FIT_MOMENTS_H_
