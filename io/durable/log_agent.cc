#include "windhover/io/durable/log_agent.h"

#include <algorithm>

#include "windhover/io/durable/logged_keys.h"

namespace windhover {

LogAgent::LogAgent(FrameRing& ring, LogWriter& writer, RowFollower rows, const LateLabels& labels,
                   const FrameSizes& sizes, LogProgress& progress, Clock& clock,
                   const Options& options) noexcept
    : ring_(ring),
      writer_(writer),
      rows_(rows),
      labels_(labels),
      progress_(progress),
      clock_(clock),
      options_(options),
      sizes_(sizes) {
  tell_room();
}

void LogAgent::tell_room() noexcept {
  const std::uint64_t free = writer_.free_bytes();
  progress_.used_bytes.store(writer_.used_bytes(), std::memory_order_relaxed);
  progress_.room_until.store(packed_bytes_ + free, std::memory_order_release);
  if (writer_.pending_frames() == 0) progress_.full.store(free == 0, std::memory_order_relaxed);
}

int LogAgent::do_work() noexcept {
  writer_.release_below(release_below_.load(std::memory_order_acquire));
  int done = pack();
  if (writer_.pending_frames() > 0 && pause_ns() == 0) done += commit();
  if (done == 0) seal();
  tell_room();
  return done;
}

void LogAgent::seal() noexcept {
  if (!seal_due_ || quiet_.left_ns(clock_.now_ns()) > 0) return;
  seal_due_ = false;
  count_seal(writer_.seal());
}

// The log goes on without a seal, but damage is then harder to tell from an unfinished commit.
void LogAgent::count_seal(Status status) noexcept {
  if (ok(status)) return;
  progress_.seal_error_number.store(errno_of(writer_.error()), std::memory_order_relaxed);
  progress_.seal_failures.fetch_add(1, std::memory_order_release);
}

// Packs frames until the commit is full or nothing more has come.
int LogAgent::pack() noexcept {
  int packed = 0;
  while (const LoggedFrame* frame = ring_.front()) {
    std::span<std::byte> room;
    const std::size_t bytes = rows_.packed_bytes(frame->head, frame->accepted);
    if (!ok(writer_.add(*frame, bytes + LoggedKeys::bytes(*frame), room))) break;
    if (bytes > 0) rows_.pack(frame->head, frame->accepted, room.first(bytes));
    LoggedKeys::write(*frame, labels_, room.subspan(bytes).data());
    rows_.keep_from(frame->head + frame->accepted);
    packed_bytes_ += sizes_.bytes_of(frame->accepted);
    ring_.take();
    ++packed;
  }
  return packed;
}

int LogAgent::commit() noexcept {
  const std::uint64_t before = writer_.durable_frames();
  progress_.committing_frames.store(writer_.next_frame(), std::memory_order_release);
  const std::int64_t began_ns = clock_.now_ns();
  const Status status = writer_.commit();
  progress_.status.store(status, std::memory_order_relaxed);
  progress_.error_number.store(ok(status) ? 0 : errno_of(writer_.error()),
                               std::memory_order_relaxed);
  if (!ok(status)) {
    progress_.failures.fetch_add(1, std::memory_order_relaxed);
    pause_.begin(clock_.now_ns(), std::chrono::nanoseconds(options_.retry_interval).count());
    return 0;
  }
  pause_.begin(began_ns, options_.commit_interval.count());
  const std::int64_t now_ns = clock_.now_ns();
  progress_.commits.fetch_add(1, std::memory_order_relaxed);
  progress_.committed_ns.store(now_ns, std::memory_order_relaxed);
  progress_.durable_head.store(writer_.durable_head(), std::memory_order_release);
  progress_.durable_frames.store(writer_.durable_frames(), std::memory_order_release);
  if (told_ != nullptr) told_(told_context_);
  seal_due_ = true;
  quiet_.begin(now_ns, options_.seal_after.count());
  return static_cast<int>(writer_.durable_frames() - before);
}

std::int64_t LogAgent::pause_ns() noexcept { return pause_.left_ns(clock_.now_ns()); }

Status LogAgent::start(const ThreadOptions& options) noexcept {
  if (!wake_.valid()) return Status::kUnavailable;
  running_.store(true, std::memory_order_relaxed);
  return thread_.start(options, &LogAgent::run, this);
}

void LogAgent::stop() noexcept {
  running_.store(false, std::memory_order_seq_cst);
  wake_.wake();
  thread_.join();
}

void LogAgent::run(void* self) noexcept {
  auto& agent = *static_cast<LogAgent*>(self);
  for (;;) {
    if (agent.do_work() > 0) continue;
    agent.wake_.announce();
    if (!agent.running_.load(std::memory_order_seq_cst)) break;
    if (agent.ring_.front() != nullptr && agent.writer_.pending_frames() == 0) {
      agent.wake_.stay_awake();
      continue;
    }
    // Sleeps until the next commit, or the mark at the end, is due; otherwise until the next frame.
    std::int64_t sleep_ns = -1;
    if (agent.writer_.pending_frames() > 0) {
      sleep_ns = agent.pause_ns();
    } else if (agent.seal_due_) {
      sleep_ns = agent.quiet_.left_ns(agent.clock_.now_ns());
    }
    agent.wake_.sleep(sleep_ns);
  }
  // Commits what was judged before the end, without pauses and without retries.
  do {
    agent.pause_ = {};
  } while (agent.do_work() > 0);
  agent.count_seal(agent.writer_.seal_durably());
}

}  // namespace windhover
