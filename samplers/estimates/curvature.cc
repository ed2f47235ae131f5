#include "windhover/samplers/estimates/curvature.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

void AnchorSums::copy_from(const AnchorSums& other) noexcept {
  std::copy_n(other.anchor_, dimension_, anchor_);
  std::copy_n(other.sums_.gradient, dimension_, sums_.gradient);
  std::copy_n(other.sums_.third, dimension_, sums_.third);
  std::copy_n(other.sums_.curvature, width_ * width_, sums_.curvature);
  std::ranges::copy(other.way_, way_.begin());
  gone_ = other.gone_;
  sums_.rows = other.sums_.rows;
  ages_ = other.ages_;
  sums_.weight = other.sums_.weight;
  sums_.squared_weight = other.sums_.squared_weight;
  sums_.squares = other.sums_.squares;
  sums_.shape_gradient = other.sums_.shape_gradient;
  sums_.shape_curvature = other.sums_.shape_curvature;
  std::ranges::copy(other.cross_, cross_.begin());
  third_ = other.third_;
  std::ranges::copy(other.third_variances_, third_variances_.begin());
  dispersion_ = other.dispersion_;
  largest_.copy_from(other.largest_);
}

void AnchorSums::move_anchor(const double* anchor, double dispersion, double third_scale) noexcept {
  const auto width = static_cast<Eigen::Index>(width_);
  const ConstMatrixMap lower(sums_.curvature, width, width);
  for (std::uint32_t j = 0; j < dimension_; ++j) move_[j] = anchor[j] - anchor_[j];
  const Eigen::Index d = dimension_;
  const ConstVectorMap move(move_, d);
  VectorMap gradient(sums_.gradient, d);
  const double slope = move.dot(gradient);
  gradient.noalias() += lower.topLeftCorner(d, d).selfadjointView<Eigen::Lower>() * move;
  const double rise = move.dot(gradient) - slope;  // move^T curvature move
  if (!way_.empty()) {
    VectorMap way(way_.data(), d);
    gone_ += 2 * move.dot(way) + rise;
    way.noalias() += lower.topLeftCorner(d, d).selfadjointView<Eigen::Lower>() * move;
  }
  if (!shaped_) sums_.squares += 2 * slope + rise;
  for (std::uint32_t j = 0; j < dimension_; ++j) sums_.third[j] *= third_scale;
  std::ranges::fill(third_variances_, 0.0);
  if (shaped_) {
    const double change = std::log(dispersion / dispersion_);
    sums_.shape_gradient += sums_.shape_curvature * change;
    if (!cross_.empty()) {
      const ConstVectorMap cross(cross_.data(), d);
      sums_.shape_gradient += cross.dot(move);
      gradient += change * cross;
    }
  }
  std::copy_n(anchor, dimension_, anchor_);
  dispersion_ = dispersion;
}

}  // namespace windhover
