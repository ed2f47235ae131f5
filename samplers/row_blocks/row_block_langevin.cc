#include "windhover/samplers/row_blocks/row_block_langevin.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "windhover/samplers/row_blocks/normal_source.h"

namespace windhover {

namespace {

// A step takes at most this share of the way to where the parameter would be if it stood alone.
constexpr float kLongestBlockStep = 0.2F;
// How much of a block's noise the scatter of its gradient may take the place of.
constexpr float kLargestShare = 0.9F;
// How fast the means over moves follow.
constexpr double kNewestMove = 1e-3;
// Curvatures of rows follow every so many moves, by half: they hardly change.
constexpr std::uint64_t kMovesACurvature = 8;
// Normals are made so many at a time, or as many as a row or a column wants.
constexpr std::size_t kNormals = 256;
// How far ahead of a step its row, and then what belongs to the row's columns, are fetched.
constexpr std::size_t kRowsAhead = 6;
constexpr std::size_t kColumnsAhead = 2;

struct RowAt {
  float residual;   // d(-log p) / d eta
  float curvature;  // of the quadratic that touches -log p at eta and lies above it everywhere
};

// The curvature is that of Jaakkola and Jordan (2000): never less than -log p has, and 1 / (2
// |eta|) where that is next to nothing.
RowAt row_at(double eta, double target) noexcept {
  // The residual's size is the probability of the other class, without cancellation.
  const double sign = target > 0.5 ? -1 : 1;
  const double other = 1 / (1 + std::exp(-sign * eta));
  const double curvature = std::abs(eta) < 1e-3 ? 0.25 : (2 * other - 1) / (2 * sign * eta);
  return {static_cast<float>(sign * other), static_cast<float>(curvature)};
}

}  // namespace

RowBlockLangevin::Block::Block(Arena& arena, std::size_t width) noexcept {
  for (float** numbers : {&value, &theta, &apart, &force, &rows, &curvature, &precision, &step,
                          &noise_sd, &scatter, &normal}) {
    *numbers = arena.allocate<float>(width).data();
  }
}

RowBlockLangevin::RowBlockLangevin(Arena& arena, const ModelConfig& model, std::uint32_t chains,
                                   std::uint64_t slots, std::uint64_t seed) noexcept
    : layout_(model),
      has_intercept_(model.intercept),
      learns_precision_(model.learn_prior_precision),
      given_precision_(model.prior_precision),
      intercept_precision_(model.intercept_precision),
      least_precision_(model.prior_precision_min),
      most_precision_(model.prior_precision_max),
      columns_(model.columns()),
      chains_(chains),
      slots_(slots),
      seed_(seed),
      chains_of_columns_(arena.allocate<float>(std::size_t{2} * columns_ * chains).data()),
      intercept_force_(arena.allocate<double>(chains).data()),
      residuals_(arena.allocate<float>(slots * chains).data()),
      curvature_(arena.allocate<float>(slots).data()),
      sums_(arena.allocate<ColumnSums>(columns_).data()),
      met_(arena.allocate<std::uint32_t>(columns_).data()),
      bound_(arena, columns_),
      block_(arena, std::size_t{model.max_nonzeros} + 1),
      normals_(arena.allocate<double>(
          std::max<std::size_t>({kNormals, std::size_t{model.max_nonzeros} + 1, chains}))) {}

// eps_j of a column with one row, in a row of n columns, as far as scatter bounds it: each column
// may get the n-th part of kLargestShare from it.
double RowBlockLangevin::share_of(std::size_t n) const noexcept {
  return 2 * kLargestShare * mean_curvature_ / (static_cast<double>(n) * change_);
}

bool RowBlockLangevin::enter(const double* row_in_place, std::uint32_t slot) noexcept {
  const RowColumns row(layout_, has_intercept_, row_in_place);
  curvature_[slot] = 0;
  for (std::size_t k = 0; k < row.count; ++k) {
    if (!(std::abs(row.value(k)) <= kLargestValue)) return false;
  }
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = row.column(k);
    if (!std::isnan(*theta_of(column))) continue;
    draw_prior(column, {column, 0, Purpose::kInitialState});
    met_[met_count_++] = column;
  }
  float* residuals = residuals_ + std::size_t{slot} * chains_;
  double curvature = 0;
  for (std::uint32_t c = 0; c < chains_; ++c) {
    double eta = row.offset;
    for (std::size_t k = 0; k < row.count; ++k) eta += row.value(k) * theta_of(row.column(k))[c];
    const RowAt at = row_at(eta, row.sparse.target);
    residuals[c] = at.residual;
    curvature += at.curvature;
  }
  curvature_[slot] = static_cast<float>(curvature / chains_);
  translate(row, slot, -1);
  ++rows_;
  nonzeros_ += row.count;
  for (std::size_t k = 0; k < row.count; ++k) {
    ColumnSums& sums = sums_[row.column(k)];
    const auto value = static_cast<float>(row.value(k));
    ++sums.rows;
    sums.curvature += double{curvature_[slot]} * value * value;
    add_force(row.column(k), value, residuals);
  }
  return true;
}

void RowBlockLangevin::leave(const double* row_in_place, std::uint32_t slot) noexcept {
  if (curvature_[slot] == 0) return;
  const RowColumns row(layout_, has_intercept_, row_in_place);
  const float* residuals = residuals_ + std::size_t{slot} * chains_;
  --rows_;
  nonzeros_ -= row.count;
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = row.column(k);
    ColumnSums& sums = sums_[column];
    const auto value = static_cast<float>(row.value(k));
    sums.curvature = std::max(0.0, sums.curvature - double{curvature_[slot]} * value * value);
    add_force(column, -value, residuals);
    if (--sums.rows > 0) continue;
    sums.curvature = 0;  // what rounding has left would stay for ever
    std::fill_n(force_of(column), chains_, 0.0F);
    if (is_intercept(column)) std::fill_n(intercept_force_, chains_, 0.0);
  }
  translate(row, slot, 1);
}

// Newton's step for a row that is not among the columns' rows, at the mean of the chains'
// residuals, with lambda_j + H_j in place of the curvature. `sign`: -1 where the row comes, 1 where
// it has gone.
void RowBlockLangevin::translate(const RowColumns& row, std::uint32_t slot, float sign) noexcept {
  const float* residuals = residuals_ + std::size_t{slot} * chains_;
  const float mean =
      std::accumulate(residuals, residuals + chains_, 0.0F) / static_cast<float>(chains_);
  float along = 0;
  for (std::size_t k = 0; k < row.count; ++k) {
    const auto precision = static_cast<float>(precision_of(row.column(k)));
    block_.value[k] = static_cast<float>(row.value(k));
    block_.step[k] = 1 / (precision + static_cast<float>(sums_[row.column(k)].curvature));
    along += block_.value[k] * block_.value[k] * block_.step[k];
  }
  const float factor = sign * mean / (1 + curvature_[slot] * along);
  for (std::size_t k = 0; k < row.count; ++k) {
    float* theta = theta_of(row.column(k));
    for (std::uint32_t c = 0; c < chains_; ++c) {
      theta[c] += factor * block_.value[k] * block_.step[k];
    }
  }
}

// Of all chains.
void RowBlockLangevin::add_force(std::uint32_t column, float value,
                                 const float* residuals) noexcept {
  float* force = force_of(column);
  if (!is_intercept(column)) {
    for (std::uint32_t c = 0; c < chains_; ++c) force[c] += value * residuals[c];
    return;
  }
  for (std::uint32_t c = 0; c < chains_; ++c) {
    intercept_force_[c] += double{value} * residuals[c];
    force[c] = static_cast<float>(intercept_force_[c]);
  }
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
    step(chain, row, batch.slots[i], random.take(row.count));
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

void RowBlockLangevin::store(std::uint16_t chain, const RowColumns& row, float change) noexcept {
  const Block& b = block_;
  for (std::size_t k = 0; k < row.count; ++k) {
    theta_of(row.column(k))[chain] = b.theta[k];
    force_of(row.column(k))[chain] = b.force[k] + b.value[k] * change;
  }
  if (!has_intercept_) return;
  intercept_force_[chain] += change;
  force_of(columns_ - 1)[chain] = static_cast<float>(intercept_force_[chain]);
}

// e_j, root of V_jj and scatter of `count` columns, of what has been loaded.
void RowBlockLangevin::work_out_steps(std::size_t count, float scale) noexcept {
  const Block& b = block_;
  const auto share = static_cast<float>(share_of(count));
  for (std::size_t k = 0; k < count; ++k) {
    const float relative = scale * std::min(kLongestBlockStep, share / b.rows[k]);
    b.step[k] = relative / (b.precision[k] + b.curvature[k]);
    b.noise_sd[k] = std::sqrt(b.step[k] * (2 - relative));
    b.scatter[k] = b.step[k] * b.rows[k] * b.value[k] / b.noise_sd[k];
  }
}

void RowBlockLangevin::step(std::uint16_t chain, const RowColumns& row, std::uint32_t slot,
                            const double* normals) noexcept {
  const Block& b = block_;
  const std::size_t n = row.count;
  const double eta = load(chain, row);
  const RowAt at = row_at(eta, row.sparse.target);
  float& kept = residuals_[std::size_t{slot} * chains_ + chain];
  const float change = at.residual - kept;
  kept = at.residual;
  const double newest = std::max(kNewestMove, 1.0 / static_cast<double>(++moves_));
  change_ += newest * (double{change} * change - change_);

  work_out_steps(n, static_cast<float>(bound_.scale()));
  float scattered = 0;
  float along = 0;
  for (std::size_t k = 0; k < n; ++k) {
    b.normal[k] = static_cast<float>(normals[k]);
    scattered += b.scatter[k] * b.scatter[k];
    along += b.scatter[k] * b.normal[k];
  }
  const auto square = static_cast<float>(change_);
  scattered *= square;
  // Values far beyond those that their columns have elsewhere: the whole step is shorter.
  const float shorter = scattered > kLargestShare ? kLargestShare / scattered : 1;
  const float taken =
      scattered > 0 ? (1 - std::sqrt(1 - shorter * scattered)) * square / scattered * along : 0;
  const float root = std::sqrt(shorter);
  if (learns_precision_) learn_precision(row.sparse.count, change);
  float virial = 0;
  float weights = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const float gradient =
        b.precision[k] * b.theta[k] + b.force[k] + b.rows[k] * b.value[k] * change;
    const float informed = b.curvature[k] / (b.precision[k] + b.curvature[k]) / b.rows[k];
    weights += informed;
    virial += informed * b.apart[k] * gradient;
    b.theta[k] += root * b.noise_sd[k] * (b.normal[k] - taken * b.scatter[k]) -
                  shorter * b.step[k] * gradient;
  }
  store(chain, row, change);
  const double of_half_a_pass = 2.0 / (static_cast<double>(rows_) * chains_);
  const double part = std::clamp(of_half_a_pass, 1.0 / static_cast<double>(moves_), newest);
  virial_ += part * (double{virial} - virial_);
  virial_weights_ += part * (double{weights} - virial_weights_);
  if (moves_ % kMovesACurvature == 0) follow_curvature(row, slot, at.curvature);
}

// Of the first `count` columns of the block, which are those of the features.
void RowBlockLangevin::learn_precision(std::size_t count, float change) noexcept {
  const Block& b = block_;
  float slope = 0;
  float information = 0;
  float virial = 0;
  float informed = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const float share = b.curvature[k] / (b.precision[k] + b.curvature[k]);
    const float of_rows = b.theta[k] * (b.force[k] / b.rows[k] + b.value[k] * change);
    const float of_prior = b.theta[k] * b.theta[k] * b.precision[k] / b.rows[k];
    slope += of_rows;
    information += share * share / b.rows[k];
    virial += share * (of_rows + of_prior);
    informed += share / b.rows[k];
  }
  precision_.add({slope, information, virial, informed});
}

void RowBlockLangevin::follow_curvature(const RowColumns& row, std::uint32_t slot,
                                        float newest) noexcept {
  const double before = curvature_[slot];
  curvature_[slot] += 0.5F * (newest - curvature_[slot]);
  const double more = curvature_[slot] - before;  // as it is after rounding
  mean_curvature_ += kMovesACurvature * kNewestMove * (curvature_[slot] - mean_curvature_);
  for (std::size_t k = 0; k < row.count; ++k) {
    double& sum = sums_[row.column(k)].curvature;
    const auto value = static_cast<float>(row.value(k));
    sum = std::max(0.0, sum + more * value * value);
  }
}

void RowBlockLangevin::follow_bound(const double* row_in_place, std::uint32_t slot) noexcept {
  if (curvature_[slot] == 0) return;
  const RowColumns row(layout_, has_intercept_, row_in_place);
  load(0, row);
  work_out_steps(row.count, 1);
  bound_.add(row, curvature_[slot], block_.step, block_.precision, rows_);
}

}  // namespace windhover
