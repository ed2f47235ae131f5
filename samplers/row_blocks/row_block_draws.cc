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
// A spread ratio below which the chains tell what the precision is.
constexpr double kContracted = 1.3;

}  // namespace

void RowBlockLangevin::reset(std::uint64_t seed) noexcept {
  const double start = std::max(given_precision_, layout_.max_nonzeros() / kPredictorVariance);
  if (learns_precision_) {
    precision_.reset(start, least_precision_, most_precision_);
  } else {
    precision_.reset(given_precision_, given_precision_, given_precision_);
  }
  used_columns_ = rows_ = moves_ = 0;
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

void RowBlockLangevin::retain(std::uint64_t seed, std::uint64_t count, float* out,
                              std::size_t stride) noexcept {
  NormalSource random(seed, {count, 0, Purpose::kInitialDraw}, normals_);
  for (std::uint32_t column = 0; column < columns_; ++column) {
    float* theta = theta_of(column);
    if (sums_[column].rows == 0) {
      draw_prior(column, random);
    } else if (learns_precision_ && !is_intercept(column)) {
      const float stretch = precision_.stretch(sums_[column].curvature);
      for (std::uint32_t c = 0; c < chains_; ++c) theta[c] *= stretch;
    }
    std::copy_n(theta, chains_, out + column * stride);
  }
  // Chains that have not contracted yet are large whatever the precision.
  if (learns_precision_) precision_.end(spread_ratio() < kContracted, rows_);
}

void RowBlockLangevin::visit_state(StateVisitor& visitor) noexcept {
  static_assert(sizeof(ColumnSums) == 2 * sizeof(std::uint32_t));
  const auto bits = [&](float* numbers, std::size_t count) {
    visitor.visit(std::span(reinterpret_cast<std::uint32_t*>(numbers), count));
  };
  visitor.section("row blocks");
  visitor.values(used_columns_, rows_, moves_, change_, mean_curvature_, virial_, virial_weights_);
  bits(chains_of_columns_, std::size_t{2} * columns_ * chains_);
  visitor.visit(intercept_force_, chains_);
  bits(residuals_, slots_ * chains_);
  bits(curvature_, slots_);
  visitor.visit(std::span(reinterpret_cast<std::uint32_t*>(sums_), std::size_t{2} * columns_));
  bound_.visit_state(visitor);
  precision_.visit_state(visitor);
}

}  // namespace windhover
