// The rows' scores in the order of the stream: whether they depend on one another, and whether the
// newest differ from the rest.
#ifndef WINDHOVER_RUNTIME_DIAGNOSTICS_SCORE_SERIES_H_
#define WINDHOVER_RUNTIME_DIAGNOSTICS_SCORE_SERIES_H_

#include <array>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/diagnostics/change_point.h"
#include "windhover/runtime/diagnostics/residual_pairs.h"
#include "windhover/samplers/estimates/dyadic_batches.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// A score is a row's gradient at the anchor of a pass over the window; A^-1 score is the row's
// influence on the parameters. Minibatches are drawn in random order and see neither drift nor
// dependence; a pass goes in stream order and sees both. One thread. Memory about 71 D + 900; a row
// costs one gradient and an eighth of a product with a D x D matrix.
//
// Every alarm below is raised by chance in at most about kFalseAlarmRate of the passes.
class ScoreSeries {
 public:
  static constexpr double kFalseAlarmRate = 1e-5;
  // A window must hold so many batches of kBatchRows rows for any of this to be known, but for what
  // residuals of neighbours tell.
  static constexpr std::uint64_t kBatchRows = 8;
  static constexpr std::uint64_t kLeastBatches = 48;
  // Dependence that is certain but smaller is not reported: sd is then at most a tenth too small.
  static constexpr double kHarmlessAutocorrelation = 1.2;

  // Takes memory, writes nothing.
  ScoreSeries(Arena& arena, std::uint32_t dimension) noexcept;
  void reset() noexcept;  // forgets the conclusions, too

  // Begins a pass over about `rows` rows.
  void begin_pass(std::uint64_t rows) noexcept;
  // Adds the next rows; `left` more come after them. A row's influence is n x `covariance` times
  // its score over `dispersion`.
  void add(Model& model, const RowBatch& rows, const double* anchor, const double* covariance,
           double n, double dispersion, std::uint64_t left) noexcept;
  // Rows of the pass have left before their turn: a change is looked for only after them.
  void skip_rows() noexcept { change_.begin(); }
  // Draws the conclusions. Where a window is too small for one, that one stays as it was.
  void end_pass() noexcept;

  bool known() const noexcept { return known_; }

  // Long-run variance of a row's influence on parameter j, also where rows depend on one another:
  // the variance of the estimate is this / n (Newey and West 1987, with the batches of
  // DyadicBatches in place of single lags). REQUIRES: known().
  double influence_variance(std::uint32_t j) const noexcept { return influence_variance_[j]; }

  // Lower confidence bound on the long-run variance of the scores over what it would be if rows did
  // not depend on one another, for the parameter where that is largest; 1 when nothing is certain,
  // NaN unless known().
  double autocorrelation() const noexcept { return autocorrelation_; }
  bool autocorrelated() const noexcept { return autocorrelation_ > kHarmlessAutocorrelation; }
  // Whether the rows depend on one another: by autocorrelation(), or by ResidualPairs of the scores
  // for the last parameter (the constant, where there is one), which fewer rows can tell.
  bool rows_depend() const noexcept { return autocorrelated() || residuals_.alike(); }

  // Mean influence of the newest tenth of the rows less that of the others, in standard deviations,
  // for the parameter where that is largest. Dependent rows alone do not make it large. NaN unless
  // known().
  double drift() const noexcept { return drift_; }
  // The drift of parameter j, with its sign: above 0 where the newest rows ask for a larger value.
  // drift() is the largest of these without the sign. NaN unless known().
  double drift(std::uint32_t j) const noexcept { return drifts_[j]; }
  bool drifting() const noexcept { return drift_ > threshold_; }
  // How many rows of the last pass came since the change. The parameter that had moved most when
  // the stream was drifting() is watched in the passes after that: the change is where a fit of two
  // means to its influences finds it (ChangePoint), for as long as these differ by more than the
  // threshold of drift. 0: not known.
  std::uint64_t rows_since_change() const noexcept { return rows_since_change_; }

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  // Sums of the products of scores that are close in the stream: of different rows within a stretch
  // of `rows` rows, and twice those with rows of the stretch before. Where rows are independent
  // each stretch adds an uncorrelated number of mean 0, so the sum over the root of the sum of
  // squares is about a standard normal number, whatever the scores' sizes are.
  struct Products {
    double rows;
    double* previous;
    double* sum;
    double* squares;
    void add(std::uint32_t j, double score, double score_squares) noexcept;
  };

  // A sum over the pass, one number a parameter, and the sum of the squares.
  struct Sums {
    double* sum;
    double* squares;
    void add(std::uint32_t j, double number, double square) noexcept {
      sum[j] += number;
      squares[j] += square;
    }
  };
  // The influences of the batches that hold the newest rows.
  struct Newest : Sums {
    std::uint64_t rows = 0;  // how many rows at the end of the pass these are
    double batches = 0;
  };

  // What a pass sums up, beside influences_.
  std::array<double*, 10> pass_sums() const noexcept;
  void add_batch() noexcept;
  void add_influence(const double* covariance, double scale, std::uint64_t left) noexcept;
  void conclude_dependence() noexcept;
  void conclude_drift() noexcept;
  void conclude_change() noexcept;
  double between_parts(std::uint32_t j) const noexcept;
  std::uint32_t level_of(std::uint32_t j) const noexcept;

  std::uint32_t dimension_;
  double threshold_;  // of each alarm, in standard deviations
  bool known_ = false;
  double autocorrelation_;
  double drift_;
  double* influence_variance_;
  double* drifts_;

  ResidualPairs residuals_;
  DyadicBatches influences_;  // of batches of kBatchRows rows
  Products pairs_;
  Products batches_;
  Sums totals_;  // of the rows' scores
  Newest newest_;
  // The change is looked for in the influences on parameter watched_; kNobody: not at all.
  static constexpr std::uint32_t kNobody = UINT32_MAX;
  std::uint32_t watched_ = kNobody;
  ChangePoint change_;
  std::uint64_t rows_since_change_ = 0;
  std::uint64_t batch_rows_ = 0;  // in scores_
  double* scores_;                // kBatchRows x dimension: of the batch
  double* batch_;                 // dimension: their sum
  double* influence_;             // of the batch
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_DIAGNOSTICS_SCORE_SERIES_H_
