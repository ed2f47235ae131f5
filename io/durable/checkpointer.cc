#include "windhover/io/durable/checkpointer.h"

#include <time.h>

#include <algorithm>

namespace windhover {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kLookEvery = 100 * kMillisecond;  // whether the log needs one
constexpr std::int64_t kWaitStep = kMillisecond / 10;    // for another thread's part
constexpr std::int64_t kLongestWait = 30'000 * kMillisecond;
constexpr std::int64_t kCheckpointRetry = 1'000 * kMillisecond;

std::int64_t time_of_day_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

Status Checkpointer::start(const ThreadOptions& options) noexcept {
  if (!wake_.valid()) return Status::kUnavailable;
  pause_.begin(parts_.clock.now_ns(), std::chrono::nanoseconds(parts_.period).count());
  running_.store(true, std::memory_order_relaxed);
  return thread_.start(options, &Checkpointer::run, this);
}

void Checkpointer::stop() noexcept {
  running_.store(false, std::memory_order_release);
  wake_.wake();
  thread_.join();
}

std::uint64_t Checkpointer::request() noexcept {
  const std::uint64_t number = parts_.progress.requested.fetch_add(1) + 1;
  wake_.wake();
  return number;
}

void Checkpointer::run(void* self) noexcept {
  auto& checkpointer = *static_cast<Checkpointer*>(self);
  while (checkpointer.running_.load(std::memory_order_acquire)) {
    if (checkpointer.due(checkpointer.parts_.clock.now_ns())) {
      const std::int64_t began_ns = checkpointer.parts_.clock.now_ns();
      checkpointer.answering_ = checkpointer.parts_.progress.requested.load();
      checkpointer.finish(checkpointer.take(), began_ns);
    } else {
      checkpointer.wake_.sleep(kLookEvery);
    }
  }
}

bool Checkpointer::due(std::int64_t now_ns) noexcept {
  if (!parts_.feed.is_open()) return false;
  const CheckpointProgress& progress = parts_.progress;
  if (progress.requested.load() != progress.answered.load()) return true;
  const bool failed = !ok(progress.status.load(std::memory_order_relaxed));
  const bool waits = pause_.left_ns(now_ns) > 0;
  if (failed && waits) return false;
  const std::uint64_t frames = parts_.log.durable_frames.load(std::memory_order_relaxed);
  // A log that is half full will hold up senders soon. Frames that only the older checkpoint needs
  // are let go with the second checkpoint from here.
  const bool pressed =
      parts_.log_capacity > 0 && parts_.store.frames_needed() < frames &&
      parts_.log.used_bytes.load(std::memory_order_relaxed) > parts_.log_capacity / 2;
  if (pressed) return true;
  if (waits || (parts_.period.count() == 0 && !failed)) return false;
  return frames > newest_frames_ || keys_kept() != newest_keys_ ||
         parts_.engine.head() > progress.head.load(std::memory_order_relaxed);
}

template <class Done>
Status Checkpointer::wait_for(std::int64_t longest_ns, Done&& done) noexcept {
  Pause longest;
  longest.begin(parts_.clock.now_ns(), longest_ns);
  while (!done()) {
    if (!running_.load(std::memory_order_acquire)) return Status::kClosed;
    if (longest.left_ns(parts_.clock.now_ns()) == 0) return Status::kTimeout;
    const timespec step{0, kWaitStep};
    (void)::nanosleep(&step, nullptr);
  }
  return Status::kOk;
}

// The learner comes first, so that the producers' copy is not older than the learner's.
Status Checkpointer::capture() noexcept {
  Status status = parts_.engine.state().request_capture();
  if (!ok(status)) return status;
  status = wait_for(kLongestWait, [this] { return parts_.engine.state().captured(); });
  if (!ok(status)) return status;
  parts_.producers.request();
  parts_.ask_producers(parts_.context);
  return wait_for(kLongestWait, [this] { return parts_.producers.taken(); });
}

Error Checkpointer::take() noexcept {
  Error error{capture()};
  if (ok(error.status)) error = write(parts_.producers.head(), false);
  parts_.engine.state().release_capture();
  parts_.producers.release();
  return error;
}

Status Checkpointer::take_at_rest(ProducerTable& table, std::uint64_t frames) noexcept {
  const std::int64_t began_ns = parts_.clock.now_ns();
  parts_.engine.state().release_capture();
  parts_.producers.take(table, parts_.engine.head(), frames);
  const Error error = write(parts_.engine.head(), true);
  parts_.producers.release();
  finish(error, began_ns);
  return error.status;
}

Error Checkpointer::write(std::uint64_t head, bool at_rest) noexcept {
  CheckpointFacts facts;
  facts.instance = parts_.instance;
  facts.frames = parts_.producers.frames();
  facts.head = head;
  facts.fingerprint = parts_.engine.fingerprint();
  facts.time_ns = time_of_day_ns();
  facts.owners = parts_.producers.tells_owners();
  const std::uint64_t keys = keys_kept();
  CheckpointStore& store = parts_.store;
  Status status = store.begin(facts);
  if (ok(status)) status = parts_.producers.write(store.sink());
  if (ok(status)) {
    status = at_rest ? parts_.engine.state().save(store.sink())
                     : parts_.engine.state().save_captured(store.sink(), head);
  }
  // The rows are in the file, so the window's writer need not wait for the rest.
  if (!at_rest) parts_.engine.state().release_capture();
  if (ok(status) && parts_.log_capacity > 0) {
    // What became of a key while keys were written is known by the log alone.
    const std::uint64_t rows = parts_.engine.labels().rows_end();
    const auto logged = [&] {
      return parts_.log.durable_frames.load(std::memory_order_acquire) >= facts.frames &&
             parts_.log.durable_head.load(std::memory_order_acquire) >= rows;
    };
    status =
        at_rest ? (logged() ? Status::kOk : Status::kUnavailable) : wait_for(kLongestWait, logged);
  }
  if (!ok(status)) {
    store.give_up();
    return ok(store.error().status) ? Error{status} : store.error();
  }
  if (!ok(store.finish())) return store.error();
  newest_frames_ = facts.frames;
  newest_keys_ = keys;
  parts_.progress.head.store(head, std::memory_order_relaxed);
  if (parts_.agent != nullptr) parts_.agent->release_below(store.frames_needed());
  return {};
}

void Checkpointer::finish(const Error& error, std::int64_t began_ns) noexcept {
  CheckpointProgress& progress = parts_.progress;
  const std::int64_t now_ns = parts_.clock.now_ns();
  progress.status.store(error.status, std::memory_order_relaxed);
  progress.error_number.store(errno_of(error), std::memory_order_relaxed);
  if (ok(error.status)) {
    progress.taken.fetch_add(1);
    progress.met.store(std::max(answering_, progress.met.load()));
    progress.taken_ns.store(now_ns, std::memory_order_relaxed);
    progress.lasted_ns.store(now_ns - began_ns, std::memory_order_relaxed);
    pause_.begin(began_ns, std::chrono::nanoseconds(parts_.period).count());
  } else {
    progress.failures.fetch_add(1);
    pause_.begin(now_ns, kCheckpointRetry);
  }
  progress.answered.store(std::max(answering_, progress.answered.load()));
}

}  // namespace windhover
