// Everything that can be counted inside an engine: an enum, a label each, and they agree.
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
  kRowsSurprising,    // far from what was predicted, whatever became of them
  kRowsDownWeighted,  // that count for less than they came with
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
  kLabelsReplaced,   // those of these that replaced a pending one of the same key
  kLabelsTableFull,  // rows with a key that were not kept: so many were pending, or not scored yet
  kLabelsJoined,     // pending keys whose outcome came, and was accepted
  kLabelsTimedOut,   // pending keys whose outcome did not come in time
  kLabelsDuplicate,  // outcomes of keys that had been joined
  kLabelsUnknown,    // outcomes of keys that nobody knows: rows refused
  kLabelsLate,       // outcomes of keys that had timed out: likewise
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
