// Chains over more columns than a matrix could hold: a move touches the columns of one row and
// nothing else.
//
// A row i is drawn. The block S of parameters that its non-zeros multiply makes a Langevin step,
// while all others stay (random-scan blocks):
//   theta_S <- theta_S - E F_S + noise,  E = diag(e_j),
//   F_j = lambda_j theta_j + G_j + N_j x_ij (r_i(theta) - r_i'),  G_j = sum over rows of x_ij r_i'.
// Here r_i = d(-log p) / d eta, r_i' is its value when this chain last looked at row i, and N_j is
// the number of rows with a non-zero in column j. Given that column j is touched, row i is any of
// those N_j, so F_j is an unbiased estimate of the whole gradient: SAGA (Defazio, Bach and
// Lacoste-Julien 2014) for Langevin dynamics (Dubey et al. 2016). Its table is one number a row and
// chain, because a row's gradient is one number times the row.
//
// The step is e_j = eps_j / (lambda_j + H_j), with H_j = sum of h_i x_ij^2 and h_i the curvature of
// row i in eta. The estimate F_j scatters by N_j x_ij times the root of E (r - r')^2. This scatter
// replaces a part of the noise, so that the injected noise of the block has covariance
//   V - (E g)(E g)^T,  V_jj = 2 e_j (1 - eps_j / 2),  g_j = N_j x_ij sd(r - r').
// It is positive definite, because eps_j is bounded so that (E g)^T V^-1 (E g) stays below 1 (noise
// completion: Ahn, Korattikara and Welling 2012, within blocks). With this V the variance of a
// parameter that depends on no other is exact at any eps_j. The rest of the error comes from how
// strongly the parameters of a row depend on one another: curvature_bound.h.
//
// Where -log p is divided by a dispersion, F, G and H are those at dispersion 1: F_j then has
// dispersion x lambda_j in place of lambda_j, and the noise has dispersion times the variance.
//
// Where rows have weights w_i (block_weights.h), row i is drawn q_i times as often, and G and H sum
// w_i r_i' and w_i h_i. A step on it is iota_i = w_i / q_i times as long as its columns' steps. In
// column j, of total weight W_j, it stands for N_ij = W_j / iota_i equal rows. So the steps,
// weighted by their lengths, estimate the whole gradient, and each is a Langevin step as above. The
// row's own mean of (r - r')^2 replaces that over all rows.
//
// A row that comes or goes takes all chains along at once (row_translation.h).
//
// All chains move on the same rows. The normals of the K chains are standard for each and sum to 0:
// antithetic variates, any two correlated by -1 / (K - 1). Were -log p quadratic, a chain's
// distance from the posterior's centre would change only by a matrix that all chains share and by
// this noise: each chain has the law of a chain alone, and their mean has no noise.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_BLOCK_LANGEVIN_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_BLOCK_LANGEVIN_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/config.h"
#include "windhover/samplers/row_blocks/chain_survey.h"
#include "windhover/samplers/row_blocks/new_columns.h"
#include "windhover/samplers/row_blocks/prior_learner.h"
#include "windhover/samplers/row_blocks/row_block_parts.h"
#include "windhover/samplers/row_blocks/row_condenser.h"
#include "windhover/samplers/row_blocks/row_translation.h"
#include "windhover/samplers/row_blocks/step_lengths.h"
#include "windhover/samplers/rows.h"

namespace windhover {

// For models of sparse rows that RowLikelihood::has(). Invariant: for each chain, G is the sum of
// what it keeps of the rows that have entered and not left, less (lambda_j + p_j) m_j of a
// condensed past; the row counts and curvatures of the columns are those of these rows. One thread.
// Memory in bytes: 8 a chain and column, 4 a chain and row, 48 a column and 4 a row. A past takes
// 48 more a column; rows with weights take 16 more a chain and column, 96 a column and 20 to 36 a
// row. No function but reset() takes time in proportion to the columns.
//
// Single precision: a chain's theta is known to a part in 10^7 of itself, and G to a part in 10^7
// of its usual size, sqrt(H_j). Each look at a row rounds G; after a million passes over a column
// of half of 100,000 rows the sum of that is below 0.01 posterior sds. Rows with weights are not
// rounded (ExactColumns). Without weights H is a sum in double precision: rows of x^2 = 10^12, the
// most there can be, leave 10^-4 behind.
class RowBlockLangevin {
 public:
  static constexpr double kLargestValue = RowBlockParts::kLargestValue;

  // `slots`: how many rows can be there at a time, each in a slot. `past`: how many rows those that
  // have left may be worth at most (ColumnPrior); 0: a row that leaves takes along what it said.
  // REQUIRES, if not 0: rows have no weights.
  RowBlockLangevin(Arena& arena, const ModelConfig& model, std::uint32_t chains,
                   std::uint64_t slots, std::uint64_t seed, std::uint64_t past = 0) noexcept;
  // Begins anew without rows. O(columns x chains).
  void reset() noexcept;
  // Sets the units of y: draws are in the units of what is predicted after this. REQUIRES: no rows.
  void set_units(const TargetTransform& units) noexcept { parts_.noise.set_units(units); }
  // y of a row less what its offset says, in units.
  double distance_of(const double* row) const noexcept {
    const RowColumns columns = parts_.columns_of(row);
    return columns.target - columns.offset;
  }

  // A row comes into this slot, or leaves it. O(non-zeros x chains). false: one of its values is
  // beyond kLargestValue, where squares and sums have no digits left. The row is set aside until it
  // leaves, and says nothing.
  bool enter(const double* row, std::uint32_t slot) noexcept;
  void leave(const double* row, std::uint32_t slot) noexcept;
  // All chains make a step on each of these rows, in order, with the normals of this round.
  // O(non-zeros x chains) a row.
  void move(std::uint64_t round, const RowBatch& batch) noexcept;
  // Hints that rows are wanted soon.
  ColumnsAhead& ahead() noexcept { return parts_.ahead; }

  // Call it where draws are taken. Makes survey(), updates the learned precision and dispersion,
  // and then does what copy_to() does, unless `out` is null. O(columns that have had a row x
  // chains).
  void retain(float* out = nullptr, std::size_t stride = 0) noexcept;
  // Copies the chains' values of each column that has had a row, in units of the rows, to
  // out[column x stride + chain]. The posterior of a column without rows now is the prior, or what
  // a kept past made of it; without a past its first number is NaN. O(columns that have had a row x
  // chains).
  void copy_to(float* out, std::size_t stride) const noexcept;

  // See RowBlockParts::weighs_rows().
  bool weighs_rows() const noexcept { return parts_.weighs_rows(); }
  // Says which rows to draw. REQUIRES: weighs_rows().
  const BlockWeights& weights() const noexcept { return parts_.weights; }
  // false: a few rows weigh nearly everything. The other rows then move chains too slowly in the
  // parameters that these few leave open for anything to tell whether the chains have arrived.
  // Judged with the columns as of the last retain().
  bool weights_known() const noexcept;

  const RowBlockParts::Rows& rows() const noexcept { return parts_.rows; }
  const ColumnPrior& prior() const noexcept { return parts_.prior; }
  const RowNoise& noise() const noexcept { return parts_.noise; }
  const ChainPositions& positions() const noexcept { return parts_.positions; }
  double theta(std::uint16_t chain, std::uint32_t column) const noexcept {
    return parts_.positions.theta(column)[chain];
  }
  // How long steps are, and the bound on them, which the caller follows.
  StepLengths& steps() noexcept { return steps_; }
  const StepLengths& steps() const noexcept { return steps_; }
  // See RecentMoves.
  double spread_ratio() const noexcept { return parts_.recent.spread_ratio(); }
  // The survey of the last retain().
  const ChainSurvey& survey() const noexcept { return survey_; }

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  double begin_columns(const RowColumns& row) noexcept;
  template <class Use>
  void for_met(const Use& use) const noexcept;
  void copy_columns(std::span<const std::uint32_t> columns, float* out,
                    std::size_t stride) const noexcept;
  void shift_intercept(float* out, std::size_t stride) const noexcept;
  template <bool kWeights>
  void step(const RowColumns& row, std::uint32_t slot, const float* normals) noexcept;
  void take(const RowColumns& row, const float* normals, double weights) noexcept;

  RowBlockParts parts_;
  NewColumns new_columns_;
  RowTranslation translation_;
  RowCondenser condenser_;
  PriorLearner prior_learner_;
  StepLengths steps_;
  ChainSurvey survey_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_BLOCK_LANGEVIN_H_
