#include "windhover/samplers/row_blocks/row_block_langevin.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/row_blocks/chain_kernels.h"
#include "windhover/samplers/row_blocks/normal_source.h"

namespace windhover {

namespace {

// Where the curvature of a row with a weight has grown by more than this the step is no longer than
// the row itself allows.
constexpr float kSuddenCurvature = 2;
// How far ahead of a step its row, and then what belongs to the row's columns, are fetched.
constexpr std::size_t kRowsAhead = 6;
constexpr std::size_t kColumnsAhead = 2;

// Mean square of what a row's residual changes by, at a linear predictor of this curvature.
float scatter_at(float scatter, double most, float curvature) noexcept {
  return static_cast<float>(std::min<double>(scatter, double{curvature} * curvature * most));
}

// Of the normals along the scatter, whose entries have squares of this sum where `square` is 1:
// what it takes the place of in a step that is so much shorter.
float taken_of(float square, float squares, float shorter) noexcept {
  const float scattered = squares * square;
  return scattered > 0 ? (1 - std::sqrt(1 - shorter * scattered)) * square / scattered : 0;
}

}  // namespace

void RowBlockLangevin::move(std::uint64_t round, const RowBatch& batch) noexcept {
  NormalSource random(seed_, {round, 0, Purpose::kInjectedNoise}, normals_,
                      batch.count * block_width() * chains_, chains_);
  const auto row_of = [&](std::size_t i) { return batch.base + batch.slots[i] * layout_.stride(); };
  for (std::size_t i = 0; i < batch.count; ++i) {
    if (i + kRowsAhead < batch.count) fetch(row_of(i + kRowsAhead), batch.slots[i + kRowsAhead]);
    if (i + kColumnsAhead < batch.count) fetch_columns(row_of(i + kColumnsAhead));
    if (kept_.is_aside(batch.slots[i])) continue;
    const RowColumns row = columns_of_row(row_of(i));
    const float* normals = random.take(row.count * chains_);
    if (weighs_rows()) {
      step<true>(row, batch.slots[i], normals);
    } else {
      step<false>(row, batch.slots[i], normals);
    }
  }
  fetched_all();
}

// What the chains keep of the row now, and what that has changed by.
RowBlockLangevin::Looked RowBlockLangevin::look(const RowColumns& row,
                                                std::uint32_t slot) noexcept {
  const StepBlock& b = block_;
  float* kept = kept_.residuals(slot);
  Looked looked{0, respond(row, 0, b.after, b.bent).curvature, 0};
  float squares = 0;
  for (std::uint32_t c = 0; c < chains_; ++c) {
    b.before[c] = kept[c];
    b.change[c] = b.after[c] - kept[c];
    kept[c] = b.after[c];
    squares += b.change[c] * b.change[c];
    looked.largest = std::max(looked.largest, b.bent[c]);
  }
  looked.square = squares / static_cast<float>(chains_);
  return looked;
}

template <bool kWeights>
void RowBlockLangevin::step(const RowColumns& row, std::uint32_t slot,
                            const float* normals) noexcept {
  const StepBlock& b = block_;
  const std::size_t n = row.count;
  load(row);
  predict(row);
  const Looked looked = look(row, slot);
  if (kWeights && dispersion_.learned()) look_at_noise(row, slot);
  recent_.add(double{looked.square});

  fetch_some();
  const auto scale = static_cast<float>(bound_.scale());
  float importance = 1;
  auto square = static_cast<float>(recent_.change());
  if constexpr (kWeights) {
    const double length = weights_.length_of(row, slot);
    importance = static_cast<float>(length);
    const double most = most_scatter(row);
    square = scatter_at(weights_.scatter_of(slot), most, looked.largest);
    work_out_lengths(row, length, most);
  } else {
    work_out_lengths(n);
  }
  const StepSums sums = chain_kernels().steps(
      {b.value, b.rows, b.precision, b.curvature, b.length, b.step, b.noise_sd, b.scatter,
       b.repeats, b.informed},
      StepBlock::padded(n), scale, importance, static_cast<float>(dispersion_.value()));
  const float squares = static_cast<float>(sums.squares);
  const float scattered = squares * square;
  // Values far beyond those that their columns have elsewhere: the whole step is shorter.
  float shorter = scattered > kLargestShare ? kLargestShare / scattered : 1;
  const bool sudden = kWeights && looked.largest > kSuddenCurvature * kept_.curvature(slot);
  if (sudden) shorter = std::min(shorter, longest_alone(row, looked.largest));
  if (shorter < 1) shorten(n, shorter);
  fetch_some();
  chain_kernels().project(b.scatter, normals, n, chains_, b.taken);
  const float taken = taken_of(square, squares, shorter);
  for (std::uint32_t c = 0; c < chains_; ++c) {
    b.taken[c] *= taken;
    b.moved[c] = importance * b.change[c];
  }
  fetch_some();
  take(row, normals, sums.weights);
  if (sudden) follow_curvature(row, slot, looked.largest, 1);
  if constexpr (kWeights) weights_.follow_scatter(row, slot, looked.square, chains_);
  if (recent_.curvature_due()) {
    settle(row);
    follow_relevance(row);
    // A mean of many chains is known better than one of few.
    const float share = static_cast<float>(chains_) / static_cast<float>(chains_ + 1);
    recent_.add_curvature(double{follow_curvature(row, slot, looked.curvature, share)});
  }
}

// The step that has been worked out, and what is said of it, in which its columns count for so much
// together.
void RowBlockLangevin::take(const RowColumns& row, const float* normals, double weights) noexcept {
  const StepBlock& b = block_;
  double information = 0;
  double learned = 0;
  for (std::size_t k = 0; learns_precision_ && k < row.count; ++k) {
    const bool learns = k < row.sparse.count;
    b.learned[k] = learns ? b.informed[k] : 0;
    b.per_row[k] = learns ? 1 / b.rows[k] : 0;
    information += double{b.informed[k] * b.rows[k] * b.learned[k]};
    learned += double{b.learned[k]};
  }
  const ChainSums sums =
      chain_kernels().step({b.theta, b.value, b.precision, b.repeats, b.step, b.noise_sd, b.scatter,
                            b.informed, b.learned, b.per_row, row.count},
                           normals, b.taken, b.moved, weighs_rows() ? b.none : b.change, chains_);
  if (weighs_rows()) {
    store_exactly(row);
  } else if (positions_.has_intercept()) {
    positions_.add_to_intercept(b.change);
  }
  const double chains = chains_;
  const double dispersion = dispersion_.value();
  recent_.add_virial(sums.apart, dispersion, weights, rows_);
  if (!learns_precision_) return;
  precision_.add(
      {sums.slope / dispersion, chains * information, sums.own / dispersion, chains * learned},
      chains_);
}

// G of a row with a weight, whose residuals of before and of now are known: what each of them
// brings is added and taken out to the bit.
void RowBlockLangevin::store_exactly(const RowColumns& row) noexcept {
  const StepBlock& b = block_;
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = row.column(k);
    float* force = positions_.force(column);
    const double scale = exact_.in_quanta(row.weight * row.value(k));
    for (std::uint32_t c = 0; c < chains_; ++c) {
      const Quanta more = quanta_of(scale * b.after[c]) - quanta_of(scale * b.before[c]);
      force[c] = exact_.add(column, c, more);
    }
  }
}

// What the chains that have looked at the row say of the dispersion.
void RowBlockLangevin::look_at_noise(const RowColumns& row, std::uint32_t slot) noexcept {
  const StepBlock& b = block_;
  const double length = weights_.length_of(row, slot);
  const auto rows = static_cast<double>(rows_);
  if (!is_normal(likelihood_.response())) {
    double squares = 0;
    for (std::uint32_t c = 0; c < chains_; ++c) {
      squares += likelihood_.square(b.eta[c], row.target, b.after[c]);
    }
    return dispersion_.look(length, squares, rows, chains_);
  }
  dispersion_.look_again(row.weight, length, squares_of(b.before), squares_of(b.after), rows,
                         chains_);
  if (chains_ == 1) return;
  dispersion_.add_variance(length, double{spread_of(b.after)});
}

// The columns of a step have gone so much of the way to where their prior has them.
void RowBlockLangevin::settle(const RowColumns& row) noexcept {
  const StepBlock& b = block_;
  constexpr float kMoves = RecentMoves::kMovesACurvature;
  for (std::size_t k = 0; k < row.count; ++k) {
    sums_[b.column[k]].unsettled /= 1 + kMoves * b.step[k] * b.precision[k];
  }
}

}  // namespace windhover
