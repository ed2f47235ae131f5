// A curve of one number, as columns of a linear model.
#ifndef WINDHOVER_TOOLS_DATA_NATURAL_SPLINE_H_
#define WINDHOVER_TOOLS_DATA_NATURAL_SPLINE_H_

#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <vector>

namespace windhover {

// The natural cubic spline with given heights at its knots, linear beyond the first and the last
// (Wood, Generalized Additive Models, 2nd ed., section 5.3.1, basis "cr"). At any x it is a linear
// function of the heights. Its weights are the columns, and a coefficient is the height of the
// curve at a knot. The weights at an x sum to 1, so a model with an intercept leaves out the weight
// of reference_knot(), from which the other heights are then measured.
//
// Immutable. REQUIRES: can_be(knots).
class NaturalSpline {
 public:
  // The least gap between knots, as a share of the distance from the first to the last. Closer
  // knots make columns that cancel.
  static constexpr double kLeastGap = 1e-4;
  // Whether there are at least 3 knots, increasing, with gaps of at least kLeastGap.
  static bool can_be(std::span<const double> knots);

  explicit NaturalSpline(std::span<const double> knots);

  std::size_t knots() const { return knots_.size(); }
  // The weights of the heights at a value, one per knot. O(knots). REQUIRES: the value is finite.
  void weights(double value, std::span<double> out) const;

  static std::size_t reference_knot(std::size_t knots) { return knots / 2; }

 private:
  double first_, span_;
  std::vector<double> knots_;  // in units of the span, from 0 to 1
  // Heights to second derivatives at the knots; knots x knots, those at the ends are 0.
  Eigen::MatrixXd curvatures_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_NATURAL_SPLINE_H_
