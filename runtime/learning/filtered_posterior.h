// The Gaussian posterior that a filter has come to.
#ifndef WINDHOVER_RUNTIME_LEARNING_FILTERED_POSTERIOR_H_
#define WINDHOVER_RUNTIME_LEARNING_FILTERED_POSTERIOR_H_

#include <cstddef>
#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/learning/estimator.h"
#include "windhover/runtime/learning/fading_dispersion.h"
#include "windhover/runtime/learning/fading_rows.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// What all filters compute with, one after the other. 2 D^2 doubles.
struct FilterScratch {
  FilterScratch(Arena& arena, std::uint32_t dimension) noexcept;

  Factor factor;
  double* precision;  // dimension x dimension
  double* curvature;  // as Model::add_curvature() has it
  double* gradient;   // dimension, each
  double* step;
  double* moved;
};

// N(centre, P), a dispersion of its own where the model has one, also where what is served is given
// one, and what the rows count that it has been told of. A filter moves them (MemoryFilter,
// LevelFilter); what they predict is asked alike of all. One thread. Memory D^2 doubles.
class FilteredPosterior {
 public:
  static constexpr std::size_t kMostRows = 8;  // of a batch

  // Rows fade by this memory, and count as so many equal ones as they are worth where
  // `counts_as_many`, otherwise the newest once.
  FilteredPosterior(Arena& arena, const EngineConfig& config, const Estimator& estimator,
                    FilterScratch& scratch, std::uint64_t memory, bool counts_as_many) noexcept;

  std::uint64_t memory() const noexcept { return rows_.memory(); }
  const double* centre() const noexcept { return centre_; }
  const double* covariance() const noexcept { return covariance_; }  // P, dimension x dimension
  // Equal rows that those seen so far are worth, by their age.
  double worth() const noexcept { return rows_.worth(); }
  // That was learned, or of a model without the one that is served.
  double dispersion() const noexcept;
  // -log of the probability of the batch, row by row, but for what is the same of all filters;
  // `weight`: what its rows count as. At most kMostRows rows.
  double loss(const RowBatch& batch, double weight, Model& model) const noexcept;
  // Likewise the rows of the batch, of a normal y.
  void residuals(const RowBatch& batch, Model& model, PredictiveResidual* out) const noexcept;
  // The trace of P times these rows' curvature: what P leaves open of them, in all. O(D^2).
  double spread(const AnchorSums& rows) const noexcept;

  // ---- For the filter.

  void reset() noexcept;
  // Where the estimator's posterior is, of so many rows, whose curvature goes to `curvature`, as
  // Model::add_curvature() has it, and into P.
  void start(std::uint64_t rows, double* curvature) noexcept;
  // P of rows with so much curvature, dispersion 1, and the prior. Where these are too large to
  // compute with it stays as it was. O(D^3).
  void conclude(const double* curvature) noexcept;

  double* centre() noexcept { return centre_; }
  double* covariance() noexcept { return covariance_; }
  FadingRows& rows() noexcept { return rows_; }
  const FadingRows& rows() const noexcept { return rows_; }
  // What -log p is divided by.
  double divisor() const noexcept { return scales_ ? dispersion() : 1.0; }
  // What a row's -log p counts for beside the prior.
  double exponent() const noexcept;
  // Whether the model has a dispersion.
  bool scales() const noexcept { return scales_; }
  // From a batch with these squared residuals; the dispersion is known from so many rows at most.
  void learn_dispersion(double squares, double weight, double most_rows) noexcept;
  // The share of the batch's squared residuals that is not from outlying rows.
  double usual_share(const RowBatch& batch, Model& model) const noexcept;

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  const Estimator& estimator_;
  FilterScratch& scratch_;
  std::uint32_t dimension_;
  bool counts_as_many_;
  bool scales_;
  bool normal_;  // whether y, or its logarithm, is normal

  FadingRows rows_;
  FadingDispersion dispersion_;  // scales_
  double* centre_;
  double* covariance_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_FILTERED_POSTERIOR_H_
