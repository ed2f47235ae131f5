// From no posterior to the first: Newton's method over the rows so far, one pass an iteration.
#ifndef WINDHOVER_RUNTIME_LEARNING_COLD_START_H_
#define WINDHOVER_RUNTIME_LEARNING_COLD_START_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/counters.h"
#include "windhover/runtime/counter_ids.h"
#include "windhover/runtime/learning/row_scan.h"
#include "windhover/runtime/learning/window_pass.h"

namespace windhover {

// Runs of Newton's method, each begun when rows have come since the last one ended. Invariant:
// while running() the anchor of the pass under way is the estimator's mode. One thread.
class ColdStart {
 public:
  enum class Outcome : std::uint8_t {
    kGoesOn,
    kGaveUp,    // no step led anywhere: the next run begins with the next row
    kCameNear,  // the run is over: at the mode or near it, or out of passes but not stuck
    kStuck,     // the run is over, far from the mode: what is served is the best point it saw
  };

  ColdStart(Arena& arena, const EngineConfig& config, const WindowCursor& cursor,
            Estimator& estimator, WindowPass& pass, RowScan& scan,
            Counters<RuntimeCounter>& counters) noexcept;
  void reset(Model* model) noexcept;
  // Forgets the run under way; the next one may begin at once.
  void start_over() noexcept {
    running_ = false;
    due_ = 0;
  }

  bool running() const noexcept { return running_; }
  // Whether there are rows to begin a run with.
  bool due() const noexcept { return cursor_.head() >= due_; }
  void begin(std::span<LearnerWorker> workers) noexcept;
  // Sums some rows and takes a step when the pass is complete. REQUIRES: running().
  Outcome advance(LearnerWorker& worker) noexcept;
  // Whether the run that is over has summed rows enough for chains to start.
  bool enough_rows() const noexcept {
    return estimator_.done().count() >= static_cast<double>(enough());
  }

  void visit_state(StateVisitor& visitor) noexcept {
    visitor.section("cold start");
    visitor.values(running_, due_, run_.iterations, step_.halvings, run_.near, run_.end, run_.rows,
                   step_.first_row, step_.slope);
    visitor.visit(step_.begin, dimension());
  }

 private:
  struct Run {
    std::uint64_t end = 0;   // end of the rows that the run began with
    std::uint64_t rows = 0;  // how many they were
    int iterations = 0;
    // True for the rest of the run once the mode has been near: the mean takes a learned prior
    // precision elsewhere, and the mode with it.
    bool near = false;
  };
  // The last step, or what halvings have left of it.
  struct Step {
    double* begin;                // where it began
    std::uint64_t first_row = 0;  // the window's first row then
    double slope = 0;             // the objective's slope along the step, where it began
    int halvings = 0;
  };

  // How many rows chains need: at most half of the rows in a short memory, as some leave while they
  // are summed.
  std::uint64_t enough() const noexcept {
    return std::min(cold_start_rows(config_), cursor_.ages().rows() / 2);
  }
  // Whether the pass under way sums rows at linear predictors that the targets suggest, not at a
  // theta.
  bool starting() const noexcept { return run_.iterations == 0 && model_->has_start(); }
  void begin_pass() noexcept;
  bool take_step() noexcept;
  Outcome shorten_step() noexcept;
  bool went_too_far() const noexcept;
  bool at_mode() const noexcept;
  bool near_mode_of_a_stream() const noexcept;
  Outcome end(bool found) noexcept;
  std::uint64_t rows_wanted() const noexcept;
  std::uint32_t dimension() const noexcept { return estimator_.done().dimension(); }

  const EngineConfig& config_;
  const WindowCursor& cursor_;
  Estimator& estimator_;
  WindowPass& pass_;
  RowScan& scan_;
  Counters<RuntimeCounter>& counters_;
  Model* model_ = nullptr;
  bool running_ = false;
  std::uint64_t due_ = 1;  // rows from which the next run begins
  Run run_;
  Step step_;
  double* scratch_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_COLD_START_H_
