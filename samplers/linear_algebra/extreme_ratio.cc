#include "windhover/samplers/linear_algebra/extreme_ratio.h"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "windhover/platform/random.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

using Eigen::Index;

RatioVector::RatioVector(Arena& arena, std::uint32_t dimension) noexcept
    : w(arena.allocate<double>(dimension).data()),
      dual(arena.allocate<double>(dimension).data()),
      numerator(arena.allocate<double>(dimension).data()),
      denominator(arena.allocate<double>(dimension).data()) {}

namespace {

double dot(const double* x, const double* y, std::uint32_t d) noexcept {
  return ConstVectorMap(x, d).dot(ConstVectorMap(y, d));
}

}  // namespace

double RatioVector::ratio(std::uint32_t dimension) const noexcept {
  return dot(dual, numerator, dimension) / dot(dual, denominator, dimension);
}

ExtremeRatio::ExtremeRatio(Arena& arena, std::uint32_t dimension, bool largest) noexcept
    : dimension_(dimension),
      largest_(largest),
      best_(arena, dimension),
      gradient_(arena, dimension),
      change_(arena, dimension) {}

void ExtremeRatio::reset(const double* scale) noexcept {
  constexpr std::uint64_t kSeed = 0x5eed;
  Rng rng(kSeed, {0, static_cast<std::uint16_t>(largest_), Purpose::kInitialState});
  rng.fill_normals({best_.w, dimension_});
  for (std::uint32_t j = 0; j < dimension_; ++j) best_.w[j] *= scale[j];
  stale_ = true;
  indefinite_ = false;
  steps_ = quiet_looks_ = 0;
  ratio_ = looked_at_ = 0;
}

bool ExtremeRatio::near_what_was_looked_at() const noexcept {
  return std::abs(ratio_ - looked_at_) <= 0.01 * std::abs(ratio_);
}

void ExtremeRatio::forms_known() noexcept {
  has_change_ = stale_ = false;
  ratio_ = best_.ratio(dimension_);
  if (!near_what_was_looked_at()) quiet_looks_ = 0;
}

bool ExtremeRatio::begin_step() noexcept {
  const Index d = dimension_;
  ratio_ = best_.ratio(dimension_);
  indefinite_ = !(dot(best_.dual, best_.denominator, dimension_) > 0);
  if (indefinite_) return false;
  VectorMap(gradient_.w, d) =
      ConstVectorMap(best_.numerator, d) - ratio_ * ConstVectorMap(best_.denominator, d);
  return true;
}

// Solves the problem in the span of three vectors. Cholesky's method makes g the identity there; it
// leaves out a vector that depends on those before it.
void ExtremeRatio::end_step() noexcept {
  constexpr double kDependent = 1e-10;
  const std::array<const RatioVector*, 3> span = {&best_, &gradient_, &change_};
  Eigen::Matrix3d f = Eigen::Matrix3d::Zero();
  Eigen::Matrix3d inverse = Eigen::Matrix3d::Zero();  // rows: orthonormal in g
  int rank = 0;
  for (int i = 0; i < (has_change_ ? 3 : 2); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double own = dot(span[at]->dual, span[at]->denominator, dimension_);
    Eigen::RowVector3d row = Eigen::RowVector3d::Zero();
    row[i] = 1;
    double left = own;
    Eigen::RowVector3d products = Eigen::RowVector3d::Zero();
    for (int k = 0; k <= i; ++k) {
      const auto other = static_cast<std::size_t>(k);
      products[k] = dot(span[other]->dual, span[at]->denominator, dimension_);
      f(i, k) = f(k, i) = dot(span[other]->dual, span[at]->numerator, dimension_);
    }
    for (int r = 0; r < rank; ++r) {
      const double along = inverse.row(r).dot(products);
      row -= along * inverse.row(r);
      left -= along * along;
    }
    if (own < 0 || left < -kDependent * own) indefinite_ = true;
    if (!(left > kDependent * own)) continue;
    inverse.row(rank++) = row / std::sqrt(left);
  }
  if (indefinite_) return;
  // Missing rows get an eigenvalue at the end that is not asked for.
  Eigen::Matrix3d small = inverse * f * inverse.transpose();
  const double beyond = (1 + small.cwiseAbs().maxCoeff()) * (largest_ ? -4 : 4);
  for (int r = rank; r < 3; ++r) small(r, r) = beyond;
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(small);
  const int chosen = largest_ ? 2 : 0;
  ratio_ = solver.eigenvalues()[chosen];
  const Eigen::RowVector3d c = solver.eigenvectors().col(chosen).transpose() * inverse;
  replace({c[0], c[1], c[2]});
  if (++steps_ % kLook == 0) {
    quiet_looks_ = near_what_was_looked_at() ? quiet_looks_ + 1 : 0;
    looked_at_ = ratio_;
  }
}

void ExtremeRatio::replace(const std::array<double, 3>& c) noexcept {
  const Index d = dimension_;
  const auto combine = [&](double* best, const double* gradient, double* change) {
    VectorMap new_change(change, d);
    if (has_change_) {
      new_change *= c[2];
      new_change += c[1] * ConstVectorMap(gradient, d);
    } else {
      new_change = c[1] * ConstVectorMap(gradient, d);
    }
    VectorMap(best, d) *= c[0];
    VectorMap(best, d) += ConstVectorMap(change, d);
  };
  combine(best_.w, gradient_.w, change_.w);
  combine(best_.dual, gradient_.dual, change_.dual);
  combine(best_.numerator, gradient_.numerator, change_.numerator);
  combine(best_.denominator, gradient_.denominator, change_.denominator);
  has_change_ = true;
}

void RatioVector::visit_state(StateVisitor& visitor, std::uint32_t dimension) noexcept {
  for (double* numbers : {w, dual, numerator, denominator}) visitor.visit(numbers, dimension);
}

void ExtremeRatio::visit_state(StateVisitor& visitor) noexcept {
  visitor.values(stale_, has_change_, indefinite_, steps_, quiet_looks_, ratio_, looked_at_);
  for (RatioVector* v : {&best_, &gradient_, &change_}) v->visit_state(visitor, dimension_);
}

}  // namespace windhover
