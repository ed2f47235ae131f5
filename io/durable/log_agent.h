// Writes judged frames to the log, as many at a time as have come.
#ifndef WINDHOVER_IO_DURABLE_LOG_AGENT_H_
#define WINDHOVER_IO_DURABLE_LOG_AGENT_H_

#include <atomic>
#include <chrono>
#include <cstdint>

#include "windhover/io/durable/frame_ring.h"
#include "windhover/io/durable/log_progress.h"
#include "windhover/io/durable/log_writer.h"
#include "windhover/io/durable/pause.h"
#include "windhover/io/durable/wake.h"
#include "windhover/platform/clock.h"
#include "windhover/platform/thread.h"
#include "windhover/runtime/labels/late_labels.h"
#include "windhover/runtime/window/row_follower.h"

namespace windhover {

// Called on the log's thread when more is on disk; must not block.
using DurableFunction = void (*)(void* context) noexcept;

// Frames that come while one commit is written make up the next, so the slower the disk the larger
// the commits. Rows are packed from the window straight into the commit, under a lease of the log's
// own. Invariant: a frame leaves the ring when it and its rows are in the writer's buffer;
// progress.durable_frames passes it when they are on disk, in one commit. A commit that fails is
// tried again, with what has come since: until then frames wait in the ring, and senders at the
// window. The log's end is marked (LogWriter::seal) when nothing has come for a moment. One thread.
// No heap.
class LogAgent {
 public:
  struct Options {
    // The least time between the beginnings of two commits: longer makes fewer, larger writes.
    std::chrono::nanoseconds commit_interval{0};
    // The time after a failed commit until it is tried again.
    std::chrono::milliseconds retry_interval{100};
    // The time after the last commit until the log's end is marked. A sender that waits for each
    // acknowledgement sends its next frame sooner, and the next commit makes the mark needless.
    std::chrono::nanoseconds seal_after{1'000'000};
  };

  // References outlive it. `sizes` as FrameFeed's; `labels` are those of the engine of the rows.
  LogAgent(FrameRing& ring, LogWriter& writer, RowFollower rows, const LateLabels& labels,
           const FrameSizes& sizes, LogProgress& progress, Clock& clock,
           const Options& options) noexcept;

  void on_durable(DurableFunction function, void* context) noexcept {
    told_ = function;
    told_context_ = context;
  }

  // Packs what has come and commits it. Returns frames packed or made durable; 0: nothing to do, or
  // nothing that could be done.
  int do_work() noexcept;

  // Segments that hold only frames below `frame` may be written over. Any thread.
  void release_below(std::uint64_t frame) noexcept {
    release_below_.store(frame, std::memory_order_release);
    wake_.wake();
  }
  Wake& wake() noexcept { return wake_; }

  // Runs do_work() on a thread of its own until stop(), which first writes all that was judged and
  // marks the log's end on disk, as far as the disk allows.
  Status start(const ThreadOptions& options) noexcept;
  void stop() noexcept;
  const Thread& thread() const noexcept { return thread_; }

 private:
  static void run(void* self) noexcept;
  int pack() noexcept;
  int commit() noexcept;
  void tell_room() noexcept;
  void seal() noexcept;
  void count_seal(Status status) noexcept;
  // Until the next commit may begin; 0: now.
  std::int64_t pause_ns() noexcept;

  FrameRing& ring_;
  LogWriter& writer_;
  RowFollower rows_;
  const LateLabels& labels_;
  LogProgress& progress_;
  Clock& clock_;
  const Options options_;
  DurableFunction told_ = nullptr;
  void* told_context_ = nullptr;
  const FrameSizes sizes_;
  std::uint64_t packed_bytes_ = 0;  // of frames taken from the ring, as FrameFeed counts them
  Pause pause_;                     // before the next commit
  Pause quiet_;                     // before the log's end is marked
  bool seal_due_ = true;            // the end has not been marked since the last commit
  std::atomic<std::uint64_t> release_below_{0};
  std::atomic<bool> running_{false};
  Wake wake_;
  Thread thread_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_LOG_AGENT_H_
