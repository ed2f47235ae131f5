// Baselines that are no samplers: SGD, with and without momentum, and RMSprop.
#ifndef WINDHOVER_TOOLS_REPRODUCE_OPTIMIZERS_H_
#define WINDHOVER_TOOLS_REPRODUCE_OPTIMIZERS_H_

#include <cmath>
#include <span>
#include <vector>

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

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_OPTIMIZERS_H_
