// Location and scale of the rows, looked up in the window.
#ifndef WINDHOVER_RUNTIME_ROW_SCAN_H_
#define WINDHOVER_RUNTIME_ROW_SCAN_H_

#include <span>

#include "windhover/runtime/estimator.h"
#include "windhover/runtime/learner_worker.h"
#include "windhover/runtime/window_cursor.h"

namespace windhover {

// Invariant: after freeze() the transform of the features stays what it is. The learner's thread,
// while no worker is busy.
class RowScan {
 public:
  explicit RowScan(const EngineConfig& config) noexcept
      : standardize_(config.standardize == Standardize::kColdStart) {}

  // The spread of the targets, and for Standardize::kColdStart location and scale of the features,
  // over some rows spread over the window. The first worker's model is told, and then the others'.
  void scan(const WindowCursor& cursor, std::span<LearnerWorker> workers,
            Estimator& estimator) noexcept;
  // The spread of the targets alone, of fewer rows.
  void scan_targets(const WindowCursor& cursor, Estimator& estimator) const noexcept;
  void freeze() noexcept { standardize_ = false; }

  // Of the targets at the last scan().
  double target_variance() const noexcept { return target_variance_; }

  // The first worker's transform of the features, to all.
  static void share_transform(std::span<LearnerWorker> workers) noexcept;

 private:
  bool standardize_;  // location and scale are still looked for
  double target_variance_ = 1;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_ROW_SCAN_H_
