// When rows of the window are summed, and when sums become estimates.
#ifndef WINDHOVER_RUNTIME_LEARNING_SCHEDULE_H_
#define WINDHOVER_RUNTIME_LEARNING_SCHEDULE_H_

#include <cstdint>

#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/learning/sampling_run.h"
#include "windhover/runtime/learning/window_sums.h"

namespace windhover {

// Decides what sums over rows may cost beside the moves of the chains. `resting`: the chains do not
// move this round. Changes only itself. Invariant: what it remembers of the newest refresh, n and
// the rows that had joined, is what that refresh was given. One thread.
class Schedule {
 public:
  Schedule(const EngineConfig& config, const WindowCursor& cursor, const WindowSums& sums,
           const Estimator& estimator, const Ensemble& ensemble, const SamplingRun& run) noexcept
      : config_(config),
        cursor_(cursor),
        sums_(sums),
        estimator_(estimator),
        ensemble_(ensemble),
        run_(run) {}

  // How many rows may join the sums, or be taken out, beside one move of all chains: a sixteenth of
  // the rows that these draw, at least 8 and at most 256.
  std::uint64_t rows_of_a_tenth_move() const noexcept;
  // The head to take over before the next round.
  std::uint64_t next_head() noexcept;
  // The most rows that may join the sums this round.
  std::uint64_t rows_to_join(bool resting) const noexcept;

  // Whether the window is to be summed anew: much of it is new, or the sums, or the mode found with
  // them, are not those of its rows yet.
  bool pass_due() const noexcept;
  // A piece of the pass is summed every so many rounds, and has so many rows.
  std::uint64_t sweep_interval(bool resting) const noexcept;
  std::uint64_t sweep_rows(bool resting) const noexcept;
  void end_pass() noexcept { outpaced_ = false; }

  // Whether the sums are to become estimates before the pass ends.
  bool refresh_due(bool resting) const noexcept;
  // Whether another refresh would find something else than the newest: rows have joined the sums
  // since, or a learned prior precision goes on.
  bool refresh_is_worth_it() const noexcept {
    return rows_joined() || prior_goes_on_without_pass();
  }
  void begin_refresh() noexcept {
    quiet_refreshes_ = sums_.joined() == refreshed_end_ ? quiet_refreshes_ + 1 : 0;
    refreshed_end_ = sums_.joined();
    refreshed_n_ = sums_.worth();
    refreshed_tail_rows_ = sums_.tail_rows();
  }
  // The longest Newton step (squared, in posterior sd) where steps go in circles; elsewhere as good
  // as infinite.
  double longest_in_circles() const noexcept;
  // The estimates are those that a cold start ended with.
  void end_cold_start() noexcept { refreshed_n_ = estimator_.laplace().n(); }

  void visit_state(StateVisitor& visitor) noexcept {
    visitor.section("schedule", 2);
    visitor.values(refreshed_n_, refreshed_tail_rows_, refreshed_end_, quiet_refreshes_, outpaced_);
  }

 private:
  bool rows_joined() const noexcept { return sums_.tail_rows() != refreshed_tail_rows_; }
  bool prior_goes_on() const noexcept;
  // For sums that are the same at any theta.
  bool prior_goes_on_without_pass() const noexcept;

  const EngineConfig& config_;
  const WindowCursor& cursor_;
  const WindowSums& sums_;
  const Estimator& estimator_;
  const Ensemble& ensemble_;
  const SamplingRun& run_;
  double refreshed_n_ = 0;
  double refreshed_tail_rows_ = 0;
  std::uint64_t refreshed_end_ = 0;    // of the rows in the sums
  std::uint64_t quiet_refreshes_ = 0;  // since the sums were of other rows
  bool outpaced_ = false;              // since the last pass, by rows that came while chains moved
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_SCHEDULE_H_
