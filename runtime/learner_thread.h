// Runs Engine::poll on a thread of its own, for hosts that do not want to.
#ifndef WINDHOVER_RUNTIME_LEARNER_THREAD_H_
#define WINDHOVER_RUNTIME_LEARNER_THREAD_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "windhover/platform/thread.h"
#include "windhover/runtime/engine.h"

namespace windhover {

// And Engine::assist on as many more as EngineConfig::learner_threads says.
class LearnerThread {
 public:
  LearnerThread() noexcept = default;
  ~LearnerThread() { stop(); }
  LearnerThread(const LearnerThread&) = delete;
  LearnerThread& operator=(const LearnerThread&) = delete;

  // The engine outlives the threads. Helpers have the options of the first but run on any
  // processor. Errors are Thread::start's; then nothing runs.
  Status start(Engine& engine, const ThreadOptions& options, IdleStrategy::Kind idle) noexcept;
  // Finishes the round under way and joins; nothing to do when they do not run.
  void stop() noexcept;
  const Thread& thread() const noexcept { return thread_; }
  // The warnings of all its threads: a mask of ThreadWarning.
  std::uint32_t warnings() const noexcept;
  // When the loop last began a turn, on CLOCK_MONOTONIC: every few milliseconds at least, but for
  // rounds that last longer. 0: it has not yet. Any thread.
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
