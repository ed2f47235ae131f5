// Chains over more columns than a matrix could hold: a move touches the columns of one row and
// nothing else.
//
// A row i is drawn, and the block S of parameters that its non-zeros multiply makes a Langevin step
// while all others stay (random-scan blocks):
//   theta_S <- theta_S - E F_S + noise,  E = diag(e_j),
//   F_j = lambda_j theta_j + G_j + N_j x_ij (r_i(theta) - r_i'),  G_j = sum over rows of x_ij r_i'.
// r_i = d(-log p) / d eta, r_i' is its value when this chain last looked at row i, N_j counts the
// rows with a non-zero in column j. Given that column j was touched, row i is any of those N_j, so
// F_j is an unbiased estimate of the whole gradient: SAGA (Defazio, Bach and Lacoste-Julien 2014)
// for Langevin dynamics (Dubey et al. 2016). What a row contributes is one number, so the table
// costs one number a row and chain.
//
// e_j = eps_j / (lambda_j + H_j), H_j = sum of h_i x_ij^2, h_i the curvature in eta. The estimate
// of F_j scatters by N_j x_ij times the root of E (r - r')^2, which takes the place of noise that
// would otherwise be injected: the block's noise has covariance
//   V - (E g)(E g)^T,  V_jj = 2 e_j (1 - eps_j / 2),  g_j = N_j x_ij sd(r - r'),
// positive definite because eps_j is bounded so that (E g)^T V^-1 (E g) stays below 1 (noise
// completion: Ahn, Korattikara and Welling 2012, within blocks). V makes the variance of a
// parameter that depends on no other exact at any eps_j; what is left depends on how strongly the
// parameters of a row depend on one another: curvature_bound.h.
//
// Where -log p is divided by a dispersion, F, G and H are of dispersion 1: F_j has dispersion x
// lambda_j, and noise that variance times as large.
//
// A row of weight w_i is drawn q_i times as often as without weights (block_weights.h). G and H are
// of w_i r_i' and w_i h_i. The step is iota_i = w_i / q_i times as long as that of its column is,
// for the columns of which it stands as one of N_ij = W_j / iota_i rows alike, W_j the sum of the
// weights in column j: weighted by their lengths steps estimate the whole gradient, and each is a
// Langevin step as above. In place of the mean of (r - r')^2 over all rows there is that of the
// row.
//
// A row that comes or goes takes all chains along at once (row_block_translation.cc).
//
// All chains move on the same rows, with normals that are standard for each of the K chains and sum
// to 0 over them: antithetic variates, any two correlated by -1 / (K - 1). What a chain is off the
// posterior's centre by changes, were -log p quadratic, by a matrix that all chains share and by
// that noise: the law of each is as of a chain alone, and the mean of all has no noise.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_BLOCK_LANGEVIN_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_BLOCK_LANGEVIN_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/random.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/config.h"
#include "windhover/samplers/row_blocks/block_weights.h"
#include "windhover/samplers/row_blocks/chain_positions.h"
#include "windhover/samplers/row_blocks/chain_survey.h"
#include "windhover/samplers/row_blocks/condensed_past.h"
#include "windhover/samplers/row_blocks/curvature_bound.h"
#include "windhover/samplers/row_blocks/exact_columns.h"
#include "windhover/samplers/row_blocks/kept_rows.h"
#include "windhover/samplers/row_blocks/learned_dispersion.h"
#include "windhover/samplers/row_blocks/learned_precision.h"
#include "windhover/samplers/row_blocks/past_memory.h"
#include "windhover/samplers/row_blocks/precision_evidence.h"
#include "windhover/samplers/row_blocks/recent_moves.h"
#include "windhover/samplers/row_blocks/row_columns.h"
#include "windhover/samplers/row_blocks/step_block.h"
#include "windhover/samplers/rows.h"

namespace windhover {

// Models of sparse rows that RowLikelihood::has(). Invariant: for each chain G is the sum over the
// rows that have entered and not left of what it keeps of them, less (lambda_j + p_j) m_j of a
// condensed past, and row counts and curvatures of the columns are those of these rows. One thread.
// Memory: 8 bytes a chain and column, 4 a chain and row, 48 a column and 4 a row; with a past 48
// more a column, where rows are weighed 16 more a chain and column, 96 a column and 20 to 36 a row.
// No function but reset() takes time in proportion to the columns.
//
// Single precision: what a chain is at is known to a part in 10^7 of itself, and G to one of its
// own size, which is that of sqrt(H_j). Each look at a row rounds G; after a million passes over a
// column of half of 100,000 rows that is below 0.01 of its posterior sd. Where rows are weighed
// none does (ExactColumns). Without, curvatures are sums in double precision: rows of x^2 = 10^12,
// the most there can be, leave 10^-4 behind.
class RowBlockLangevin {
 public:
  static constexpr double kLargestValue = 1e6;

  // `slots`: rows that can be there at a time, each in one of them.
  // `past`: rows that what has left may be worth, at most (CondensedPast, PastMemory), or 0: rows
  // take along what they said. REQUIRES, if not 0: rows are not weighed.
  RowBlockLangevin(Arena& arena, const ModelConfig& model, std::uint32_t chains,
                   std::uint64_t slots, std::uint64_t seed, std::uint64_t past = 0) noexcept;
  // No rows. O(columns x chains).
  void reset() noexcept;
  // In these units y is seen, and draws are those of what is then predicted. REQUIRES: no rows.
  void set_units(const TargetTransform& units) noexcept;
  const TargetTransform& units() const noexcept { return likelihood_.units(); }
  // y of a row less what its offset says, in units.
  double distance_of(const double* row) const noexcept {
    const RowColumns columns = columns_of_row(row);
    return columns.target - columns.offset;
  }

  // A row comes into this slot, or leaves it. O(non-zeros x chains). false: a value of it is beyond
  // kLargestValue, where squares and sums have no digits left; it is set aside, and nothing is said
  // by it until it leaves.
  bool enter(const double* row, std::uint32_t slot) noexcept;
  void leave(const double* row, std::uint32_t slot) noexcept;
  // What has left, in rows; and the most that it may be worth as of now.
  double worth_of_past() const noexcept { return past_.worth(); }
  double memory_of_past() const noexcept { return past_.kept() ? memory_.rows() : 0; }
  // Of the rows that are there.
  bool has_set_aside() const noexcept { return aside_ > 0; }

  // Whether rows count as more or less than one another, and are then drawn as slot_of() says
  // rather than all alike: all but those of logistic models without weights.
  bool weighs_rows() const noexcept { return likelihood_.weighs_rows(); }
  // What rows count as on average.
  double mean_weight() const noexcept { return weighs_rows() ? weights_.mean() : 1; }
  // false: so few rows weigh nearly all that the others, which say where the parameters lie that
  // these leave open, move chains too slowly for anything to tell whether they are there. Of the
  // columns as of the last retain().
  bool weights_known() const noexcept;
  // The slot of the row to draw for a uniform number u, where `any` is one of all rows alike.
  // O(log slots). REQUIRES: weighs_rows(), 0 < u < 1.
  std::uint32_t slot_of(double u, std::uint32_t any) const noexcept {
    return weights_.slot_of(u, any);
  }

  // All chains make a step on each of these rows, in order, with the normals of this round.
  // O(non-zeros x chains) a row.
  void move(std::uint64_t round, const RowBatch& batch) noexcept;

  // Hints that a row is wanted soon: its numbers are fetched, then what belongs to its columns, bit
  // by bit while others enter, leave or move. REQUIRES: that row stays until fetched_all().
  void fetch(const double* row, std::uint32_t slot) const noexcept;
  void fetch_columns(const double* row) noexcept;
  void fetched_all() noexcept { ahead_ = {}; }

  // Goes on with the bound on the steps by one row: an iteration takes each that is there once.
  void follow_bound(const double* row, std::uint32_t slot) noexcept;
  // A hint that this row is wanted for that soon.
  void fetch_for_bound(const double* row) const noexcept;

  // Variance of the law over the posterior's in the worst direction, as CurvatureBound estimates
  // it; NaN until it does.
  double law_ratio() const noexcept { return bound_.law_ratio(); }

  double spread_ratio() const noexcept { return recent_.spread_ratio(); }

  // ChainSurvey, as of the last retain().
  double lag() const noexcept { return survey_.lag; }
  double unsettled() const noexcept { return survey_.unsettled; }

  // Before draws are taken: lag() and unsettled() are looked at, and with learn_prior_precision the
  // precision follows. O(columns that have had a row x chains).
  void retain() noexcept;
  // The chains' values of each column that has had a row, in units of the rows, to out[column x
  // stride + chain]; where none of its rows is there any more its posterior is the prior, and NaN
  // says so. Likewise.
  void copy_to(float* out, std::size_t stride) const noexcept;

  std::uint32_t columns() const noexcept { return positions_.columns(); }
  // Those that have had a row.
  std::uint32_t met_columns() const noexcept {
    return static_cast<std::uint32_t>(positions_.met().size());
  }
  std::uint32_t chains() const noexcept { return chains_; }
  // Of the rows that are there, on average, the intercept's among them; at least 1.
  double mean_nonzeros() const noexcept {
    const auto rows = static_cast<double>(std::max<std::uint64_t>(rows_, 1));
    return std::max(1.0, static_cast<double>(nonzeros_) / rows);
  }
  const LearnedDispersion& dispersion() const noexcept { return dispersion_; }
  // Of all columns but the intercept's: of one without rows, and how far others may be from it.
  double prior_precision() const noexcept { return precision_.value(); }
  double prior_tails() const noexcept { return precision_.tails(); }
  double precision_of(std::uint32_t column) const noexcept {
    if (positions_.is_intercept(column)) return intercept_precision_;
    return precision_.value() * double{sums_[column].relevance};
  }
  double theta(std::uint16_t chain, std::uint32_t column) const noexcept {
    return positions_.theta(column)[chain];
  }

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  // How much of a block's noise the scatter of its gradient may take the place of.
  static constexpr float kLargestShare = 0.9F;

  // What the chains keep of a row, as they look at it: of all of them.
  struct Looked {
    float square;     // mean of (r - r')^2
    float curvature;  // mean of h
    float largest;    // h
  };

  RowColumns columns_of_row(const double* row) const noexcept {
    return RowColumns(layout_, likelihood_, positions_.has_intercept(), row);
  }
  // Whether columns begin with what their first row says of them, rather than as the prior alone.
  bool draws_new_columns() const noexcept { return likelihood_.response() != Response::kBernoulli; }
  double new_part(const RowColumns& row, double others, double drawn,
                  double variance) const noexcept;
  double draw_new_columns(const RowColumns& row) noexcept;
  bool in_range(const RowColumns& row) const noexcept;
  // lambda_j as forces have it that are those of -log p at dispersion 1.
  double pull_of(std::uint32_t column) const noexcept {
    const double pull = precision_of(column) * dispersion_.value();
    return past_.kept() ? pull + past_.of(column).precision : pull;
  }
  void age(std::uint32_t column) noexcept;
  void condense(const RowColumns& row, std::uint32_t slot) noexcept;
  void copy_past(std::uint32_t column, float* out) const noexcept;
  void leave_to_past(std::uint32_t column) noexcept;
  double squares_of(const float* numbers) const noexcept;
  void keep_noise(const RowColumns& row, const float* residuals, int sign) noexcept;
  void look_at_noise(const RowColumns& row, std::uint32_t slot) noexcept;
  void fetch_some(std::size_t count) noexcept;
  void fetch_some() noexcept { fetch_some(fetched_together_); }
  void unpack(const RowColumns& row) noexcept;
  void load(const RowColumns& row) noexcept;
  void predict(const RowColumns& row) noexcept;
  void store_exactly(const RowColumns& row) noexcept;
  void shorten(std::size_t count, float shorter) noexcept;
  void work_out_lengths(const RowColumns& row, double length, double most_scatter) noexcept;
  double most_scatter(const RowColumns& row) const noexcept;
  double longest_step_of(const RowColumns& row, std::size_t k, double most_scatter) const noexcept;
  void work_out_lengths(std::size_t count) noexcept;
  void add_curvature(const RowColumns& row, double before, double after) noexcept;
  void unsettle(const RowColumns& row, double curvature) noexcept;
  RowAt respond(const RowColumns& row, double more, float* residuals, float* curvatures) noexcept;
  float longest_alone(const RowColumns& row, float curvature) const noexcept;
  void settle(const RowColumns& row) noexcept;
  void follow_relevance(const RowColumns& row) noexcept;
  float spread_of(const float* numbers) const noexcept;
  template <bool kWeights>
  void step(const RowColumns& row, std::uint32_t slot, const float* normals) noexcept;
  Looked look(const RowColumns& row, std::uint32_t slot) noexcept;
  void take(const RowColumns& row, const float* normals, double weights) noexcept;
  float follow_curvature(const RowColumns& row, std::uint32_t slot, float newest,
                         float share) noexcept;
  std::size_t block_width() const noexcept { return std::size_t{layout_.max_nonzeros()} + 1; }
  double share_of(std::size_t n) const noexcept;
  double mean_force(std::uint32_t column, double precision) const noexcept;
  void survey() noexcept;
  double start_of_precision(double nonzeros) const noexcept;
  bool columns_have_few_rows() const noexcept;
  void stretch() noexcept;
  void learn_precision(const RowColumns& row) noexcept;
  void follow_precision() noexcept;
  void draw_prior(std::uint32_t column, const RandomPosition& position) noexcept;
  void work_out_translation(const RowColumns& row, std::uint32_t slot, float sign,
                            double fresh) noexcept;
  void work_out_transport(const RowColumns& row) noexcept;
  void work_out_return(const RowColumns& row, std::uint32_t slot) noexcept;
  double work_out_direction(const RowColumns& row) noexcept;
  void translate(const RowColumns& row, const float* residuals) noexcept;
  void add_exactly(const RowColumns& row, const float* residuals, int sign) noexcept;

  RowLayout layout_;
  RowLikelihood likelihood_;
  bool learns_precision_;
  double given_precision_;
  double given_noise_;
  double intercept_precision_;
  double least_precision_;
  double most_precision_;
  std::uint32_t chains_;
  std::uint64_t seed_;
  ChainPositions positions_;
  KeptRows kept_;
  ColumnSums* sums_;  // columns
  BlockWeights weights_;
  ExactColumns exact_;  // G and H of rows with weights; those beside theta and in sums_ are copies
  std::uint64_t longest_past_;
  CondensedPast past_;
  PastMemory memory_;
  CurvatureBound bound_;
  StepBlock block_;  // scratch, as what follows
  std::span<float> normals_;
  std::span<const std::uint32_t> ahead_;  // columns that are wanted soon, ...
  std::size_t fetched_together_ = 0;      // ... of which so many are fetched at a time

  LearnedPrecision precision_;
  PrecisionEvidence evidence_;
  LearnedDispersion dispersion_;
  std::uint64_t nonzeros_ = 0;  // of all rows that are there
  std::uint64_t rows_ = 0;
  std::uint64_t aside_ = 0;  // rows that are there and have been set aside
  RecentMoves recent_;
  ChainSurvey survey_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_BLOCK_LANGEVIN_H_
