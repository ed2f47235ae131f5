#include "windhover/runtime/learning/mode_search.h"

#include <algorithm>

namespace windhover {

ModeSearch::ModeSearch(Arena& arena, std::uint32_t dimension, PassSums& sums,
                       LaplaceApproximation& laplace) noexcept
    : sums_(sums),
      laplace_(laplace),
      begin_(arena.allocate<double>(dimension).data()),
      at_(arena.allocate<double>(dimension).data()) {}

// Makes done() the kept sums, moved to `anchor`, and the rows summed there.
void ModeSearch::sum_at(const double* anchor, Model& model, const RowBatch& rows,
                        double dispersion) noexcept {
  sums_.restore();
  sums_.done().move_anchor(anchor, dispersion, 1.0);
  sums_.done().add(model, rows, laplace_.covariance());
}

// Where the slope at the end of a step, upwards, is more than 0.3 of what it was where the step
// began, downwards, the step has passed the lowest point by far (as in ColdStart).
Status ModeSearch::find(Model& model, const RowBatch& rows,
                        const LaplaceApproximation::Input& input, double dispersion) noexcept {
  constexpr int kMostIterations = 100;
  constexpr int kMostHalvings = 40;
  constexpr double kNear = 1e-4;  // squared way to the mode, in posterior sd
  constexpr double kSlope = 0.3;
  const std::uint32_t d = sums_.done().dimension();
  std::copy_n(sums_.pass().anchor(), d, at_);
  double fall = 0;  // along the step under way
  int halvings = 0;
  for (int i = 0; i < kMostIterations; ++i) {
    sum_at(at_, model, rows, dispersion);
    const Status status = laplace_.compute_curvature(input);
    double slope = 0;
    for (std::uint32_t j = 0; j < d && i > 0; ++j) {
      slope += laplace_.anchor_gradient()[j] * (at_[j] - begin_[j]);
    }
    const bool too_far =
        !ok(status) || (!laplace_.loss().steps_are_safe && !(slope <= kSlope * fall));
    if (i > 0 && halvings < kMostHalvings && too_far) {
      for (std::uint32_t j = 0; j < d; ++j) at_[j] = 0.5 * (at_[j] + begin_[j]);
      fall *= 0.5;
      ++halvings;
      continue;
    }
    if (!ok(status)) return status;
    if (laplace_.newton_decrement() < kNear) break;
    fall = laplace_.newton_decrement() / laplace_.n();
    halvings = 0;
    std::copy_n(at_, d, begin_);
    for (std::uint32_t j = 0; j < d; ++j) at_[j] -= laplace_.newton_step()[j];
  }
  // The rows are summed again with the new P, for the mean: the P of before knows nothing of them.
  laplace_.compute_covariance(nullptr);
  sum_at(std::copy_n(sums_.done().anchor(), d, at_) - d, model, rows, dispersion);
  return Status::kOk;
}

}  // namespace windhover
