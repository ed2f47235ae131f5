// Where chains begin, what is done before draws are taken, and how far the chains are off.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "windhover/samplers/row_blocks/chain_kernels.h"
#include "windhover/samplers/row_blocks/normal_source.h"
#include "windhover/samplers/row_blocks/row_block_langevin.h"

namespace windhover {

namespace {

// Chains that spread this much more than their law, or lag this many posterior variances behind it,
// do not tell what the precision is.
constexpr double kContracted = 1.1;
constexpr double kCaughtUp = 0.1;
// Where at least one column in so many has had a row all of them are looked at, in their order:
// what lies side by side is read three times as fast.
constexpr std::uint32_t kScanned = 4;
// As many rows as there are columns that are known from rows, the heaviest, leave the others at
// least this share of all weight.
constexpr double kLeastShare = 0.05;

}  // namespace

// All chains of a column without rows.
void RowBlockLangevin::draw_prior(std::uint32_t column, const RandomPosition& position) noexcept {
  const double sd = 1 / std::sqrt(precision_of(column));
  NormalSource random(seed_, position, normals_, chains_);
  const float* normals = random.take(chains_);
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

// use(columns) of those that have had a row, some at a time.
template <class Use>
void RowBlockLangevin::for_met_columns(const Use& use) const noexcept {
  std::array<std::uint32_t, kSurveyedColumns> columns;
  std::size_t count = 0;
  const auto add = [&](std::uint32_t column) {
    columns[count++] = column;
    if (count < kSurveyedColumns) return;
    use(std::span<const std::uint32_t>(columns));
    count = 0;
  };
  if (met_count_ >= columns_ / kScanned) {
    for (std::uint32_t column = 0; column < columns_; ++column) {
      if (!std::isnan(*theta_of(column))) add(column);
    }
  } else {
    for (const std::uint32_t column : std::span(met_, met_count_)) {
      __builtin_prefetch(theta_of(column));
      __builtin_prefetch(sums_ + column);
      add(column);
    }
  }
  if (count > 0) use(std::span<const std::uint32_t>(columns).first(count));
}

void RowBlockLangevin::retain() noexcept {
  if (precision_.changed()) stretch();
  ColumnSurvey all{0, 0, 0, 0, 0};
  for_met_columns([&](std::span<const std::uint32_t> columns) {
    std::array<const float*, kSurveyedColumns> theta;
    std::array<float, kSurveyedColumns> precision;
    std::array<float, kSurveyedColumns> curvature;
    std::array<float, kSurveyedColumns> rows;
    std::array<float, kSurveyedColumns> unsettled;
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const ColumnSums& sums = sums_[columns[j]];
      theta[j] = theta_of(columns[j]);
      precision[j] = static_cast<float>(precision_of(columns[j]));
      curvature[j] = static_cast<float>(sums.curvature);  // 0 without rows, and nothing counts
      rows[j] = static_cast<float>(sums.rows);
      unsettled[j] = sums.unsettled;
    }
    const ColumnSurvey some =
        chain_kernels().survey(theta.data(), precision.data(), curvature.data(), rows.data(),
                               unsettled.data(), columns.size(), chains_);
    all.weights += some.weights;
    all.squares += some.squares;
    all.unsettled += some.unsettled;
    all.informed += some.informed;
    all.shared += some.shared;
  });
  informed_ = all.informed;
  unsettled_ = all.weights > 0 ? all.unsettled / all.weights * all.shared / informed_ : 0;
  if (all.weights > 0) lag_ = std::max(0.0, all.squares * chains_ / all.weights - 1) / chains_;
  if (learns_precision_) {
    precision_.end(spread_ratio() < kContracted && lag_ < kCaughtUp, rows_, chains_);
  }
}

// Chains of the columns that the prior holds, as its precision has changed.
void RowBlockLangevin::stretch() noexcept {
  for (const std::uint32_t column : std::span(met_, met_count_)) {
    if (is_intercept(column)) continue;
    const float stretch = precision_.stretch(static_cast<float>(sums_[column].curvature));
    float* theta = theta_of(column);
    for (std::uint32_t c = 0; c < chains_; ++c) theta[c] *= stretch;
  }
}

void RowBlockLangevin::copy_to(float* out, std::size_t stride) const noexcept {
  for_met_columns([&](std::span<const std::uint32_t> columns) {
    for (const std::uint32_t column : columns) __builtin_prefetch(out + column * stride, 1);
    for (const std::uint32_t column : columns) {
      float* to = out + column * stride;
      if (sums_[column].rows > 0) {
        std::copy_n(theta_of(column), chains_, to);
      } else {
        *to = std::numeric_limits<float>::quiet_NaN();
      }
    }
  });
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
