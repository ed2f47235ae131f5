#include "windhover/runtime/learner_pool.h"

#include <algorithm>
#include <new>

namespace windhover {

Status LearnerPool::start(std::span<Engine* const> engines, std::uint32_t threads,
                          const ThreadOptions& options, IdleStrategy::Kind idle,
                          std::size_t spare) noexcept {
  if (engines.empty() || threads == 0 || entries_ != nullptr) return Status::kInvalidArgument;
  const std::size_t count =
      std::min({std::size_t{threads}, engines.size() + spare, std::size_t{kMaxLearnerThreads}});
  // Each thread's queue has room for all spare engines, as any may get them.
  entries_.reset(new (std::nothrow) EngineQueue::Entry[engines.size() + count * spare]);
  if (entries_ == nullptr) return Status::kUnavailable;
  idle_ = idle;
  spare_ = spare;
  running_.store(true, std::memory_order_relaxed);
  Status status = Status::kOk;
  std::size_t begin = 0;
  for (std::size_t t = 0; t < count; ++t) {
    Worker& worker = workers_[t];
    std::size_t end = begin;
    for (std::size_t i = t; i < engines.size(); i += count) entries_[end++].engine = engines[i];
    worker.pool = this;
    worker.engines = end - begin;
    worker.room = {&entries_[begin], worker.engines + spare};
    worker.queue.emplace(worker.room, worker.engines, clock_);
    begin = end + spare;
  }
  for (std::size_t t = 0; ok(status) && t < count; ++t) {
    ThreadOptions own = options;
    if (t > 0) own.cpu = -1;  // the processor is for one thread
    status = workers_[t].thread.start(own, &LearnerPool::run, &workers_[t]);
  }
  if (!ok(status)) stop();
  return status;
}

Status LearnerPool::add(Engine& engine) noexcept {
  if (spare_ == 0) return Status::kUnavailable;
  Worker* least = nullptr;
  for (Worker& worker : workers_) {
    if (worker.room.empty()) continue;
    if (least == nullptr || worker.engines < least->engines) least = &worker;
  }
  if (least == nullptr) return Status::kUnavailable;
  --spare_;
  ++least->engines;
  make({&engine, true}, *least);
  return Status::kOk;
}

void LearnerPool::remove(Engine& engine) noexcept {
  for (Worker& worker : workers_) {
    // Entries can be read here: only changes write them, and this thread has waited for these.
    if (std::ranges::find(worker.room, &engine, &EngineQueue::Entry::engine) == worker.room.end()) {
      continue;
    }
    make({&engine, false}, worker);
    --worker.engines;
    ++spare_;
    return;
  }
}

// Waits until the worker's thread has made the change, between two turns. A thread that parks looks
// for changes every millisecond, one that learns after each turn.
void LearnerPool::make(const Change& change, Worker& worker) noexcept {
  const auto nobody_to_wake = [] {};
  worker.changes.give(change, nobody_to_wake, [&](const Change& made) { worker.take(made); });
}

void LearnerPool::stop() noexcept {
  running_.store(false, std::memory_order_relaxed);
  for (Worker& worker : workers_) {
    worker.thread.join();
    worker.room = {};
  }
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
    if (worker.room.empty()) continue;
    const std::int64_t beat = worker.beat_ns.load(std::memory_order_relaxed);
    oldest = oldest == 0 ? beat : std::min(oldest, beat);
  }
  return oldest;
}

void LearnerPool::run(void* self) noexcept {
  auto& worker = *static_cast<Worker*>(self);
  LearnerPool& pool = *worker.pool;
  IdleStrategy idle(pool.idle_);
  worker.changes.begin();
  while (pool.running_.load(std::memory_order_relaxed)) {
    worker.beat_ns.store(pool.clock_.now_ns(), std::memory_order_relaxed);
    worker.changes.look([&](const Change& change) { worker.take(change); });
    idle.idle(worker.queue->serve());
  }
  worker.changes.end();
}

}  // namespace windhover
