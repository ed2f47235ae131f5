// Where chains begin, what is done before draws are taken, and how far the chains are off.
#include <algorithm>
#include <cmath>
#include <limits>

#include "windhover/samplers/row_blocks/row_block_langevin.h"

namespace windhover {

namespace {

// Chains that spread this much more than their law, or lag this many posterior variances behind it,
// do not tell what the precision is.
constexpr double kContracted = 1.1;
constexpr double kCaughtUp = 0.1;
// As many rows as there are columns that are known from rows, the heaviest, leave the others at
// least this share of all weight.
constexpr double kLeastShare = 0.05;

}  // namespace

// All chains of a column without rows.
void RowBlockLangevin::draw_prior(std::uint32_t column, const RandomPosition& position) noexcept {
  const double sd = 1 / std::sqrt(precision_of(column));
  const std::span<double> normals = normals_.first(chains_);
  fill_normals(seed_, position, normals);
  float* theta = theta_of(column);
  for (std::uint32_t c = 0; c < chains_; ++c) theta[c] = static_cast<float>(sd * normals[c]);
}

double RowBlockLangevin::spread_ratio() const noexcept {
  const bool known = moves_ >= kLeastMoves && chains_ > 1 && virial_weights_ > 0;
  return known ? virial_ / virial_weights_ : std::numeric_limits<double>::quiet_NaN();
}

bool RowBlockLangevin::weights_known() const noexcept {
  if (!has_weights() || rows_ == 0) return true;
  const std::uint64_t heaviest = std::min(static_cast<std::uint64_t>(informed_), rows_ / 2);
  return weights_.share_beyond(heaviest) >= kLeastShare;
}

void RowBlockLangevin::retain(std::uint64_t count) noexcept {
  double squares = 0;
  double weights = 0;
  double unsettled = 0;
  double shared = 0;
  informed_ = 0;
  for (const std::uint32_t column : std::span(met_, met_count_)) {
    float* theta = theta_of(column);
    const ColumnSums& sums = sums_[column];
    if (sums.rows == 0) {
      draw_prior(column, {count * columns_ + column, 0, Purpose::kInitialDraw});
    } else {
      const double precision = precision_of(column);
      const double all = precision + sums.curvature;
      const double share = sums.curvature / all;
      const double weight = share * static_cast<double>(sums.rows);
      unsettled += weight * sums.unsettled;
      const double alone = 1 / (all * spread_of(theta));  // of its variance, were the others known
      shared += share * std::clamp(1 - alone, 0.0, 1.0);
      informed_ += share;
      const double mean = mean_force(column, precision);
      squares += weight * chains_ * mean * mean / all;
      weights += weight;
      if (learns_precision_ && !is_intercept(column)) {
        const float stretch = precision_.stretch(static_cast<float>(sums.curvature));
        for (std::uint32_t c = 0; c < chains_; ++c) theta[c] *= stretch;
      }
    }
  }
  unsettled_ = weights > 0 ? unsettled / weights * shared / informed_ : 0;
  if (weights > 0) lag_ = std::max(0.0, squares / weights - 1) / chains_;
  if (learns_precision_) {
    precision_.end(spread_ratio() < kContracted && lag_ < kCaughtUp, rows_, chains_);
  }
}

void RowBlockLangevin::copy_to(float* out, std::size_t stride) const noexcept {
  for (const std::uint32_t column : std::span(met_, met_count_)) {
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

}  // namespace windhover
