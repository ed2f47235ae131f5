#include "windhover/tools/data/natural_spline.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

namespace windhover {

using Eigen::Index;

// B d = D h: first derivatives of neighbouring pieces agree at each inner knot. Distances are in
// units of that from the first knot to the last.
NaturalSpline::NaturalSpline(std::span<const double> knots)
    : first_(knots.front()),
      span_(knots.back() - knots.front()),
      knots_(knots.begin(), knots.end()),
      curvatures_(Eigen::MatrixXd::Zero(static_cast<Index>(knots.size()),
                                        static_cast<Index>(knots.size()))) {
  for (double& knot : knots_) knot = (knot - first_) / span_;
  const auto inner = static_cast<Index>(knots_.size()) - 2;
  Eigen::MatrixXd B = Eigen::MatrixXd::Zero(inner, inner);
  Eigen::MatrixXd D = Eigen::MatrixXd::Zero(inner, inner + 2);
  for (Index i = 0; i < inner; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double before = knots_[k + 1] - knots_[k], after = knots_[k + 2] - knots_[k + 1];
    D(i, i) = 1 / before;
    D(i, i + 1) = -1 / before - 1 / after;
    D(i, i + 2) = 1 / after;
    B(i, i) = (before + after) / 3;
    if (i + 1 < inner) B(i, i + 1) = B(i + 1, i) = after / 6;
  }
  curvatures_.middleRows(1, inner) = B.partialPivLu().solve(D);
}

void NaturalSpline::weights(double value, std::span<double> out) const {
  const double x = (value - first_) / span_;
  const auto above = std::ranges::upper_bound(knots_, x);
  const std::size_t last = knots_.size() - 1;
  const auto place = static_cast<std::size_t>(above - knots_.begin());
  const std::size_t j = std::clamp<std::size_t>(place, 1, last) - 1;
  const double width = knots_[j + 1] - knots_[j];
  // Beyond the ends the curve continues as a line; between knots it is the cubic of Wood's table
  // 5.1.
  const double inside = std::clamp(x, knots_.front(), knots_.back());
  const double down = knots_[j + 1] - inside, up = inside - knots_[j];
  const double beyond = x - inside;
  const double of_first = (down * down * down / width - width * down) / 6 +
                          beyond * (width / 6 - down * down / width / 2);
  const double of_second =
      (up * up * up / width - width * up) / 6 + beyond * (up * up / width / 2 - width / 6);
  const auto i = static_cast<Index>(j);
  for (std::size_t k = 0; k <= last; ++k) {
    const auto c = static_cast<Index>(k);
    out[k] = of_first * curvatures_(i, c) + of_second * curvatures_(i + 1, c);
  }
  out[j] += (down - beyond) / width;
  out[j + 1] += (up + beyond) / width;
}

bool NaturalSpline::can_be(std::span<const double> knots) {
  if (knots.size() < 3) return false;
  const double span = knots.back() - knots.front();
  if (!std::isfinite(span)) return false;
  for (std::size_t k = 1; k < knots.size(); ++k) {
    if (!(knots[k] - knots[k - 1] >= kLeastGap * span)) return false;
  }
  return span > std::numeric_limits<double>::min() / kLeastGap;
}

}  // namespace windhover
