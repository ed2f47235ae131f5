// Runs Engine::poll on a thread of its own.
#ifndef WINDHOVER_RUNTIME_LEARNER_THREAD_H_
#define WINDHOVER_RUNTIME_LEARNER_THREAD_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "windhover/platform/thread.h"
#include "windhover/runtime/engine.h"

namespace windhover {

// Runs Engine::poll on one thread, and Engine::assist on EngineConfig::learner_threads - 1 more.
// Invariant: helpers run for at least as long as the first thread does.
class LearnerThread {
 public:
  LearnerThread() noexcept = default;
  ~LearnerThread() { stop(); }
  LearnerThread(const LearnerThread&) = delete;
  LearnerThread& operator=(const LearnerThread&) = delete;

  // The engine outlives the threads. Helpers have the options of the first thread, but run on any
  // processor. Errors are Thread::start's, or kInvalidArgument: it runs already. After another
  // error nothing runs.
  Status start(Engine& engine, const ThreadOptions& options, IdleStrategy::Kind idle) noexcept;
  // Finishes the poll under way and joins the threads. Does nothing if they do not run.
  void stop() noexcept;
  const Thread& thread() const noexcept { return thread_; }
  // The warnings of all its threads: a mask of ThreadWarning.
  std::uint32_t warnings() const noexcept;
  // When the loop last began a turn, on CLOCK_MONOTONIC. It does so at least every few
  // milliseconds, unless rounds last longer. 0: it has not yet. Any thread.
  std::int64_t beat_ns() const noexcept { return beat_ns_.load(std::memory_order_relaxed); }

 private:
  struct Helper {
    LearnerThread* learner = nullptr;
    std::uint32_t worker = 0;
    Thread thread;
  };

  static void run(void* self) noexcept;
  static void help(void* helper) noexcept;

  Engine* engine_ = nullptr;
  IdleStrategy::Kind idle_ = IdleStrategy::kPark;
  std::atomic<bool> running_{false};
  std::atomic<std::int64_t> beat_ns_{0};
  Thread thread_;
  std::atomic<bool> helping_{false};
  std::array<Helper, kMaxLearnerThreads - 1> helpers_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNER_THREAD_H_
