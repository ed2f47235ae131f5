#ifndef WINDHOVER_TOOLS_EVALUATE_SPARSE_DESCENT_H_
#define WINDHOVER_TOOLS_EVALUATE_SPARSE_DESCENT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace windhover {

// Stochastic gradient descent over sparse rows in single precision: one weight for each column, and
// no posterior. Steps are implicit (Kulis and Bartlett 2010; Karampatziakis and Langford 2011):
// exactly for a squared loss; for a logistic one by its parabola at the row, which goes too far
// where the row was predicted with near certainty and wrongly.
class SparseDescent {
 public:
  enum class Rule : std::uint8_t {
    kPlain,     // the same rate everywhere
    kAdaptive,  // over the root of what a column's squared gradients have come to (AdaGrad: Duchi,
                // Hazan and Singer 2011)
  };
  enum class Loss : std::uint8_t { kLogistic, kSquared };  // for y = 0 or 1; for a number

  // There is one column more, of ones.
  SparseDescent(std::uint32_t columns, Rule rule, Loss loss, double rate);

  // x theta.
  double predictor(const std::uint32_t* indices, const double* values,
                   std::size_t count) const noexcept;
  // One step, as of `weight` rows alike.
  void learn(const std::uint32_t* indices, const double* values, std::size_t count, double target,
             double weight = 1) noexcept;

 private:
  struct Column {
    float weight = 0;
    float squares = 0;  // sum of squared gradients
  };

  double step_of(const Column& column) const noexcept;

  Rule rule_;
  Loss loss_;
  double rate_;
  std::vector<Column> columns_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_EVALUATE_SPARSE_DESCENT_H_
