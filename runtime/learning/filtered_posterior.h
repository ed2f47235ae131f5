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

// What all filters compute with, one after the other. 3 D^2 doubles.
struct FilterScratch {
  FilterScratch(Arena& arena, std::uint32_t dimension) noexcept;

  Factor factor;
  double* precision;  // dimension x dimension
  double* curvature;  // as Model::add_curvature() has it
  double* gradient;   // dimension, each
  double* step;
  double* moved;
};

// N(centre, P), what its rows count for, and, where the model has a dispersion, one that is learned
// even where the one that is served is given. A filter moves these (MemoryFilter, LevelFilter);
// this class predicts from them. One thread. Memory D^2 doubles.
class FilteredPosterior {
 public:
  static constexpr std::size_t kMostRows = 8;  // of a batch

  // Rows fade by this memory. `counts_as_many`: all together they count as many equal rows as they
  // are worth; otherwise the newest counts once.
  FilteredPosterior(Arena& arena, const EngineConfig& config, const Estimator& estimator,
                    FilterScratch& scratch, std::uint64_t memory, bool counts_as_many) noexcept;

  std::uint64_t memory() const noexcept { return rows_.memory(); }
  const double* centre() const noexcept { return centre_; }
  const double* covariance() const noexcept { return covariance_; }  // P, dimension x dimension
  // Equal rows that those seen so far are worth, by their age.
  double worth() const noexcept { return rows_.worth(); }
  // The dispersion learned here; of a model without one, the estimator's.
  double dispersion() const noexcept;
  // -log of the predictive density of the batch's rows, each by itself, summed, without terms that
  // are the same of all filters; `weight`: what its rows count as. At most kMostRows rows.
  double loss(const RowBatch& batch, double weight, Model& model) const noexcept;
  // The rows' residuals by this posterior. REQUIRES: y is normal, at most kMostRows rows.
  void residuals(const RowBatch& batch, Model& model, PredictiveResidual* out) const noexcept;
  // The trace of P times these rows' curvature: what P leaves open of them, in all. O(D^2).
  double spread(const AnchorSums& rows) const noexcept;

  // ---- For the filter.

  void reset() noexcept;
  // Goes to the estimator's mode, for so many rows. Their curvature is written to `curvature`, as
  // Model::add_curvature() has it, and P is that of it. O(D^3).
  void start(std::uint64_t rows, double* curvature) noexcept;
  // Sets P to that of the prior and of rows with this curvature (at dispersion 1). Where it has no
  // factor P stays as it was. O(D^3).
  void conclude(const double* curvature) noexcept;

  double* centre() noexcept { return centre_; }
  double* covariance() noexcept { return covariance_; }
  FadingRows& rows() noexcept { return rows_; }
  const FadingRows& rows() const noexcept { return rows_; }
  // What -log p is divided by.
  double divisor() const noexcept { return scales_ ? dispersion() : 1.0; }
  // The factor of a row's -log p beside the prior.
  double exponent() const noexcept;
  // Whether the model has a dispersion.
  bool scales() const noexcept { return scales_; }
  // Learns the dispersion from a batch with this sum of squared residuals; what it learned before
  // counts as `most_rows` rows at most, these included.
  void learn_dispersion(double squares, double weight, double most_rows) noexcept;
  // The share of the batch's squared residuals that is left where each is cut off at
  // FadingDispersion::kMost times what is expected of it.
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
