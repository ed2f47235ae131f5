#include "windhover/runtime/learning/null_directions.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

using Eigen::Index;

namespace {

// Added to the unit diagonal, so that there is a factor: above the rounding of the sums, and far
// below what rows say of any direction they know.
constexpr double kRidge = 1e-10;
constexpr double kCandidate = 1e-3;  // squared pivots up to here are looked at

}  // namespace

NullDirections::NullDirections(Arena& arena, std::uint32_t dimension) noexcept
    : dimension_(dimension),
      scale_(arena.allocate<double>(dimension).data()),
      image_(arena.allocate<double>(dimension).data()),
      directions_(
          arena.allocate<double>(std::size_t{std::min(dimension, kMost)} * dimension).data()) {}

void NullDirections::find(const AnchorSums& rows, double* room, Interlude* interlude) noexcept {
  const Index d = dimension_;
  count_ = 0;
  for (Index j = 0; j < d; ++j) {
    const double a = *rows.curvature_below(static_cast<std::uint32_t>(j));
    scale_[j] = a > 0 ? 1 / std::sqrt(a) : 0.0;
  }
  for (Index j = 0; j < d; ++j) {
    const ConstVectorMap below(rows.curvature_below(static_cast<std::uint32_t>(j)), d - j);
    VectorMap(room + j * (d + 1), d - j) =
        scale_[j] * below.cwiseProduct(ConstVectorMap(scale_ + j, d - j));
    room[j * (d + 1)] = 1 + kRidge;
    advance(interlude, kProductsANumber * static_cast<double>(d - j));
  }
  if (!ok(cholesky(room, d, room, interlude))) return;
  for (Index j = 0; j < d && count_ < std::min(dimension_, kMost); ++j) {
    const double pivot = room[j * (d + 1)];
    if (pivot * pivot > kCandidate) continue;
    VectorMap u(direction(count_), d);
    u.setZero();
    u[j] = 1;
    solve_lower_transposed(room, d, u.data());
    if (close_in(u.data(), room, interlude)) ++count_;
  }
}

// Inverse iteration, kept orthogonal to the directions found before: a null direction grows by 1 /
// kRidge each time. Returns whether u has become one.
bool NullDirections::close_in(double* u, const double* factor,
                              Interlude* interlude) const noexcept {
  constexpr int kIterations = 3;
  const Index d = dimension_;
  VectorMap vector(u, d);
  double growth = 0;
  for (int i = 0; i < kIterations; ++i) {
    for (std::uint32_t k = 0; k < count_; ++k) {
      const ConstVectorMap known(direction(k), d);
      vector -= known.dot(vector) * known;
    }
    vector /= vector.norm();
    solve_lower(factor, d, u);
    solve_lower_transposed(factor, d, u);
    growth = vector.norm();
    advance(interlude, 2 * kSweptNumber * static_cast<double>(d * d));
  }
  vector /= growth;
  for (std::uint32_t k = 0; k < count_; ++k) {
    const ConstVectorMap known(direction(k), d);
    vector -= known.dot(vector) * known;
  }
  vector /= vector.norm();
  return growth * kRidge > 0.5;
}

void NullDirections::remove_from(double* covariance, Interlude* interlude) const noexcept {
  const Index d = dimension_;
  MatrixMap c(covariance, d, d);
  for (std::uint32_t k = 0; k < count_; ++k) {
    const double* u = direction(k);
    // In the columns' own units the direction is scale u, and its dual u / scale.
    VectorMap image(image_, d);
    image.setZero();
    for (Index j = 0; j < d; ++j) image += (scale_[j] * u[j]) * c.col(j);
    double along = 0;
    for (Index j = 0; j < d; ++j) along += scale_[j] * u[j] * image[j];
    const auto dual = [&](Index j) { return scale_[j] > 0 ? u[j] / scale_[j] : 0.0; };
    for (Index j = 0; j < d; ++j) image[j] -= 0.5 * along * dual(j);
    for (Index j = 0; j < d; ++j) {
      const double image_j = image[j];
      const double dual_j = dual(j);
      for (Index i = 0; i < d; ++i) c(i, j) -= dual(i) * image_j + image[i] * dual_j;
    }
    advance(interlude, 2 * kSweptNumber * static_cast<double>(d * d));
  }
}

}  // namespace windhover
