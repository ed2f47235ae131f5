#include "windhover/samplers/row_blocks/row_block_langevin.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/row_blocks/chain_kernels.h"
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
// Curvatures of rows follow every so many moves: they hardly change.
constexpr std::uint64_t kMovesACurvature = 4;
// How far ahead of a step its row, and then what belongs to the row's columns, are fetched.
constexpr std::size_t kRowsAhead = 6;
constexpr std::size_t kColumnsAhead = 2;

// Those that have another one to be compared with.
double compared_chains(std::uint32_t chains) noexcept {
  return chains % kChainLanes == 1 ? chains - 1 : chains;
}

}  // namespace

// eps_j of a column with one row, in a row of n columns, as far as scatter bounds it: each column
// may get the n-th part of kLargestShare from it.
double RowBlockLangevin::share_of(std::size_t n) const noexcept {
  return 2 * kLargestShare * mean_curvature_ / (static_cast<double>(n) * change_);
}

void RowBlockLangevin::move(std::uint64_t round, const RowBatch& batch) noexcept {
  NormalSource random(seed_, {round, 0, Purpose::kInjectedNoise}, normals_,
                      batch.count * block_width() * chains_);
  const auto row_of = [&](std::size_t i) { return batch.base + batch.slots[i] * layout_.stride(); };
  for (std::size_t i = 0; i < batch.count; ++i) {
    if (i + kRowsAhead < batch.count) fetch(row_of(i + kRowsAhead));
    if (i + kColumnsAhead < batch.count) fetch_columns(row_of(i + kColumnsAhead));
    if (curvature_[batch.slots[i]] == 0) continue;
    const RowColumns row(layout_, has_intercept_, row_of(i));
    const float* normals = random.take(row.count * chains_);
    if (has_weights()) {
      step<true>(row, batch.slots[i], normals);
    } else {
      step<false>(row, batch.slots[i], normals);
    }
  }
}

// What the chains keep of the row now, and what that has changed by.
template <bool kWeights>
RowBlockLangevin::Looked RowBlockLangevin::look(const RowColumns& row,
                                                std::uint32_t slot) noexcept {
  const StepBlock& b = block_;
  float* kept = residuals_ + std::size_t{slot} * chains_;
  Looked looked{0, 0, 0};
  float squares = 0;
  for (std::uint32_t c = 0; c < chains_; ++c) {
    const double target = row.sparse.target;
    const RowAt at = kWeights ? row_at_of_weight(b.eta[c], target) : row_at(b.eta[c], target);
    b.before[c] = kept[c];
    b.change[c] = at.residual - kept[c];
    b.after[c] = kept[c] = at.residual;
    squares += b.change[c] * b.change[c];
    looked.curvature += at.curvature;
    looked.largest = std::max(looked.largest, at.curvature);
  }
  looked.square = squares / static_cast<float>(chains_);
  looked.curvature /= static_cast<float>(chains_);
  return looked;
}

// eps_j at scale 1 and N_j of a row with a weight, of length `length` (BlockWeights): a column has
// as many rows such as this as weigh what all of its rows do together.
void RowBlockLangevin::work_out_lengths(const RowColumns& row, double length) noexcept {
  const StepBlock& b = block_;
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
  const StepBlock& b = block_;
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
  const StepBlock& b = block_;
  work_out_steps(count, scale, 1.0F,
                 [&](std::size_t k) { return std::min(kLongestBlockStep, share / b.rows[k]); });
}

template <bool kWeights>
void RowBlockLangevin::step(const RowColumns& row, std::uint32_t slot,
                            const float* normals) noexcept {
  const StepBlock& b = block_;
  const std::size_t n = row.count;
  load(row);
  predict(row);
  const Looked looked = look<kWeights>(row, slot);
  moves_ += chains_;
  change_ += newest() * (double{looked.square} - change_);

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
  for (std::size_t k = 0; k < n; ++k) scattered += b.scatter[k] * b.scatter[k];
  scattered *= square;
  // Values far beyond those that their columns have elsewhere: the whole step is shorter.
  float shorter = scattered > kLargestShare ? kLargestShare / scattered : 1;
  const bool sudden = kWeights && looked.largest > kSuddenCurvature * curvature_[slot];
  if (sudden) shorter = std::min(shorter, longest_alone(row, looked.largest));
  const float taken =
      scattered > 0 ? (1 - std::sqrt(1 - shorter * scattered)) * square / scattered : 0;
  if (shorter < 1) shorten(n, shorter);
  chain_kernels().project(b.scatter, normals, n, chains_, b.taken);
  for (std::uint32_t c = 0; c < chains_; ++c) {
    b.taken[c] *= taken;
    b.moved[c] = importance * b.change[c];
  }
  take(row, normals);
  if (sudden) follow_curvature(row, slot, looked.largest, 1);
  if constexpr (kWeights) weights_.follow_scatter(row, slot, looked.square, chains_);
  if (moves_ / chains_ % kMovesACurvature == 0) {
    settle(row);
    // A mean of many chains is known better than one of few.
    const float share = static_cast<float>(chains_) / static_cast<float>(chains_ + 1);
    const double newest = std::min(0.5, kMovesACurvature * this->newest());
    mean_curvature_ +=
        newest * (follow_curvature(row, slot, looked.curvature, share) - mean_curvature_);
  }
}

// The part of the move of all chains that just was in means over recent moves.
double RowBlockLangevin::newest() const noexcept {
  return std::min(1.0, chains_ * std::max(kNewestMove, 1.0 / static_cast<double>(moves_)));
}

void RowBlockLangevin::shorten(std::size_t count, float shorter) noexcept {
  const float root = std::sqrt(shorter);
  for (std::size_t k = 0; k < count; ++k) {
    block_.step[k] *= shorter;
    block_.noise_sd[k] *= root;
  }
}

// The step that has been worked out, and what is said of it.
void RowBlockLangevin::take(const RowColumns& row, const float* normals) noexcept {
  const StepBlock& b = block_;
  float weights = 0;
  float information = 0;
  float learned = 0;
  for (std::size_t k = 0; k < row.count; ++k) {
    const float share = b.curvature[k] / (b.precision[k] + b.curvature[k]);
    b.repeats[k] = b.rows[k] * b.value[k];
    b.informed[k] = share / b.rows[k];
    const bool learns = learns_precision_ && k < row.sparse.count;
    b.learned[k] = learns ? b.informed[k] : 0;
    b.per_row[k] = learns ? 1 / b.rows[k] : 0;
    weights += b.informed[k];
    information += share * b.learned[k];
    learned += b.learned[k];
  }
  const ChainSums sums =
      chain_kernels().step({b.theta, b.value, b.precision, b.repeats, b.step, b.noise_sd, b.scatter,
                            b.informed, b.learned, b.per_row, row.count},
                           normals, b.taken, b.moved, has_weights() ? b.none : b.change, chains_);
  if (has_weights()) {
    store_exactly(row);
  } else if (has_intercept_) {
    float* force = force_of(columns_ - 1);
    for (std::uint32_t c = 0; c < chains_; ++c) {
      intercept_force_[c] += b.change[c];
      force[c] = static_cast<float>(intercept_force_[c]);
    }
  }
  const double chains = chains_;
  const double of_half_a_pass = 2.0 / static_cast<double>(rows_);
  const double most = newest();
  const double least = std::min(most, chains / static_cast<double>(moves_));
  const double part = std::clamp(of_half_a_pass, least, most);
  virial_ += part * (sums.apart / chains - virial_);
  virial_weights_ += part * (weights * compared_chains(chains_) / chains - virial_weights_);
  if (!learns_precision_) return;
  precision_.add({sums.slope, chains * information, sums.own, chains * learned}, chains_);
}

// G of a row with a weight, whose residuals of before and of now are known: what each of them
// brings is added and taken out to the bit.
void RowBlockLangevin::store_exactly(const RowColumns& row) noexcept {
  const StepBlock& b = block_;
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = row.column(k);
    Quanta* exact = exact_force_of(column);
    float* force = force_of(column);
    const double scale = row.weight * row.value(k) * force_quanta_;
    for (std::uint32_t c = 0; c < chains_; ++c) {
      exact[c] += quanta_of(scale * b.after[c]) - quanta_of(scale * b.before[c]);
      force[c] = force_of_quanta(exact[c]);
    }
  }
}

// The columns of a step have gone so much of the way to where their prior has them.
void RowBlockLangevin::settle(const RowColumns& row) noexcept {
  const StepBlock& b = block_;
  constexpr float kMoves = kMovesACurvature;
  for (std::size_t k = 0; k < row.count; ++k) {
    sums_[row.column(k)].unsettled /= 1 + kMoves * b.step[k] * b.precision[k];
  }
}

void RowBlockLangevin::follow_bound(const double* row_in_place, std::uint32_t slot) noexcept {
  if (curvature_[slot] == 0) return;
  const RowColumns row(layout_, has_intercept_, row_in_place);
  load(row);
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
