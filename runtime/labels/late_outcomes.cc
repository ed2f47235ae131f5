// Rows that were kept with a key, once their outcome has come or their time is up.
#include <algorithm>
#include <cmath>

#include "windhover/runtime/engine_layout.h"
#include "windhover/runtime/labels/late_labels.h"

namespace windhover {

namespace {

ObserveResult drop_overdue(PendingLabels& table, std::uint64_t most) noexcept {
  constexpr std::uint64_t kAtOnce = 256;  // under one lock
  ObserveResult result;
  while (result.timed_out < most) {
    const std::uint64_t step = std::min(kAtOnce, most - result.timed_out);
    const std::uint64_t dropped = table.drop_overdue(step);
    result.timed_out += dropped;
    if (dropped < step) break;
  }
  return result;
}

}  // namespace

ObserveResult LateLabels::observe(const OutcomeBatch& batch,
                                  std::span<RefusedRow> refused) noexcept {
  ObserveResult result;
  if (table_ == nullptr || batch.keys.size() != batch.targets.size()) {
    engine_.counters.add(RuntimeCounter::kBatchesRefused);
    result.status = table_ == nullptr ? Status::kKeyNotTaken : Status::kMalformed;
    return result;
  }
  Ingest& ingest = engine_.parts.ingest;
  std::uint64_t sequence = engine_.parts.window.head();
  bool duplicate = false;
  ingest.take_in(
      batch.keys.size(), result,
      [&](std::uint64_t i, double* out) noexcept {
        const auto joined = table_->join(batch.keys[i], sequence, [&](const double* row) {
          return ingest.copy_kept(row, batch.targets[i], out);
        });
        duplicate = joined.duplicate;
        if (ok(joined.status) && !duplicate) ++sequence;
        return duplicate ? Status::kRefused : joined.status;
      },
      [&](std::uint64_t i, Status why) noexcept {
        if (!duplicate) return ingest.refuse_row(result, refused, i, why);
        ++result.duplicate;
        engine_.counters.add(RuntimeCounter::kLabelsDuplicate);
      });
  return result;
}

ObserveResult LateLabels::settle(std::uint64_t most) noexcept {
  if (table_ == nullptr) return {};
  if (std::isnan(table_->timeout_outcome())) return drop_overdue(*table_, most);
  Ingest& ingest = engine_.parts.ingest;
  ObserveResult result;
  std::uint64_t sequence = engine_.parts.window.head();
  ingest.take_in(
      table_->overdue(std::min<std::uint64_t>(most, ingest.max_frame_rows())), result,
      [&](std::uint64_t, double* out) noexcept {
        const Status status = table_->join_overdue(sequence, [&](const double* row) {
          return ingest.copy_kept(row, table_->timeout_outcome(), out);
        });
        if (ok(status)) ++sequence;
        return status;
      },
      [&](std::uint64_t i, Status why) noexcept {
        // kUnknownKey: meanwhile somebody has asked again with the same key.
        if (why != Status::kUnknownKey) ingest.refuse_row(result, {}, i, why);
      });
  result.timed_out = result.accepted + result.refused;
  return result;
}

std::uint64_t LateLabels::hash_of(std::uint64_t row) const noexcept { return table_->hash_of(row); }

void LateLabels::settle_again(std::uint64_t hash, KeyState state, std::uint64_t row) noexcept {
  if (table_ != nullptr) table_->settle_again(hash, state, row);
}

}  // namespace windhover
