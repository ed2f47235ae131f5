// Runs Engine::poll on a thread of its own, for hosts that do not want to.
#ifndef WINDHOVER_RUNTIME_LEARNER_THREAD_H_
#define WINDHOVER_RUNTIME_LEARNER_THREAD_H_

#include <atomic>

#include "windhover/platform/thread.h"
#include "windhover/runtime/engine.h"

namespace windhover {

class LearnerThread {
 public:
  // The engine outlives the thread. Errors are Thread::start's.
  Status start(Engine& engine, const ThreadOptions& options, IdleStrategy::Kind idle) noexcept {
    engine_ = &engine;
    idle_ = idle;
    running_.store(true, std::memory_order_relaxed);
    return thread_.start(options, &LearnerThread::run, this);
  }
  // Finishes the round under way and joins.
  void stop() noexcept {
    running_.store(false, std::memory_order_relaxed);
    thread_.join();
  }
  const Thread& thread() const noexcept { return thread_; }

 private:
  static constexpr int kRoundsAPoll = 16;

  static void run(void* self) noexcept {
    auto& learner = *static_cast<LearnerThread*>(self);
    IdleStrategy idle(learner.idle_);
    while (learner.running_.load(std::memory_order_relaxed)) {
      idle.idle(learner.engine_->poll(kRoundsAPoll));
    }
  }

  Engine* engine_ = nullptr;
  IdleStrategy::Kind idle_ = IdleStrategy::Kind::kPark;
  std::atomic<bool> running_{false};
  Thread thread_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNER_THREAD_H_
