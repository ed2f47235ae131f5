// Rows that were kept with a key, and whose outcome is here.
#include <algorithm>
#include <cmath>

#include "windhover/runtime/labels/pending_labels.h"
#include "windhover/runtime/window/ingest.h"

namespace windhover {

Status Ingest::copy_kept(const double* row, double target, double* out) const noexcept {
  std::copy_n(row, window_.layout().stride(), out);
  out[window_.layout().target_index()] = target;
  window_.layout().begin_learner_weight(out);
  return check_values(out);
}

ObserveResult Ingest::observe_outcomes(const OutcomeBatch& batch, PendingLabels* labels,
                                       std::span<RefusedRow> refused) noexcept {
  ObserveResult result;
  if (labels == nullptr || batch.keys.size() != batch.targets.size()) {
    counters_.add(RuntimeCounter::kBatchesRefused);
    result.status = labels == nullptr ? Status::kKeyNotTaken : Status::kMalformed;
    return result;
  }
  std::uint64_t sequence = window_.head();
  bool duplicate = false;
  take_in(
      batch.keys.size(), result,
      [&](std::uint64_t i, double* out) noexcept {
        const auto joined = labels->join(batch.keys[i], sequence, [&](const double* row) {
          return copy_kept(row, batch.targets[i], out);
        });
        duplicate = joined.duplicate;
        if (ok(joined.status) && !duplicate) ++sequence;
        return duplicate ? Status::kRefused : joined.status;
      },
      [&](std::uint64_t i, Status why) noexcept {
        if (!duplicate) return refuse_row(result, refused, i, why);
        ++result.duplicate;
        counters_.add(RuntimeCounter::kLabelsDuplicate);
      });
  return result;
}

ObserveResult Ingest::settle_overdue(PendingLabels& labels, std::uint64_t most) noexcept {
  ObserveResult result;
  if (std::isnan(labels.timeout_outcome())) {
    constexpr std::uint64_t kAtOnce = 256;  // under one lock
    while (result.timed_out < most) {
      const std::uint64_t step = std::min(kAtOnce, most - result.timed_out);
      const std::uint64_t dropped = labels.drop_overdue(step);
      result.timed_out += dropped;
      if (dropped < step) break;
    }
    return result;
  }
  std::uint64_t sequence = window_.head();
  take_in(
      labels.overdue(std::min<std::uint64_t>(most, max_frame_rows_)), result,
      [&](std::uint64_t, double* out) noexcept {
        const Status status = labels.join_overdue(sequence, [&](const double* row) {
          return copy_kept(row, labels.timeout_outcome(), out);
        });
        if (ok(status)) ++sequence;
        return status;
      },
      [&](std::uint64_t i, Status why) noexcept {
        // Meanwhile somebody may have asked again with the same key.
        if (why != Status::kUnknownKey) refuse_row(result, {}, i, why);
      });
  result.timed_out = result.accepted + result.refused;
  return result;
}

}  // namespace windhover
