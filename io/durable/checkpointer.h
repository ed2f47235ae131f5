// Takes checkpoints of an engine at work, on a thread of its own.
#ifndef WINDHOVER_IO_DURABLE_CHECKPOINTER_H_
#define WINDHOVER_IO_DURABLE_CHECKPOINTER_H_

#include <atomic>
#include <chrono>
#include <cstdint>

#include "windhover/io/durable/checkpoint_progress.h"
#include "windhover/io/durable/checkpoint_store.h"
#include "windhover/io/durable/frame_feed.h"
#include "windhover/io/durable/log_agent.h"
#include "windhover/io/durable/log_progress.h"
#include "windhover/io/durable/pause.h"
#include "windhover/io/durable/producer_capture.h"
#include "windhover/io/durable/wake.h"
#include "windhover/platform/clock.h"
#include "windhover/platform/thread.h"
#include "windhover/runtime/engine.h"

namespace windhover {

// A checkpoint has the learner's state, copied at the end of a round; the state of all producers,
// copied between two frames; and the window's rows up to that frame, read in place. It is finished
// only once the log has these frames on disk: otherwise, after a crash, it could hold rows that
// their producers send again. Invariant: the log keeps every frame that the older of the two kept
// checkpoints does not hold.
class Checkpointer {
 public:
  struct Parts {
    Engine& engine;
    CheckpointStore& store;
    ProducerCapture& producers;
    const FrameFeed& feed;  // no checkpoint is taken before it is open
    const LogProgress& log;
    LogAgent* agent;  // null: no log
    CheckpointProgress& progress;
    Clock& clock;
    std::uint64_t instance;
    std::uint64_t log_capacity;            // bytes; 0: no log
    std::chrono::milliseconds period;      // 0: only when asked or where the log needs one
    void (*ask_producers)(void* context);  // wakes the observe thread, which copies the producers
    void* context;
  };

  explicit Checkpointer(const Parts& parts) noexcept : parts_(parts) {}

  // After recovery: `frames` is what the newest checkpoint holds.
  void begin_with(std::uint64_t frames) noexcept {
    newest_frames_ = frames;
    newest_keys_ = keys_kept();
  }

  Status start(const ThreadOptions& options) noexcept;
  void stop() noexcept;
  const Thread& thread() const noexcept { return thread_; }

  // Asks for a checkpoint as soon as possible and returns the request's number. Any thread.
  std::uint64_t request() noexcept;

  // Takes a checkpoint of all that has come, learned or not. REQUIRES: no other thread is at work.
  Status take_at_rest(ProducerTable& table, std::uint64_t frames) noexcept;

 private:
  static void run(void* self) noexcept;
  bool due(std::int64_t now_ns) noexcept;
  std::uint64_t keys_kept() const noexcept {
    return parts_.engine.counters().get(RuntimeCounter::kLabelsKept);
  }
  Error take() noexcept;
  Status capture() noexcept;
  Error write(std::uint64_t head, bool at_rest) noexcept;
  template <class Done>
  Status wait_for(std::int64_t longest_ns, Done&& done) noexcept;
  void finish(const Error& error, std::int64_t began_ns) noexcept;

  const Parts parts_;
  std::uint64_t newest_frames_ = 0;
  std::uint64_t newest_keys_ = 0;  // keys that had been kept when the newest was written
  std::uint64_t answering_ = 0;    // requests that the checkpoint under way answers
  Pause pause_;                    // before the next one of the period, or before a retry
  std::atomic<bool> running_{false};
  Wake wake_;
  Thread thread_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_CHECKPOINTER_H_
