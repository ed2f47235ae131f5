// Baselines that are no samplers: SGD, with and without momentum, RMSprop and Adam.
#ifndef WINDHOVER_TOOLS_REPRODUCE_OPTIMIZERS_H_
#define WINDHOVER_TOOLS_REPRODUCE_OPTIMIZERS_H_

#include <cmath>
#include <cstdint>
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

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_OPTIMIZERS_H_
