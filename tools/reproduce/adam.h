// Adam: Kingma and Ba 2015, a baseline.
#ifndef WINDHOVER_TOOLS_REPRODUCE_ADAM_H_
#define WINDHOVER_TOOLS_REPRODUCE_ADAM_H_

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace windhover::reproduce {

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

#endif  // WINDHOVER_TOOLS_REPRODUCE_ADAM_H_
