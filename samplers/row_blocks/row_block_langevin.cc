#include "windhover/samplers/row_blocks/row_block_langevin.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/row_blocks/normal_source.h"
#include "windhover/samplers/row_blocks/row_at.h"

namespace windhover {

namespace {

// A step takes at most this share of the way to where the parameter would be if it stood alone.
constexpr float kLongestBlockStep = 0.2F;
// How much of a block's noise the scatter of its gradient may take the place of.
constexpr float kLargestShare = 0.9F;
// How fast the means over moves follow.
constexpr double kNewestMove = 1e-3;
// With weights a step is as long as its row says, and up to so many times longer than that of its
// column is; columns then get half of what scatter allows.
constexpr double kLongestColumnStep = 0.2;
constexpr double kShortestColumnStep = 1e-12;
// Where the curvature of a row with a weight has grown by more than this the step is no longer than
// the row itself allows.
constexpr float kSuddenCurvature = 2;
constexpr double kLongestRowStep = 0.5;
// Curvatures of rows follow every so many moves, by half: they hardly change.
constexpr std::uint64_t kMovesACurvature = 8;
// How far ahead of a step its row, and then what belongs to the row's columns, are fetched.
constexpr std::size_t kRowsAhead = 6;
constexpr std::size_t kColumnsAhead = 2;

}  // namespace

// eps_j of a column with one row, in a row of n columns, as far as scatter bounds it: each column
// may get the n-th part of kLargestShare from it.
double RowBlockLangevin::share_of(std::size_t n) const noexcept {
  return 2 * kLargestShare * mean_curvature_ / (static_cast<double>(n) * change_);
}

void RowBlockLangevin::prefetch_row(const double* row) const noexcept {
  constexpr std::size_t kMostNumbers = 128;  // the rest comes by itself
  const std::size_t numbers = std::min(layout_.stride(), kMostNumbers);
  for (std::size_t i = 0; i < numbers; i += 8) __builtin_prefetch(row + i);
}

void RowBlockLangevin::prefetch(std::uint16_t chain, const RowColumns& row) const noexcept {
  for (std::size_t k = 0; k < row.sparse.count; ++k) {
    const std::uint32_t column = row.sparse.indices[k];
    __builtin_prefetch(theta_of(column) + chain, 1);
    __builtin_prefetch(force_of(column) + chain, 1);
    __builtin_prefetch(sums_ + column);
  }
  if (has_weights()) {
    for (std::size_t k = 0; k < row.sparse.count; ++k) {
      __builtin_prefetch(exact_force_of(row.sparse.indices[k]) + chain, 1);
      weights_.prefetch(row.sparse.indices[k]);
    }
  }
}

void RowBlockLangevin::move(std::uint64_t round, std::uint16_t chain,
                            const RowBatch& batch) noexcept {
  NormalSource random(seed_, {round, chain, Purpose::kInjectedNoise},
                      normals_.first(std::min(normals_.size(), batch.count * block_width())));
  const std::size_t stride = layout_.stride();
  const auto columns_of = [&](std::size_t i) {
    return RowColumns(layout_, has_intercept_, batch.base + batch.slots[i] * stride);
  };
  for (std::size_t i = 0; i < batch.count; ++i) {
    if (i + kRowsAhead < batch.count) {
      prefetch_row(batch.base + batch.slots[i + kRowsAhead] * stride);
    }
    if (i + kColumnsAhead < batch.count) prefetch(chain, columns_of(i + kColumnsAhead));
    if (curvature_[batch.slots[i]] == 0) continue;
    const RowColumns row = columns_of(i);
    const double* normals = random.take(row.count);
    if (has_weights()) {
      step<true>(chain, row, batch.slots[i], normals);
    } else {
      step<false>(chain, row, batch.slots[i], normals);
    }
  }
}

// The row's columns into the block; eta.
double RowBlockLangevin::load(std::uint16_t chain, const RowColumns& row) noexcept {
  const Block& b = block_;
  const std::uint32_t other = chain + 1U < chains_ ? chain + 1U : 0U;
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = row.column(k);
    b.value[k] = static_cast<float>(row.value(k));
    b.theta[k] = theta_of(column)[chain];
    b.apart[k] = b.theta[k] - theta_of(column)[other];
    b.force[k] = force_of(column)[chain];
    b.rows[k] = static_cast<float>(sums_[column].rows);
    b.curvature[k] = static_cast<float>(sums_[column].curvature);
    b.precision[k] = static_cast<float>(precision_.value());
  }
  if (has_intercept_) b.precision[row.count - 1] = static_cast<float>(intercept_precision_);
  double eta = row.offset;
  for (std::size_t k = 0; k < row.count; ++k) eta += double{b.value[k]} * b.theta[k];
  return eta;
}

template <bool kWeights>
void RowBlockLangevin::store(std::uint16_t chain, const RowColumns& row, float before,
                             float residual) noexcept {
  const Block& b = block_;
  if constexpr (kWeights) {
    for (std::size_t k = 0; k < row.count; ++k) {
      const std::uint32_t column = row.column(k);
      theta_of(column)[chain] = b.theta[k];
      Quanta& exact = exact_force_of(column)[chain];
      exact += quanta_of_force(row, k, residual) - quanta_of_force(row, k, before);
      force_of(column)[chain] = force_of_quanta(exact);
    }
    return;
  }
  const float change = residual - before;
  for (std::size_t k = 0; k < row.count; ++k) {
    theta_of(row.column(k))[chain] = b.theta[k];
    force_of(row.column(k))[chain] = b.force[k] + b.value[k] * change;
  }
  if (!has_intercept_) return;
  intercept_force_[chain] += change;
  force_of(columns_ - 1)[chain] = static_cast<float>(intercept_force_[chain]);
}

// eps_j at scale 1 and N_j of a row with a weight, of length `length` (BlockWeights): a column has
// as many rows such as this as weigh what all of its rows do together.
void RowBlockLangevin::work_out_lengths(const RowColumns& row, double length) noexcept {
  const Block& b = block_;
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = row.column(k);
    const double longer = length / weights_.length_of(column);
    const double relative = std::min(longest_step_of(row, k) * longer, kLongestRowStep);
    b.length[k] = static_cast<float>(relative);
    b.rows[k] = static_cast<float>(weights_.weight_of(column) / length);
  }
}

// eps_j at scale 1 of a row that is as long as its column's are.
double RowBlockLangevin::longest_step_of(const RowColumns& row, std::size_t k) const noexcept {
  const std::uint32_t column = row.column(k);
  const double weight = weights_.weight_of(column);
  const double scatter = weight * weight * weights_.scatter_of_column(column);
  const double curvature = double{block_.precision[k]} + block_.curvature[k];
  const double share = kLargestShare * curvature / (static_cast<double>(row.count) * scatter);
  return std::clamp(share, kShortestColumnStep, kLongestColumnStep);
}

// e_j, root of V_jj and scatter of `count` columns, of what has been loaded: eps_j is `length_of`
// k at scale 1; `importance`: of the row's residual.
template <class LengthOf>
void RowBlockLangevin::work_out_steps(std::size_t count, float scale, float importance,
                                      const LengthOf& length_of) noexcept {
  const Block& b = block_;
  for (std::size_t k = 0; k < count; ++k) {
    const float relative = scale * length_of(k);
    b.step[k] = relative / (b.precision[k] + b.curvature[k]);
    b.noise_sd[k] = std::sqrt(b.step[k] * (2 - relative));
    b.scatter[k] = b.step[k] * b.rows[k] * (importance * b.value[k]) / b.noise_sd[k];
  }
}

// Of rows without weights.
void RowBlockLangevin::work_out_steps(std::size_t count, float scale) noexcept {
  const auto share = static_cast<float>(share_of(count));
  const Block& b = block_;
  work_out_steps(count, scale, 1.0F,
                 [&](std::size_t k) { return std::min(kLongestBlockStep, share / b.rows[k]); });
}

template <bool kWeights>
void RowBlockLangevin::step(std::uint16_t chain, const RowColumns& row, std::uint32_t slot,
                            const double* normals) noexcept {
  const Block& b = block_;
  const std::size_t n = row.count;
  const double eta = load(chain, row);
  const RowAt at =
      kWeights ? row_at_of_weight(eta, row.sparse.target) : row_at(eta, row.sparse.target);
  float& kept = residuals_[std::size_t{slot} * chains_ + chain];
  const float before = kept;
  const float change = at.residual - before;
  kept = at.residual;
  const double newest = std::max(kNewestMove, 1.0 / static_cast<double>(++moves_));
  change_ += newest * (double{change} * change - change_);

  const auto scale = static_cast<float>(bound_.scale());
  float importance = 1;
  auto square = static_cast<float>(change_);
  if constexpr (kWeights) {
    const double length = weights_.length_of(row, slot);
    work_out_lengths(row, length);
    importance = static_cast<float>(length);
    square = weights_.scatter_of(slot);
    work_out_steps(n, scale, importance, [&](std::size_t k) { return b.length[k]; });
  } else {
    work_out_steps(n, scale);
  }
  float scattered = 0;
  float along = 0;
  for (std::size_t k = 0; k < n; ++k) {
    b.normal[k] = static_cast<float>(normals[k]);
    scattered += b.scatter[k] * b.scatter[k];
    along += b.scatter[k] * b.normal[k];
  }
  scattered *= square;
  // Values far beyond those that their columns have elsewhere: the whole step is shorter.
  float shorter = scattered > kLargestShare ? kLargestShare / scattered : 1;
  const bool sudden = kWeights && at.curvature > kSuddenCurvature * curvature_[slot];
  if (sudden) shorter = std::min(shorter, longest_alone(row, at.curvature));
  const float taken =
      scattered > 0 ? (1 - std::sqrt(1 - shorter * scattered)) * square / scattered * along : 0;
  const float root = std::sqrt(shorter);
  const float moved = importance * change;
  if (learns_precision_) learn_precision(row.sparse.count, moved);
  float virial = 0;
  float weights = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const float gradient =
        b.precision[k] * b.theta[k] + b.force[k] + b.rows[k] * b.value[k] * moved;
    const float informed = b.curvature[k] / (b.precision[k] + b.curvature[k]) / b.rows[k];
    weights += informed;
    virial += informed * b.apart[k] * gradient;
    b.theta[k] += root * b.noise_sd[k] * (b.normal[k] - taken * b.scatter[k]) -
                  shorter * b.step[k] * gradient;
  }
  store<kWeights>(chain, row, before, at.residual);
  if constexpr (kWeights) weights_.follow_scatter(row, slot, change * change);
  const double of_half_a_pass = 2.0 / (static_cast<double>(rows_) * chains_);
  const double part = std::clamp(of_half_a_pass, 1.0 / static_cast<double>(moves_), newest);
  virial_ += part * (double{virial} - virial_);
  virial_weights_ += part * (double{weights} - virial_weights_);
  if (sudden) follow_curvature(row, slot, at.curvature, 1);
  if (moves_ % kMovesACurvature == 0) {
    settle(row, shorter);
    mean_curvature_ += kMovesACurvature * kNewestMove *
                       (follow_curvature(row, slot, at.curvature, 0.5F) - mean_curvature_);
  }
}

// The columns of a step have gone so much of the way to where their prior has them.
void RowBlockLangevin::settle(const RowColumns& row, float shorter) noexcept {
  const Block& b = block_;
  const float moves = shorter * static_cast<float>(kMovesACurvature) / static_cast<float>(chains_);
  for (std::size_t k = 0; k < row.count; ++k) {
    sums_[row.column(k)].unsettled /= 1 + moves * b.step[k] * b.precision[k];
  }
}

void RowBlockLangevin::follow_bound(const double* row_in_place, std::uint32_t slot) noexcept {
  if (curvature_[slot] == 0) return;
  const RowColumns row(layout_, has_intercept_, row_in_place);
  load(0, row);
  if (has_weights()) {
    work_out_steps(row.count, 1, 1,
                   [&](std::size_t k) { return static_cast<float>(longest_step_of(row, k)); });
  } else {
    work_out_steps(row.count, 1);
  }
  const double curvature = row.weight * curvature_[slot];
  bound_.add(row, curvature, block_.step, block_.precision, rows_);
}

}  // namespace windhover
