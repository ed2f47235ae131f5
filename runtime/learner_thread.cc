#include "windhover/runtime/learner_thread.h"

#include "windhover/platform/clock.h"

namespace windhover {

namespace {

constexpr int kRoundsAPoll = 16;
// Pauses of a helper before it gives its processor away: some 100 us, longer than most refreshes
// and snapshots between two rounds. A helper that goes to sleep misses a millisecond.
constexpr int kHelperPauses = 4096;

}  // namespace

Status LearnerThread::start(Engine& engine, const ThreadOptions& options,
                            IdleStrategy::Kind idle) noexcept {
  if (thread_.joinable()) return Status::kInvalidArgument;
  engine_ = &engine;
  idle_ = idle;
  running_.store(true, std::memory_order_relaxed);
  helping_.store(true, std::memory_order_relaxed);
  Status status = thread_.start(options, &LearnerThread::run, this);
  ThreadOptions helper_options = options;
  helper_options.cpu = -1;
  for (std::uint32_t w = 1; ok(status) && w < engine.config().learner_threads; ++w) {
    Helper& helper = helpers_[w - 1];
    helper.learner = this;
    helper.worker = w;
    status = helper.thread.start(helper_options, &LearnerThread::help, &helper);
  }
  if (!ok(status)) stop();
  return status;
}

// The helpers are stopped last: the round under way may wait for a piece that one of them has
// begun.
void LearnerThread::stop() noexcept {
  running_.store(false, std::memory_order_relaxed);
  thread_.join();
  helping_.store(false, std::memory_order_relaxed);
  for (Helper& helper : helpers_) helper.thread.join();
}

std::uint32_t LearnerThread::warnings() const noexcept {
  std::uint32_t mask = thread_.warnings();
  for (const Helper& helper : helpers_) mask |= helper.thread.warnings();
  return mask;
}

void LearnerThread::run(void* self) noexcept {
  auto& learner = *static_cast<LearnerThread*>(self);
  IdleStrategy idle(learner.idle_);
  RealClock clock;
  while (learner.running_.load(std::memory_order_relaxed)) {
    learner.beat_ns_.store(clock.now_ns(), std::memory_order_relaxed);
    idle.idle(learner.engine_->poll(kRoundsAPoll));
  }
}

void LearnerThread::help(void* self) noexcept {
  auto& helper = *static_cast<Helper*>(self);
  LearnerThread& learner = *helper.learner;
  IdleStrategy idle(learner.idle_, kHelperPauses);
  while (learner.helping_.load(std::memory_order_relaxed)) {
    idle.idle(learner.engine_->assist(helper.worker));
  }
}

}  // namespace windhover
