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

// One is: the learner's state copied at a round's end, where all producers stand copied between two
// frames, the window's rows read in place up to that frame. It counts once the log has come as far:
// otherwise rows could be in it whose producers, after a crash, do not know that they were sent.
// Invariant: the log keeps every frame that the older of the two checkpoints kept does not hold.
class Checkpointer {
 public:
  struct Parts {
    Engine& engine;
    CheckpointStore& store;
    ProducerCapture& producers;
    const FrameFeed& feed;  // none is taken before it is open
    const LogProgress& log;
    LogAgent* agent;  // null: no log
    CheckpointProgress& progress;
    Clock& clock;
    std::uint64_t instance;
    std::uint64_t log_capacity;            // bytes; 0: no log
    std::chrono::milliseconds period;      // 0: only when asked or where the log needs it
    void (*ask_producers)(void* context);  // wakes the observe thread, which takes the capture
    void* context;
  };

  explicit Checkpointer(const Parts& parts) noexcept : parts_(parts) {}

  // Frames that the newest one there is holds: after recovery.
  void begin_with(std::uint64_t frames) noexcept { newest_frames_ = frames; }

  Status start(const ThreadOptions& options) noexcept;
  void stop() noexcept;
  const Thread& thread() const noexcept { return thread_; }

  // Any thread: one more as soon as can be; its number among the requests.
  std::uint64_t request() noexcept;

  // Takes all that has come, learned or not. REQUIRES: no other thread is at work.
  Status take_at_rest(ProducerTable& table, std::uint64_t frames) noexcept;

 private:
  static void run(void* self) noexcept;
  bool due(std::int64_t now_ns) noexcept;
  Error take() noexcept;
  Status capture() noexcept;
  Error write(std::uint64_t head, bool at_rest) noexcept;
  template <class Done>
  Status wait_for(std::int64_t longest_ns, Done&& done) noexcept;
  void finish(const Error& error, std::int64_t began_ns) noexcept;

  const Parts parts_;
  std::uint64_t newest_frames_ = 0;
  std::uint64_t answering_ = 0;  // requests that the one under way answers
  Pause pause_;                  // before the next one of the period, or a retry
  std::atomic<bool> running_{false};
  Wake wake_;
  Thread thread_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_CHECKPOINTER_H_
