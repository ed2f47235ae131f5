// All that is counted inside an engine: an enum, with a label for each value in the same order.
#ifndef WINDHOVER_RUNTIME_COUNTER_IDS_H_
#define WINDHOVER_RUNTIME_COUNTER_IDS_H_

#include <array>
#include <cstdint>

#include "windhover/platform/counters.h"

namespace windhover {

enum class RuntimeCounter : std::uint8_t {
  kRowsAccepted,
  kRowsRefusedDimension,
  kRowsRefusedNotFinite,
  kRowsRefusedTarget,
  kRowsRefusedSparse,
  kRowsRefusedOffset,
  kRowsRefusedWeight,
  kRowsRefusedTrials,
  kRowsSetAside,
  kRowsSurprising,    // rows far from what was predicted, whatever became of them
  kRowsDownWeighted,  // rows that count for less than they came with
  kBatchesRefused,
  kWindowFull,
  kSteps,
  kExamples,
  kDivergences,
  kFactorizationFailures,
  kRefreshes,
  kPasses,
  kResizes,
  kColdStarts,
  kSnapshots,
  kPredictions,
  kPredictionsRefused,
  kLabelsKept,       // rows kept with a key
  kLabelsReplaced,   // of these, rows that replaced a pending one with the same key
  kLabelsTableFull,  // rows with a key that were not kept: too many were pending or not scored yet
  kLabelsJoined,     // pending keys whose outcome came, and was accepted
  kLabelsTimedOut,   // pending keys whose outcome did not come in time
  kLabelsDuplicate,  // outcomes of keys that had been joined
  kLabelsUnknown,    // outcomes refused because the key is not known
  kLabelsLate,       // outcomes refused because the key had timed out
  kCount,
};

template <>
struct CounterLabels<RuntimeCounter> {
  static constexpr std::array<const char*, static_cast<std::size_t>(RuntimeCounter::kCount)>
      kLabels = {"rows_accepted",
                 "rows_refused_dimension",
                 "rows_refused_not_finite",
                 "rows_refused_target",
                 "rows_refused_sparse",
                 "rows_refused_offset",
                 "rows_refused_weight",
                 "rows_refused_trials",
                 "rows_set_aside",
                 "rows_surprising",
                 "rows_down_weighted",
                 "batches_refused",
                 "window_full",
                 "steps",
                 "examples",
                 "divergences",
                 "factorization_failures",
                 "refreshes",
                 "passes",
                 "resizes",
                 "cold_starts",
                 "snapshots",
                 "predictions",
                 "predictions_refused",
                 "labels_kept",
                 "labels_replaced",
                 "labels_table_full",
                 "labels_joined",
                 "labels_timed_out",
                 "labels_duplicate",
                 "labels_unknown",
                 "labels_late"};
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_COUNTER_IDS_H_
