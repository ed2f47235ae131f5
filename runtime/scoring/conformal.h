#ifndef WINDHOVER_RUNTIME_SCORING_CONFORMAL_H_
#define WINDHOVER_RUNTIME_SCORING_CONFORMAL_H_

#include <array>
#include <atomic>
#include <cstddef>

#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/prediction/conformal_interval.h"
#include "windhover/runtime/scoring/prediction_scores.h"

namespace windhover {

// An outcome under its prediction, as normal scores. For a number both are the same. For a count
// `low` is the score of P(Y <= y), `high` that of P(Y < y). For a class `high` is
// ClassShares::score() and `low` is 0.
struct NormalScore {
  double low = 0;
  double high = 0;
};

inline bool holds(const ConformalBounds& bounds, const NormalScore& y) noexcept {
  return y.high <= bounds.upper && y.low >= bounds.lower;
}

// Ends of intervals that hold the share of outcomes that they promise, whatever the model: adaptive
// conformal inference (Gibbs, Candes 2021) as quantile tracking (Angelopoulos, Candes, Tibshirani
// 2023, eq. 5). An outcome outside pushes the end that it passed outwards, by rate (1 - a); one
// inside draws it in by rate a, where a is the share that may lie outside. So in the long run that
// share does, however the rows come: over T rows to within (how far the end has moved) / (rate T).
// The first rows move ends more, as in Robbins and Monro's search for a quantile; after 190 rows
// the rate stays, so that what changes is followed.
//
// Rows that were predicted by one answer are one take: all are judged by the ends that they were
// served with, and the ends move once, by the take's share outside less a. If they were judged one
// after the other, thousands of them would lead the ends to where they should have been for this
// take, with all that its rows have in common, and the next take would find them there. The rates
// of a take's rows add up to kMostATake at most. The share outside falls by 0.4 at most for each sd
// that an end moves (the density of a normal score in the middle), so with less than 1 / 0.4 the
// same take again would find the ends nearer to where it wants them, and not beyond. With takes of
// 30 rows and more the long run is therefore within (how far the end has moved) / (kMostATake x
// takes).
//
// Beyond a score of 2 steps grow with the end, so that what is wrong by orders of magnitude is
// right after some dozens of outcomes outside. Then steps balance on the logarithm of the end, and
// the share outside is larger than a by a factor of 1.013. Inwards an end moves more slowly, by a
// factor e in some 800 rows at 90 %.
//
// For numbers each end is followed by itself, for half of the share that may lie outside. Counts
// and classes take few values: there both ends are equally far from the middle. One writer;
// bounds() from any thread.
class Conformal {
 public:
  // The probabilities whose intervals are followed: kScoredIntervals and two wider ones.
  static constexpr std::array<double, 6> kFollowed = {0.50, 0.80, 0.90, 0.95, 0.99, 0.999};
  static constexpr std::size_t kIntervals = kFollowed.size();
  using Bounds = std::array<ConformalBounds, kIntervals>;
  enum class Ends { kApart, kTogether };

  explicit Conformal(Ends ends) noexcept;

  // Adds an outcome to the take under way; no end moves before that ends.
  void add(const NormalScore& outcome) noexcept;
  void end_take() noexcept;

  // The bounds of kFollowed, each within the next.
  Bounds bounds() const noexcept;
  // The bounds of any probability in (0, 1): interpolated between those of kFollowed over the
  // normal scores that a right model would have, beyond them in proportion to these.
  static ConformalBounds bounds(const Bounds& known, double probability) noexcept;
  ConformalBounds bounds(double probability) const noexcept {
    return bounds(bounds(), probability);
  }

  // The writer's thread.
  void visit_state(StateVisitor& visitor) noexcept;

 private:
  static constexpr double kLeastRate = 0.05;
  static constexpr double kFirstRows = 10;  // the rate is 1 for the first row, 1/2 after so many
  static constexpr double kMostATake = 1.5;
  static constexpr double kUsual = 2;  // beyond it steps grow with the end
  static constexpr double kFarthest = 1e9;
  // Ends that stand together are served no farther in than the middle, but followed a little
  // beyond, so that intervals that held too much there are made up for. No further, so that a jump
  // finds them near.
  static constexpr double kBeyondMiddle = 1;

  using End = std::atomic<double>;
  // Where an end moves when the share `outside` of a take's outcomes passed it, and `share` may.
  // `outwards`: 1 for an upper end, -1 for a lower one.
  static double moved(double end, double rate, double outside, double share,
                      double outwards) noexcept;

  const Ends ends_;
  double rows_ = 0;  // before the take under way
  double rows_in_take_ = 0;
  double rate_of_take_ = 0;
  std::array<double, kIntervals> below_{};  // the take's outcomes beyond each end; kTogether: 0
  std::array<double, kIntervals> above_{};
  std::array<End, kIntervals> lower_;  // kTogether: not used, it is -upper
  std::array<End, kIntervals> upper_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_SCORING_CONFORMAL_H_
