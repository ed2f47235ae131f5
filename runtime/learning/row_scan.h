// Location and scale of features and targets, measured on rows of the window.
#ifndef WINDHOVER_RUNTIME_LEARNING_ROW_SCAN_H_
#define WINDHOVER_RUNTIME_LEARNING_ROW_SCAN_H_

#include <span>

#include "windhover/runtime/learning/learner_worker.h"
#include "windhover/runtime/learning/units.h"
#include "windhover/runtime/window/window_cursor.h"

namespace windhover {

// Invariant: from freeze() to thaw() the units of features and targets stay what they are, but for
// those of targets that had not varied by then. The learner's thread, while no worker is busy.
class RowScan {
 public:
  explicit RowScan(const EngineConfig& config) noexcept : config_(config) {}

  // Measures the variance of the targets and, where the configuration leaves them to a cold start,
  // location and scale of features and targets, on up to 131,072 rows spread over the window. Sets
  // them in the estimator and in all workers' models.
  void scan(const WindowCursor& cursor, std::span<LearnerWorker> workers,
            Estimator& estimator) noexcept;
  // Measures the variance of the targets alone, on up to 2,048 rows.
  void scan_targets(const WindowCursor& cursor, Model& model, Estimator& estimator) noexcept;
  // The row after the last one of the window that is so far out, in a feature or in y, that the
  // units of all others would be lost beside it; the window's first row if there is none. Columns
  // of which nine rows in ten are equal are not judged. `column` has room for a number a row.
  // O(rows x features).
  static std::uint64_t end_of_far_rows(const WindowCursor& cursor, const Model& model,
                                       std::span<double> column) noexcept;
  // Location and scale of the window's targets.
  static TargetTransform target_units(const EngineConfig& config,
                                      const WindowCursor& cursor) noexcept;
  void freeze() noexcept { frozen_ = true; }
  void thaw() noexcept { frozen_ = false; }

  // Whether targets that had not varied when the units were frozen do so now, so that a cold start
  // would find other units.
  bool target_units_due() const noexcept { return target_units_due_; }
  void take_up_target_units() noexcept { target_units_due_ = false; }

  // The variance of the targets at the last scan(), in the model's units.
  double target_variance() const noexcept { return target_variance_; }

  // Shows the transforms, too, which all workers share.
  void visit_state(StateVisitor& visitor, std::span<LearnerWorker> workers) noexcept;

  // Copies the first worker's transforms to all others.
  static void share_transform(std::span<LearnerWorker> workers) noexcept;

 private:
  void scan_features(const WindowCursor& cursor, FeatureTransform& transform) const noexcept;

  const EngineConfig& config_;  // the learner's
  bool frozen_ = false;
  bool target_units_known_ = true;  // once frozen; false: the targets had not varied
  bool target_units_due_ = false;
  double target_variance_ = 1;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_ROW_SCAN_H_
