#include "windhover/runtime/learner_pool.h"

#include <algorithm>
#include <new>

namespace windhover {

Status LearnerPool::start(std::span<Engine* const> engines, std::uint32_t threads,
                          const ThreadOptions& options, IdleStrategy::Kind idle) noexcept {
  if (engines.empty() || threads == 0 || entries_ != nullptr) return Status::kInvalidArgument;
  entries_.reset(new (std::nothrow) EngineQueue::Entry[engines.size()]);
  if (entries_ == nullptr) return Status::kUnavailable;
  const std::size_t count =
      std::min({std::size_t{threads}, engines.size(), std::size_t{kMaxLearnerThreads}});
  idle_ = idle;
  running_.store(true, std::memory_order_relaxed);
  Status status = Status::kOk;
  std::size_t begin = 0;
  for (std::size_t t = 0; t < count; ++t) {
    std::size_t end = begin;
    for (std::size_t i = t; i < engines.size(); i += count) entries_[end++].engine = engines[i];
    workers_[t].pool = this;
    workers_[t].entries = {&entries_[begin], end - begin};
    begin = end;
  }
  for (std::size_t t = 0; ok(status) && t < count; ++t) {
    ThreadOptions own = options;
    if (t > 0) own.cpu = -1;  // one processor is not for all of them
    status = workers_[t].thread.start(own, &LearnerPool::run, &workers_[t]);
  }
  if (!ok(status)) stop();
  return status;
}

void LearnerPool::stop() noexcept {
  running_.store(false, std::memory_order_relaxed);
  for (Worker& worker : workers_) worker.thread.join();
  entries_.reset();
}

std::uint32_t LearnerPool::warnings() const noexcept {
  std::uint32_t mask = 0;
  for (const Worker& worker : workers_) mask |= worker.thread.warnings();
  return mask;
}

std::int64_t LearnerPool::beat_ns() const noexcept {
  std::int64_t oldest = 0;
  for (const Worker& worker : workers_) {
    if (worker.entries.empty()) continue;
    const std::int64_t beat = worker.beat_ns.load(std::memory_order_relaxed);
    oldest = oldest == 0 ? beat : std::min(oldest, beat);
  }
  return oldest;
}

void LearnerPool::run(void* self) noexcept {
  auto& worker = *static_cast<Worker*>(self);
  LearnerPool& pool = *worker.pool;
  EngineQueue queue(worker.entries, pool.clock_);
  IdleStrategy idle(pool.idle_);
  while (pool.running_.load(std::memory_order_relaxed)) {
    worker.beat_ns.store(pool.clock_.now_ns(), std::memory_order_relaxed);
    idle.idle(queue.serve());
  }
}

}  // namespace windhover
