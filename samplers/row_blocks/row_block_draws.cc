// Where chains begin, what is done before draws are taken, and how far the chains are off.
//
// The chains of a column begin as draws from the prior, at its first row; but of numbers, of which
// such a draw may be a thousand times too far off, as draws from what that row then leaves of it,
// all other columns as they are. Directions that the rows say nothing about keep its law for ever,
// and what has not been reached yet is too wide, not too narrow.
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
// As many rows as there are columns that are known from rows, the heaviest, leave the others at
// least this share of all weight.
constexpr double kLeastShare = 0.05;
// Newton's method: steps at most, and how near it comes, in squares of the posterior's sd.
constexpr int kMostNewton = 40;
constexpr double kNear = 1e-4;

}  // namespace

// All chains of a column without rows.
void RowBlockLangevin::draw_prior(std::uint32_t column, const RandomPosition& position) noexcept {
  const double sd = 1 / std::sqrt(precision_of(column));
  NormalSource random(seed_, position, normals_, chains_, chains_);
  const float* normals = random.take(chains_);
  float* theta = positions_.theta(column);
  for (std::uint32_t c = 0; c < chains_; ++c) theta[c] = static_cast<float>(sd * normals[c]);
}

// Columns that no other row is of: of each chain their draw from the prior becomes one from what
// the row leaves of it where all others stay. The variance that their part of it had, over the
// dispersion; 0 where there are none.
double RowBlockLangevin::draw_new_columns(const RowColumns& row) noexcept {
  const auto is_new = [&](std::size_t k) { return sums_[row.column(k)].rows == 0; };
  const auto variance_of = [&](std::size_t k) { return row.value(k) / pull_of(row.column(k)); };
  double variance = 0;
  for (std::size_t k = 0; k < row.count; ++k) {
    if (is_new(k)) variance += row.value(k) * variance_of(k);
  }
  if (variance == 0) return 0;
  for (std::uint32_t c = 0; c < chains_; ++c) {
    double drawn = 0;
    double others = row.offset;
    for (std::size_t k = 0; k < row.count; ++k) {
      (is_new(k) ? drawn : others) += row.value(k) * positions_.theta(row.column(k))[c];
    }
    const double moved = new_part(row, others, drawn, variance) - drawn;
    for (std::size_t k = 0; k < row.count; ++k) {
      if (!is_new(k)) continue;
      positions_.theta(row.column(k))[c] += static_cast<float>(variance_of(k) / variance * moved);
    }
  }
  return variance;
}

// A part of a row's linear predictor, drawn from the prior, which gives it this variance, over the
// dispersion; the others come to `others`. In its place: where -log of what the row leaves of the
// prior is as far above its least, on the same side, as it was before the row (the signed root of
// the likelihood ratio, which is normal to first order: Barndorff-Nielsen 1986).
double RowBlockLangevin::new_part(const RowColumns& row, double others, double drawn,
                                  double variance) const noexcept {
  const double y = row.target;
  const auto at = [&](double part) { return likelihood_.at(others + part, y); };
  const auto height = [&](double part) {
    return 0.5 * part * part / variance + row.weight * likelihood_.loss(others + part, y);
  };
  double mode = 0;
  for (int step = 0; step < kMostNewton; ++step) {
    const RowAt here = at(mode);
    const double curvature = 1 / variance + row.weight * here.curvature;
    const double change = (mode / variance + row.weight * here.residual) / curvature;
    mode -= change;
    if (change * change * curvature < kNear * dispersion_.value()) break;
  }
  // The prior alone is no higher anywhere: from out there Newton's steps stay outside.
  const double wanted = height(mode) + 0.5 * drawn * drawn / variance;
  double part = mode + drawn;
  for (int step = 0; step < kMostNewton; ++step) {
    const double above = height(part) - wanted;
    const double slope = part / variance + row.weight * at(part).residual;
    if (!(above > kNear * dispersion_.value()) || !(slope * drawn > 0)) break;
    part -= above / slope;
  }
  return part;
}

bool RowBlockLangevin::weights_known() const noexcept {
  if (!weighs_rows() || rows_ == 0) return true;
  const std::uint64_t heaviest = std::min(static_cast<std::uint64_t>(survey_.informed), rows_ / 2);
  return weights_.share_beyond(heaviest) >= kLeastShare;
}

// How far chains are off, and what rows know, on average over the columns.
void RowBlockLangevin::survey() noexcept {
  const auto dispersion = static_cast<float>(dispersion_.value());
  ColumnSurvey all{0, 0, 0, 0, 0};
  double held_by_prior = 0;
  const auto fetch = [&](std::uint32_t column) { __builtin_prefetch(sums_ + column); };
  positions_.for_met(fetch, [&](std::span<const std::uint32_t> columns) {
    std::array<const float*, kSurveyedColumns> theta;
    std::array<float, kSurveyedColumns> precision;
    std::array<float, kSurveyedColumns> curvature;
    std::array<float, kSurveyedColumns> rows;
    std::array<float, kSurveyedColumns> unsettled;
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const ColumnSums& sums = sums_[columns[j]];
      theta[j] = positions_.theta(columns[j]);
      precision[j] = static_cast<float>(pull_of(columns[j]));
      curvature[j] = static_cast<float>(sums.curvature);  // 0 without rows, and nothing counts
      rows[j] = static_cast<float>(sums.rows);
      unsettled[j] = sums.unsettled;
      const double of_prior = precision_of(columns[j]) * dispersion_.value();
      held_by_prior += of_prior / (pull_of(columns[j]) + sums.curvature);
    }
    const ColumnSurvey some =
        chain_kernels().survey(theta.data(), precision.data(), curvature.data(), rows.data(),
                               unsettled.data(), columns.size(), chains_, dispersion);
    all.weights += some.weights;
    all.squares += some.squares;
    all.unsettled += some.unsettled;
    all.informed += some.informed;
    all.shared += some.shared;
  });
  survey_.informed = all.informed;
  survey_.held_by_prior = held_by_prior;
  survey_.unsettled =
      all.weights > 0 ? all.unsettled / all.weights * all.shared / survey_.informed : 0;
  const double own = chains_ > 1 ? 0 : 1;  // of a chain alone
  if (all.weights > 0) survey_.lag = std::max(0.0, all.squares / all.weights - own);
}

void RowBlockLangevin::retain() noexcept {
  if (precision_.changed() && past_.worth() == 0) stretch();
  survey();
  if (dispersion_.learned()) {
    const double weight = weights_.mean() * static_cast<double>(rows_ + aside_);
    dispersion_.end(rows_, weight, chains_, survey_.informed);
    likelihood_.set_dispersion(dispersion_.value());
  }
  if (!learns_precision_) return;
  if (columns_have_few_rows()) {
    follow_precision();
  } else if (past_.worth() == 0) {
    precision_.expect(start_of_precision(mean_nonzeros()));
    precision_.end(spread_ratio() < kContracted && survey_.lag < kCaughtUp, rows_, chains_);
  }
}

void RowBlockLangevin::copy_to(float* out, std::size_t stride) const noexcept {
  const auto scale = static_cast<float>(units().scale);
  const auto fetch = [&](std::uint32_t column) { __builtin_prefetch(sums_ + column); };
  positions_.for_met(fetch, [&](std::span<const std::uint32_t> columns) {
    chain_kernels().copy(positions_.first(), columns.data(), columns.size(), chains_, scale, out,
                         stride);
    for (const std::uint32_t column : columns) {
      if (sums_[column].rows > 0) continue;
      float* to = out + column * stride;
      if (past_.kept()) {
        copy_past(column, to);
      } else {
        *to = std::numeric_limits<float>::quiet_NaN();
      }
    }
  });
  const double shift = units().shift;
  if (!positions_.has_intercept() || shift == 0) return;
  float* intercept = out + std::size_t{positions_.intercept()} * stride;
  for (std::uint32_t c = 0; c < chains_; ++c) {
    intercept[c] = static_cast<float>(intercept[c] + shift);
  }
}

// dispersion x dU/dtheta of a column, of the chains together.
double RowBlockLangevin::mean_force(std::uint32_t column, double precision) const noexcept {
  const float* theta = positions_.theta(column);
  const float* force = positions_.force(column);
  double sum = 0;
  for (std::uint32_t c = 0; c < chains_; ++c) sum += precision * theta[c] + force[c];
  return sum / chains_;
}

}  // namespace windhover
