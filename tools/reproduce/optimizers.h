// Baselines that are not samplers: SGD with and without momentum, RMSprop, Adam, and black-box
// variational inference.
#ifndef WINDHOVER_TOOLS_REPRODUCE_OPTIMIZERS_H_
#define WINDHOVER_TOOLS_REPRODUCE_OPTIMIZERS_H_

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "windhover/tools/reproduce/library.h"

namespace windhover::reproduce {

// Sutskever, Martens, Dahl and Hinton 2013, the classical form; momentum 0 is SGD.
class MomentumSgd {
 public:
  MomentumSgd(std::size_t dimension, double momentum) : momentum_(momentum), velocity_(dimension) {}

  void step(double rate, std::span<const double> gradient, std::span<double> theta) {
    for (std::size_t j = 0; j < theta.size(); ++j) {
      velocity_[j] = momentum_ * velocity_[j] - rate * gradient[j];
      theta[j] += velocity_[j];
    }
  }

 private:
  double momentum_;
  std::vector<double> velocity_;
};

// Tieleman and Hinton 2012.
class RmsProp {
 public:
  explicit RmsProp(std::size_t dimension) : square_(dimension) {}

  void step(double rate, std::span<const double> gradient, std::span<double> theta) {
    for (std::size_t j = 0; j < theta.size(); ++j) {
      square_[j] = kDecay * square_[j] + (1.0 - kDecay) * gradient[j] * gradient[j];
      theta[j] -= rate * gradient[j] / (std::sqrt(square_[j]) + 1e-8);
    }
  }

 private:
  static constexpr double kDecay = 0.9;
  std::vector<double> square_;
};

// Kingma and Ba 2015.
class Adam {
 public:
  explicit Adam(std::size_t dimension) : first_(dimension), second_(dimension) {}

  void step(double rate, std::span<const double> gradient, std::span<double> theta) {
    ++t_;
    const double first_scale = 1.0 / (1.0 - std::pow(kFirst, static_cast<double>(t_)));
    const double second_scale = 1.0 / (1.0 - std::pow(kSecond, static_cast<double>(t_)));
    for (std::size_t j = 0; j < theta.size(); ++j) {
      first_[j] = kFirst * first_[j] + (1.0 - kFirst) * gradient[j];
      second_[j] = kSecond * second_[j] + (1.0 - kSecond) * gradient[j] * gradient[j];
      theta[j] -= rate * first_[j] * first_scale / (std::sqrt(second_[j] * second_scale) + 1e-8);
    }
  }

 private:
  static constexpr double kFirst = 0.9;
  static constexpr double kSecond = 0.999;
  std::uint64_t t_ = 0;
  std::vector<double> first_;
  std::vector<double> second_;
};

// A run of one of them on minibatches, with the interface of ToldChain.
template <class Optimizer>
class Baseline {
 public:
  Baseline(OwnedModel& model, std::uint32_t minibatch_size, Optimizer optimizer, double rate,
           std::uint64_t seed)
      : model_(model),
        optimizer_(std::move(optimizer)),
        rate_(rate),
        seed_(seed),
        theta_(model.dimension()),
        gradient_(model.dimension()),
        slots_(minibatch_size) {
    model.model().initial(seed, theta_.data());
  }
  bool step() {
    model_.draw(seed_, {.step = step_++, .purpose = Purpose::kMinibatch}, slots_);
    model_.gradient()(theta_.data(), gradient_.data());
    optimizer_.step(rate_, gradient_, theta_);
    return ok(finite_or_diverged(theta_.data(), model_.dimension()));
  }
  const std::vector<double>& theta() const { return theta_; }
  std::uint64_t examples() const { return step_ * slots_.size(); }

 private:
  OwnedModel& model_;
  Optimizer optimizer_;
  double rate_;
  std::uint64_t seed_;
  std::vector<double> theta_;
  std::vector<double> gradient_;
  std::vector<std::uint32_t> slots_;
  std::uint64_t step_ = 0;
};

struct BbviOptions {
  bool full = false;  // a Cholesky factor; otherwise one sd per parameter (mean-field)
  std::uint32_t minibatch_size = 100;
  std::uint64_t steps = 100'000;
  double rate = 0.02;  // step of Adam, falls linearly to 0
  std::uint64_t seed = 1;
  // Called after each step with the mean and, for mean-field, the variances. May change the model's
  // prior.
  std::function<void(std::uint64_t step, const Eigen::VectorXd& mean,
                     const Eigen::VectorXd& variances)>
      after_step = {};
};

struct Gaussian {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
};

struct VariationalFit {
  Eigen::VectorXd mean;
  Eigen::MatrixXd factor;  // L; mean-field: one column, the standard deviations

  Eigen::MatrixXd covariance() const;
};

// Black-box variational inference with reparametrization gradients: Kucukelbir, Ranganath, Gelman
// and Blei 2015. theta = m + L z, one draw and one minibatch per step. Maximises E[log p(theta)] +
// log|L| by Adam (Kingma and Ba 2015) from m = `start` and sd 1 / sqrt(n). Gives the average over
// the last quarter of the steps. O(S D) per step, O(D^2) more when full.
VariationalFit bbvi(OwnedModel& model, const Eigen::VectorXd& start, const BbviOptions& options);

// The optimum of mean-field variational inference when the posterior is this Gaussian: its mean,
// and the variances of its conditionals.
Gaussian mean_field_optimum(const Eigen::VectorXd& mean, const Eigen::MatrixXd& precision);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_OPTIMIZERS_H_
