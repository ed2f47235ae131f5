#ifndef WINDHOVER_PLATFORM_THREAD_H_
#define WINDHOVER_PLATFORM_THREAD_H_

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "windhover/platform/status.h"

namespace windhover {

struct ThreadOptions {
  const char* name = "windhover";  // what ps and gdb show; cut to 15 characters
  int cpu = -1;                    // run on this processor only; -1: anywhere
  int fifo_priority = 0;           // SCHED_FIFO priority 1..99; 0: an ordinary thread
  // How long an ordinary thread wants a processor at a time: 0 for the system's own slice,
  // otherwise 0.1 to 100 ms. A thread with a shorter slice gets a processor sooner when it wakes;
  // its share stays the same. Linux takes the request from 6.12 on; where it is ignored there is no
  // warning.
  std::chrono::microseconds slice{0};
  std::size_t stack_bytes = 8ul << 20;  // rounded up to whole pages; only for threads of ours
};

// What the machine did not permit; bits of a mask. The thread runs all the same, only less
// punctually.
enum ThreadWarning : std::uint32_t {
  kThreadNotNamed = 1,
  kThreadNotPinned = 2,
  kThreadNotPrioritised = 4,
};

// Applies name, processor, priority and slice to the calling thread (for a host that brings its
// own) and returns the mask of ThreadWarning.
std::uint32_t configure_this_thread(const ThreadOptions& options) noexcept;

// One POSIX thread. To start one allocates (in the system), so it belongs to set-up. It cannot be
// moved, because the running thread refers to it. The destructor joins: tell the entry to return
// before.
class Thread {
 public:
  Thread() noexcept = default;
  ~Thread();
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  // Runs entry(argument), with the options applied before entry begins and before start() returns.
  // kInvalidArgument: already started, no entry, or a stack below what the system demands.
  // kUnavailable: the system has no more threads or memory. An option that is not permitted is no
  // failure: see warnings().
  Status start(const ThreadOptions& options, void (*entry)(void*), void* argument) noexcept;

  // Waits until the entry has returned; does nothing when not started. The thread may be started
  // again.
  void join() noexcept;

  bool joinable() const noexcept { return started_; }

  // The mask of ThreadWarning from the last start.
  std::uint32_t warnings() const noexcept { return warnings_; }

 private:
  static void* run(void* self);

  pthread_t handle_{};
  bool started_ = false;
  ThreadOptions options_;
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  std::uint32_t warnings_ = 0;
  std::atomic<bool> configured_{false};
};

// What a thread's loop does between two turns: `idle.idle(agent.do_work())`. One object a thread.
class IdleStrategy {
 public:
  enum Kind : std::uint8_t {
    // Never gives the processor away, so the thread needs one of its own.
    kSpin,
    // Looks again 40 times, then sleeps 1 ms at a time, and 4 ms after 0.1 s without work, which
    // costs 1 % of a processor. Work is noticed at most one sleep late, but for the scheduler.
    kPark,
  };

  // Before the first sleep come `pauses` looks that keep the processor and 8 that yield it.
  explicit IdleStrategy(Kind kind = kPark, int pauses = 32) noexcept
      : kind_(kind), pauses_(pauses) {}

  // Returns at once when work was done; otherwise spins, yields or sleeps once.
  void idle(int work_done) noexcept;

 private:
  Kind kind_;
  int pauses_;
  int idle_turns_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_PLATFORM_THREAD_H_
