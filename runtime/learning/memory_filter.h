// The posterior of the newest rows, about, followed a few rows at a time.
#ifndef WINDHOVER_RUNTIME_LEARNING_MEMORY_FILTER_H_
#define WINDHOVER_RUNTIME_LEARNING_MEMORY_FILTER_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/learning/estimator.h"
#include "windhover/runtime/learning/fading_dispersion.h"
#include "windhover/runtime/learning/fading_rows.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// An extended Kalman filter that forgets (Kulhavy and Zarrop 1993: exponential forgetting): rows
// count exp(-2 age / rows), the prior always once. They are worth `rows` equal ones, and the
// posterior is as wide as that of so many, unless ForgettingSpread::kPosterior is asked for. It has
// a dispersion of its own where the model has one, also where what is served is given one.
//
// With `level_rows` the intercept walks besides (local level model: Harvey 1989), by 1 / level_rows
// of the noise's sd a row, and rows are taken up one by one: errors that neighbouring rows have in
// common are forgotten in so many rows, and slopes are not. REQUIRES then: y is normal, and the
// intercept is the last coefficient.
//
// Invariant: the centre is where Newton's method led to, one step a batch and never past the best
// point of the batch's rows along it; P is of at most D / 2 rows ago. One thread. Memory 2 D^2
// doubles. Time a row about 4 D^2.
class MemoryFilter {
 public:
  // What all filters compute with, one after the other. D^2 doubles.
  struct Scratch {
    Scratch(Arena& arena, std::uint32_t dimension) noexcept;

    Factor factor;
    double* precision;  // dimension x dimension
    double* gradient;   // dimension, each
    double* step;
    double* moved;
  };

  MemoryFilter(Arena& arena, const EngineConfig& config, const Estimator& estimator,
               Scratch& scratch, std::uint64_t rows, bool counts_as_many,
               std::uint64_t level_rows = 0) noexcept;

  std::uint64_t rows() const noexcept { return rows_.memory(); }
  // How many rows the intercept stands on.
  std::uint64_t level_rows() const noexcept { return level_rows_ > 0 ? level_rows_ : rows(); }
  const double* centre() const noexcept { return centre_; }
  // How many equal rows those seen so far are worth, by their age.
  double worth() const noexcept { return rows_.worth(); }

  void reset() noexcept;
  // Goes on from the estimator's posterior, of so many rows.
  void start(std::uint64_t rows) noexcept;
  // -log of the probability of the batch, row by row, up to what is the same for all filters;
  // `weight` is what its rows count as. REQUIRES: at most kMostRows rows.
  double loss(const RowBatch& batch, double weight, Model& model) const noexcept;
  // The predictive residuals of the batch. REQUIRES: y, or its logarithm, is normal.
  void residuals(const RowBatch& batch, Model& model, PredictiveResidual* out) const noexcept;
  void learn(const RowBatch& batch, double weight, Model& model) noexcept;
  // The trace of P times these rows' curvature: what P leaves open of them, in all. O(D^2).
  double spread(const AnchorSums& rows) const noexcept;
  // Makes P that of so many rows later. REQUIRES: it is called with 0 before learn().
  void look_ahead(double rows) noexcept;
  // The dispersion that was learned; for a model that has none, the one that is served.
  double dispersion() const noexcept;

  void visit_state(StateVisitor& visitor) noexcept;

  static constexpr std::size_t kMostRows = 8;  // of a batch

 private:
  // What -log p is divided by.
  double divisor() const noexcept { return scales_ ? dispersion() : 1.0; }
  // What a row's -log p counts for beside the prior.
  double exponent() const noexcept;
  void refresh() noexcept;
  // learn() where the level walks.
  void learn_walking(const RowBatch& batch, double weight, Model& model) noexcept;
  // Takes up one row, by Kalman's step. Returns what it says of the dispersion.
  double take_up(const RowBatch& row, Model& model) noexcept;
  // The variance of the level's walk over so many rows.
  double way(double rows) const noexcept;
  // Steps, and returns the loss of the batch, dispersion 1, at the new centre; `loss` is that at
  // the old one, where its gradient is in the scratch. The prior is `fresh` parts anew. `told`:
  // whether P is that of the batch as well.
  double move(const RowBatch& batch, double fresh, double loss, bool told, Model& model) noexcept;
  // The share of the batch's squared residuals that is not due to far rows.
  double usual_share(const RowBatch& batch, Model& model) const noexcept;

  const Estimator& estimator_;
  Scratch& scratch_;
  std::uint32_t dimension_;
  std::size_t width_;
  FadingRows rows_;
  std::uint64_t level_rows_;  // 0: the intercept is as the others
  bool counts_as_many_;
  bool scales_;  // whether the model has a dispersion
  bool normal_;  // whether y, or its logarithm, is normal

  double* centre_;
  double* curvature_;            // width x width: sum of the rows' curvatures, dispersion 1
  double* covariance_;           // P
  FadingDispersion dispersion_;  // scales_
  std::uint64_t stale_ = 0;      // rows that are not in P
  double ahead_ = 0;             // look_ahead(): what P has of the level's way to come
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_MEMORY_FILTER_H_
