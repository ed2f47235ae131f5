// Runs Engine::poll of several engines on a few threads.
#ifndef WINDHOVER_RUNTIME_LEARNER_POOL_H_
#define WINDHOVER_RUNTIME_LEARNER_POOL_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "windhover/platform/clock.h"
#include "windhover/platform/thread.h"
#include "windhover/runtime/engine.h"
#include "windhover/runtime/engine_queue.h"

namespace windhover {

// Thread t polls engines t, t + threads, ...: an engine never changes its thread. On a thread they
// take turns by urgency (engine_queue.h). EngineConfig::learner_threads is not looked at: with
// several engines there is work for all threads without helpers.
class LearnerPool {
 public:
  LearnerPool() noexcept = default;
  ~LearnerPool() { stop(); }
  LearnerPool(const LearnerPool&) = delete;
  LearnerPool& operator=(const LearnerPool&) = delete;

  // At most as many threads as engines and kMaxLearnerThreads. The engines outlive the threads.
  // Makes heap calls, and none later. Errors are Thread::start's, or kUnavailable without memory;
  // then nothing runs. kInvalidArgument: no engine, no thread, or they run.
  Status start(std::span<Engine* const> engines, std::uint32_t threads,
               const ThreadOptions& options, IdleStrategy::Kind idle) noexcept;
  // Finishes the rounds under way and joins; nothing to do when they do not run.
  void stop() noexcept;
  std::uint32_t warnings() const noexcept;  // of all of them: a mask of ThreadWarning
  // As LearnerThread::beat_ns(), of the thread that has not turned for longest.
  std::int64_t beat_ns() const noexcept;

 private:
  struct Worker {
    LearnerPool* pool = nullptr;
    std::span<EngineQueue::Entry> entries;
    std::atomic<std::int64_t> beat_ns{0};
    Thread thread;
  };

  static void run(void* worker) noexcept;

  RealClock clock_;
  std::unique_ptr<EngineQueue::Entry[]> entries_;
  IdleStrategy::Kind idle_ = IdleStrategy::kPark;
  std::atomic<bool> running_{false};
  std::array<Worker, kMaxLearnerThreads> workers_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNER_POOL_H_
