// Where chains begin, what is retained of them, and what is kept.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "windhover/samplers/row_blocks/normal_source.h"
#include "windhover/samplers/row_blocks/row_block_langevin.h"

namespace windhover {

namespace {

// Of the linear predictors under the prior that a learned precision begins with.
constexpr double kPredictorVariance = 2.5 * 2.5;
// Chains that spread this much more than their law, or lag this many posterior variances behind it,
// do not tell what the precision is.
constexpr double kContracted = 1.1;
constexpr double kCaughtUp = 0.1;

}  // namespace

void RowBlockLangevin::reset(std::uint64_t seed) noexcept {
  const double start = std::max(given_precision_, layout_.max_nonzeros() / kPredictorVariance);
  if (learns_precision_) {
    precision_.reset(start, least_precision_, most_precision_);
  } else {
    precision_.reset(given_precision_, given_precision_, given_precision_);
  }
  nonzeros_ = rows_ = moves_ = 0;
  lag_ = std::numeric_limits<double>::quiet_NaN();
  change_ = 0;
  virial_ = virial_weights_ = 0;
  mean_curvature_ = 0.25;
  std::fill_n(residuals_, slots_ * chains_, 0.0F);
  std::fill_n(curvature_, slots_, 0.0F);
  std::fill_n(intercept_force_, chains_, 0.0);
  std::uninitialized_fill_n(sums_, columns_, ColumnSums{0, 0});
  bound_.reset();
  std::fill_n(chains_of_columns_, std::size_t{2} * columns_ * chains_, 0.0F);
  NormalSource random(seed, {0, 0, Purpose::kInitialState}, normals_);
  for (std::uint32_t column = 0; column < columns_; ++column) draw_prior(column, random);
}

// All chains of a column without rows.
void RowBlockLangevin::draw_prior(std::uint32_t column, NormalSource& random) noexcept {
  const double sd = 1 / std::sqrt(precision_of(column));
  const double* normals = random.take(chains_);
  float* theta = theta_of(column);
  for (std::uint32_t c = 0; c < chains_; ++c) theta[c] = static_cast<float>(sd * normals[c]);
}

double RowBlockLangevin::spread_ratio() const noexcept {
  const bool known = moves_ >= kLeastMoves && chains_ > 1 && virial_weights_ > 0;
  return known ? virial_ / virial_weights_ : std::numeric_limits<double>::quiet_NaN();
}

void RowBlockLangevin::retain(std::uint64_t seed, std::uint64_t count) noexcept {
  NormalSource random(seed, {count, 0, Purpose::kInitialDraw}, normals_);
  double squares = 0;
  double weights = 0;
  for (std::uint32_t column = 0; column < columns_; ++column) {
    float* theta = theta_of(column);
    const ColumnSums& sums = sums_[column];
    if (sums.rows == 0) {
      draw_prior(column, random);
    } else {
      const double precision = precision_of(column);
      const double all = precision + sums.curvature;
      const double weight = double{sums.curvature} * sums.rows / all;
      const double mean = mean_force(column, precision);
      squares += weight * chains_ * mean * mean / all;
      weights += weight;
      if (learns_precision_ && !is_intercept(column)) {
        const float stretch = precision_.stretch(sums.curvature);
        for (std::uint32_t c = 0; c < chains_; ++c) theta[c] *= stretch;
      }
    }
  }
  if (weights > 0) lag_ = std::max(0.0, squares / weights - 1) / chains_;
  if (learns_precision_) {
    precision_.end(spread_ratio() < kContracted && lag_ < kCaughtUp, rows_, chains_);
  }
}

void RowBlockLangevin::copy_to(float* out, std::size_t stride) const noexcept {
  for (std::uint32_t column = 0; column < columns_; ++column) {
    std::copy_n(theta_of(column), chains_, out + column * stride);
  }
}

// dU/dtheta of a column, of the chains together.
double RowBlockLangevin::mean_force(std::uint32_t column, double precision) const noexcept {
  const float* theta = theta_of(column);
  const float* force = force_of(column);
  double sum = 0;
  for (std::uint32_t c = 0; c < chains_; ++c) sum += precision * theta[c] + force[c];
  return sum / chains_;
}

void RowBlockLangevin::visit_state(StateVisitor& visitor) noexcept {
  static_assert(sizeof(ColumnSums) == 2 * sizeof(std::uint32_t));
  const auto bits = [&](float* numbers, std::size_t count) {
    visitor.visit(std::span(reinterpret_cast<std::uint32_t*>(numbers), count));
  };
  visitor.section("row blocks");
  visitor.values(nonzeros_, rows_, moves_, change_, mean_curvature_, virial_, virial_weights_,
                 lag_);
  bits(chains_of_columns_, std::size_t{2} * columns_ * chains_);
  visitor.visit(intercept_force_, chains_);
  bits(residuals_, slots_ * chains_);
  bits(curvature_, slots_);
  visitor.visit(std::span(reinterpret_cast<std::uint32_t*>(sums_), std::size_t{2} * columns_));
  bound_.visit_state(visitor);
  precision_.visit_state(visitor);
}

}  // namespace windhover
