// Runs Engine::poll of several engines on a few threads.
#ifndef WINDHOVER_RUNTIME_LEARNER_POOL_H_
#define WINDHOVER_RUNTIME_LEARNER_POOL_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "windhover/platform/clock.h"
#include "windhover/platform/handover.h"
#include "windhover/platform/thread.h"
#include "windhover/runtime/engine.h"
#include "windhover/runtime/engine_queue.h"

namespace windhover {

// Thread t polls engines t, t + threads, ...: an engine never changes its thread, and one that is
// added later goes to the thread that has the fewest. On a thread they take turns by urgency
// (engine_queue.h). EngineConfig::learner_threads is ignored: with several engines there is work
// for all threads without helpers. Invariant: an engine is polled by one thread at most.
class LearnerPool {
 public:
  LearnerPool() noexcept = default;
  ~LearnerPool() { stop(); }
  LearnerPool(const LearnerPool&) = delete;
  LearnerPool& operator=(const LearnerPool&) = delete;

  // Starts `threads` threads, but no more than engines, with those that may be added, or than
  // kMaxLearnerThreads. The engines outlive the threads. `spare`: how many may be added while they
  // run. Makes heap calls; nothing later does. Errors are Thread::start's, or kUnavailable without
  // memory; then nothing runs. kInvalidArgument: there is no engine or no thread, or they run
  // already.
  Status start(std::span<Engine* const> engines, std::uint32_t threads,
               const ThreadOptions& options, IdleStrategy::Kind idle,
               std::size_t spare = 0) noexcept;

  // Call these between start() and stop(), from one thread at a time that is none of the pool's.
  // Each waits until the engine's thread has finished its turn: from then on the engine is polled,
  // or not touched any more. add(): kUnavailable when all spare places are taken.
  Status add(Engine& engine) noexcept;
  void remove(Engine& engine) noexcept;

  // Finishes the rounds under way and joins the threads. Does nothing if they do not run.
  void stop() noexcept;
  std::uint32_t warnings() const noexcept;  // of all threads: a mask of ThreadWarning
  // The least LearnerThread::beat_ns() of the threads.
  std::int64_t beat_ns() const noexcept;

 private:
  // An engine to be added or removed.
  struct Change {
    Engine* engine;
    bool comes;
  };
  struct Worker {
    void take(const Change& change) noexcept {
      change.comes ? queue->add(*change.engine) : queue->remove(*change.engine);
    }

    LearnerPool* pool = nullptr;
    std::span<EngineQueue::Entry> room;  // empty: it does not run
    std::size_t engines = 0;             // used by the thread that adds and removes alone
    std::optional<EngineQueue> queue;    // used by the worker's thread alone
    Handover<Change> changes;
    std::atomic<std::int64_t> beat_ns{0};
    Thread thread;
  };

  static void run(void* worker) noexcept;
  static void make(const Change& change, Worker& worker) noexcept;

  RealClock clock_;
  std::unique_ptr<EngineQueue::Entry[]> entries_;
  std::size_t spare_ = 0;  // engines that may still be added
  IdleStrategy::Kind idle_ = IdleStrategy::kPark;
  std::atomic<bool> running_{false};
  std::array<Worker, kMaxLearnerThreads> workers_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNER_POOL_H_
