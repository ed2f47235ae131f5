// Takes judged frames to the disk, as many at a time as have come.
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
#include "windhover/runtime/window/row_follower.h"

namespace windhover {

// Who hears of it when more is on disk. Called on the log's thread; must not block.
using DurableFunction = void (*)(void* context) noexcept;

// Frames that come while one commit is written make up the next: the group is as large as the disk
// is slow. Rows are packed from the window, where they lie, under a lease of the log's own,
// straight into the commit. Invariant: a frame leaves the ring when all it says, and its rows, are
// in the writer's buffer; progress.durable_frames passes it when they are on disk, in one commit. A
// commit that fails is tried again, with what has come since: until then frames wait in the ring,
// and the sender at the window. The log's end is marked when nothing has come for a moment. One
// thread. No heap.
class LogAgent {
 public:
  struct Options {
    // A commit begins no sooner than this after the one before: fewer, larger writes.
    std::chrono::nanoseconds commit_interval{0};
    // Time after a commit that failed until it is tried again.
    std::chrono::milliseconds retry_interval{100};
    // After the last commit, before the log's end is marked: who waits for each acknowledgement
    // sends the next frame sooner, and its commit says the same.
    std::chrono::nanoseconds seal_after{1'000'000};
  };

  // All arguments outlive it.
  // `row_bytes` as FrameFeed's.
  LogAgent(FrameRing& ring, LogWriter& writer, RowFollower rows, std::uint64_t row_bytes,
           LogProgress& progress, Clock& clock, const Options& options) noexcept;

  void on_durable(DurableFunction function, void* context) noexcept {
    told_ = function;
    told_context_ = context;
  }

  // Packs what has come and commits it. Returns frames packed or made durable; 0: nothing to do, or
  // nothing that could be done.
  int do_work() noexcept;

  // Any thread: segments with frames below `frame` only may be written over.
  void release_below(std::uint64_t frame) noexcept {
    release_below_.store(frame, std::memory_order_release);
    wake_.wake();
  }
  Wake& wake() noexcept { return wake_; }

  // Runs do_work() on a thread of its own until stop(), which leaves nothing behind that could be
  // written, and the log's end marked on disk.
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
  LogProgress& progress_;
  Clock& clock_;
  const Options options_;
  DurableFunction told_ = nullptr;
  void* told_context_ = nullptr;
  std::uint64_t row_bytes_;
  std::uint64_t packed_bytes_ = 0;  // of frames taken from the ring, as FrameFeed counts them
  Pause pause_;                     // before the next commit
  Pause quiet_;                     // before the log's end is marked
  bool seal_due_ = true;            // since the last commit it has not been
  std::atomic<std::uint64_t> release_below_{0};
  std::atomic<bool> running_{false};
  Wake wake_;
  Thread thread_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_LOG_AGENT_H_
