#include "windhover/samplers/row_blocks/row_block_langevin.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/row_blocks/chain_kernels.h"
#include "windhover/samplers/row_blocks/normal_source.h"

namespace windhover {

namespace {

// Where the curvature of a row with a weight has grown by more than this factor, the row itself
// also bounds the step.
constexpr float kSuddenCurvature = 2;
// How many rows ahead of a step a row is fetched, and then what belongs to its columns.
constexpr std::size_t kRowsAhead = 6;
constexpr std::size_t kColumnsAhead = 2;

// The mean square by which a row's residual changes: its scatter, or what the variance `most` of
// eta makes of it at this curvature, if that is less.
float scatter_at(float scatter, double most, float curvature) noexcept {
  return static_cast<float>(std::min<double>(scatter, double{curvature} * curvature * most));
}

// How much of the normals along the scatter it replaces, in a step that is `shorter` times as long.
// `squares` is the sum of the scatter's squared entries where `square` is 1.
float taken_of(float square, float squares, float shorter) noexcept {
  const float scattered = squares * square;
  return scattered > 0 ? (1 - std::sqrt(1 - shorter * scattered)) * square / scattered : 0;
}

}  // namespace

RowBlockLangevin::RowBlockLangevin(Arena& arena, const ModelConfig& model, std::uint32_t chains,
                                   std::uint64_t slots, std::uint64_t seed,
                                   std::uint64_t past) noexcept
    : parts_(arena, model, chains, slots, seed, past),
      new_columns_(parts_),
      translation_(parts_),
      condenser_(parts_),
      prior_learner_(parts_, static_cast<double>(std::max(slots, past))),
      steps_(arena, model.columns(), parts_) {}

void RowBlockLangevin::reset() noexcept {
  parts_.reset();
  prior_learner_.reset();
  steps_.reset();
  survey_ = {};
}

void RowBlockLangevin::move(std::uint64_t round, const RowBatch& batch) noexcept {
  NormalSource random(parts_.seed, {round, 0, Purpose::kInjectedNoise}, parts_.normals,
                      batch.count * (std::size_t{parts_.layout.max_nonzeros()} + 1) * parts_.chains,
                      parts_.chains);
  const auto row_of = [&](std::size_t i) {
    return batch.base + batch.slots[i] * parts_.layout.stride();
  };
  for (std::size_t i = 0; i < batch.count; ++i) {
    if (i + kRowsAhead < batch.count)
      parts_.ahead.fetch(row_of(i + kRowsAhead), batch.slots[i + kRowsAhead]);
    if (i + kColumnsAhead < batch.count) parts_.ahead.fetch_columns(row_of(i + kColumnsAhead));
    if (parts_.kept.is_aside(batch.slots[i])) continue;
    const RowColumns row = parts_.columns_of(row_of(i));
    const float* normals = random.take(row.count * parts_.chains);
    if (parts_.weighs_rows()) {
      step<true>(row, batch.slots[i], normals);
    } else {
      step<false>(row, batch.slots[i], normals);
    }
  }
  parts_.ahead.forget();
}

template <bool kWeights>
void RowBlockLangevin::step(const RowColumns& row, std::uint32_t slot,
                            const float* normals) noexcept {
  const StepBlock& b = parts_.gathered.block();
  const std::size_t n = row.count;
  parts_.gathered.load(row);
  parts_.gathered.predict(row);
  const GatheredRow::Looked looked = parts_.gathered.look(row, slot);
  if (kWeights && parts_.noise.dispersion().learned()) {
    parts_.noise.look(row, parts_.weights.length_of(row, slot), b, parts_.rows.count);
  }
  parts_.recent.add(double{looked.square});

  parts_.ahead.fetch_some();
  const auto scale = static_cast<float>(steps_.bound().scale());
  float importance = 1;
  auto square = static_cast<float>(parts_.recent.change());
  if constexpr (kWeights) {
    const double length = parts_.weights.length_of(row, slot);
    importance = static_cast<float>(length);
    const double most = steps_.most_scatter(row);
    square = scatter_at(parts_.weights.scatter_of(slot), most, looked.largest);
    steps_.work_out(row, length, most);
  } else {
    steps_.work_out(n);
  }
  const StepSums sums =
      chain_kernels().steps({b.value, b.rows, b.precision, b.curvature, b.length, b.step,
                             b.noise_sd, b.scatter, b.repeats, b.informed},
                            StepBlock::padded(n), scale, importance,
                            static_cast<float>(parts_.noise.dispersion().value()));
  const float squares = static_cast<float>(sums.squares);
  const float scattered = squares * square;
  // Where the row's values are far larger than others in their columns, the whole step is shorter.
  float shorter =
      scattered > StepLengths::kLargestShare ? StepLengths::kLargestShare / scattered : 1;
  const bool sudden = kWeights && looked.largest > kSuddenCurvature * parts_.kept.curvature(slot);
  if (sudden) shorter = std::min(shorter, steps_.longest_alone(row, looked.largest));
  if (shorter < 1) steps_.shorten(n, shorter);
  parts_.ahead.fetch_some();
  chain_kernels().project(b.scatter, normals, n, parts_.chains, b.taken);
  const float taken = taken_of(square, squares, shorter);
  for (std::uint32_t c = 0; c < parts_.chains; ++c) {
    b.taken[c] *= taken;
    b.moved[c] = importance * b.change[c];
  }
  parts_.ahead.fetch_some();
  take(row, normals, sums.weights);
  if (sudden) parts_.follow_curvature(row, slot, looked.largest, 1);
  if constexpr (kWeights) parts_.weights.follow_scatter(row, slot, looked.square, parts_.chains);
  if (parts_.recent.curvature_due()) {
    parts_.columns.settle(b, n, RecentMoves::kMovesACurvature);
    prior_learner_.follow_relevance(row);
    // A mean of many chains is known better than one of few.
    const float share = static_cast<float>(parts_.chains) / static_cast<float>(parts_.chains + 1);
    parts_.recent.add_curvature(
        double{parts_.follow_curvature(row, slot, looked.curvature, share)});
  }
}

// Takes the step in the block, and records it; `weights` is StepSums::weights.
void RowBlockLangevin::take(const RowColumns& row, const float* normals, double weights) noexcept {
  const StepBlock& b = parts_.gathered.block();
  double information = 0;
  double learned = 0;
  for (std::size_t k = 0; parts_.prior.is_learned() && k < row.count; ++k) {
    const bool learns = k < row.sparse.count;
    b.learned[k] = learns ? b.informed[k] : 0;
    b.per_row[k] = learns ? 1 / b.rows[k] : 0;
    information += double{b.informed[k] * b.rows[k] * b.learned[k]};
    learned += double{b.learned[k]};
  }
  const ChainSums sums = chain_kernels().step(
      {b.theta, b.value, b.precision, b.repeats, b.step, b.noise_sd, b.scatter, b.informed,
       b.learned, b.per_row, row.count},
      normals, b.taken, b.moved, parts_.weighs_rows() ? b.none : b.change, parts_.chains);
  if (parts_.weighs_rows()) {
    parts_.exact.exchange(row, b.before, b.after, parts_.positions);
  } else if (parts_.positions.has_intercept()) {
    parts_.positions.add_to_intercept(b.change);
  }
  const double chains = parts_.chains;
  const double dispersion = parts_.noise.dispersion().value();
  parts_.recent.add_virial(sums.apart, dispersion, weights, parts_.rows.count);
  if (!parts_.prior.is_learned()) return;
  parts_.prior.precision().add(
      {sums.slope / dispersion, chains * information, sums.own / dispersion, chains * learned},
      parts_.chains);
}

void RowBlockLangevin::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("row blocks", 6);
  parts_.positions.visit_count(visitor);
  visitor.values(parts_.rows.nonzeros, parts_.rows.count, parts_.rows.aside);
  parts_.recent.visit_state(visitor);
  survey_.visit_state(visitor);
  parts_.positions.visit_state(visitor);
  parts_.kept.visit_state(visitor);
  parts_.columns.visit_state(visitor);
  if (weighs_rows()) {
    parts_.exact.visit_state(visitor);
    parts_.weights.visit_state(visitor);
  }
  parts_.prior.visit_past(visitor);
  steps_.visit_state(visitor);
  parts_.prior.visit_precision(visitor);
  prior_learner_.visit_state(visitor);
  parts_.noise.visit_state(visitor);
}

}  // namespace windhover
