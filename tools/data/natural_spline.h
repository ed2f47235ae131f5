// A curve through one number's knots, as columns of a linear model.
#ifndef WINDHOVER_TOOLS_DATA_NATURAL_SPLINE_H_
#define WINDHOVER_TOOLS_DATA_NATURAL_SPLINE_H_

#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <vector>

namespace windhover {

// The natural cubic spline with given heights at its knots, linear beyond the first and the last
// (Wood, Generalized Additive Models, 2nd ed., section 5.3.1, basis "cr"). At any x it is a linear
// function of the heights; these weights are the columns, and a coefficient is the height of the
// curve at one knot. The weights of one x sum to 1, so one of them is left out where a model has
// an intercept: that of reference_knot(), from which the other heights are then measured.
//
// Immutable. REQUIRES: can_be(knots).
class NaturalSpline {
 public:
  // The least gap between knots, as a share of the way from the first to the last: nearer ones make
  // columns that cancel.
  static constexpr double kLeastGap = 1e-4;
  // Whether there are 3 knots or more, increasing, none too near the one before.
  static bool can_be(std::span<const double> knots);

  explicit NaturalSpline(std::span<const double> knots);

  std::size_t knots() const { return knots_.size(); }
  // Weights of the heights at a value, one a knot. O(knots). REQUIRES: it is finite.
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
