// Rows that are asked about with a key, and what happened then: Engine::labels().
#ifndef WINDHOVER_RUNTIME_LABELS_LATE_LABELS_H_
#define WINDHOVER_RUNTIME_LABELS_LATE_LABELS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/result.h"
#include "windhover/runtime/observation.h"
#include "windhover/runtime/prediction/predictive.h"

namespace windhover {

struct EngineLayout;
struct GivenAnswer;
class PendingLabels;
class Predictor;

// Invariant: a key is waited for from the answer about its row on until its outcome is a row of the
// stream or its time is up, and in memory alone: neither EngineState::save() nor a log has it, and
// after a restore there is none. The table of keys is its own; readers' threads write it, and the
// observe thread, under a lock that is held while one key is looked up and its row copied
// (pending_labels.h).
class LateLabels {
 public:
  // Takes the outcomes of rows that were asked about with a key (PredictRequest::keys): each is
  // then an observation as any other, accepted or refused on its own; the first refused.size()
  // refusals are listed. Its score, where predictions are scored, is that of the answer given when
  // it was asked about. kUnknownKey: nobody has asked with it, or it was long ago, or before a
  // restart; kKeyTimedOut; `duplicate` counts keys that have been joined. Otherwise as
  // Engine::observe(): kWindowFull: nothing has happened; kKeyNotTaken: EngineConfig::labels keeps
  // none. Call it on the observe thread. Complexity O(keys x features).
  ObserveResult observe(const OutcomeBatch& batch, std::span<RefusedRow> refused) noexcept;

  // Keys whose time is up, `most` of them, are no longer waited for (`timed_out`: how many): call
  // it now and then, again while there are as many. With EngineConfig::labels.timeout_outcome their
  // rows, max_frame_rows at most, are observations with that outcome: accepted, or refused;
  // kWindowFull: try again later. Call it on the observe thread. Complexity O(most).
  ObserveResult settle(std::uint64_t most) noexcept;

  // How many keys are waited for now. Any thread.
  std::uint64_t pending() const noexcept;

  // Whether keep() may take the rows of a question with keys that another engine is to answer: kOk,
  // or what is wrong with them as Reader::predict() says it. Rows, offsets and keys are looked at,
  // whatever else is asked. Any thread.
  Status may_keep(const PredictRequest& request) noexcept;
  // Keeps rows [first, first + count) of such a question, once they are answered. What became of
  // the keys is written to `summaries`, which are the whole question's. When an outcome comes the
  // row is scored like one that came with it. Any thread. REQUIRES: may_keep() is kOk.
  void keep(const PredictRequest& request, std::size_t first, std::size_t count,
            std::span<PredictiveSummary> summaries) noexcept;

 private:
  friend struct EngineLayout;
  friend class EngineState;

  // Takes memory, writes nothing; reset() before use.
  LateLabels(EngineLayout& engine, Arena& arena) noexcept;
  void reset() noexcept;
  // As keep(), for rows that `predictor` has answered; `answer` is what a score needs beside the
  // numbers.
  void keep_answered(const Predictor& predictor, GivenAnswer answer, const PredictRequest& request,
                     std::size_t first, std::size_t count,
                     std::span<PredictiveSummary> summaries) noexcept;

  EngineLayout& engine_;
  PendingLabels* table_;  // null: no keys
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LABELS_LATE_LABELS_H_
