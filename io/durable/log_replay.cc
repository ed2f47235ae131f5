#include "windhover/io/durable/log_replay.h"

#include <algorithm>
#include <utility>

#include "windhover/io/durable/error_text.h"
#include "windhover/platform/arena.h"

namespace windhover {
namespace {

constexpr std::int64_t kLearnAtATimeNs = 1'000'000;
constexpr std::int64_t kReadAgainNs = 1'000'000'000;

}  // namespace

void LogReplay::begin(Folder& folder, LogReader&& reader, std::uint64_t first) noexcept {
  folder_ = &folder;
  reader_.emplace(std::move(reader));
  learned_frames_ = first;
}

bool LogReplay::go_on() noexcept {
  const std::int64_t begin_ns = clock_.now_ns();
  if (pause_.left_ns(begin_ns) > 0) return true;
  Pause moment;
  moment.begin(begin_ns, kLearnAtATimeNs);
  do {
    const Status status = learn_some();
    if (status == Status::kWindowFull) return true;
    if (status == Status::kClosed) {
      reader_.reset();
      return false;
    }
    if (!ok(status)) {
      // All was good when it was verified, so the disk has failed since. No rows are taken from
      // senders before it can be read again.
      log_.status.store(status, std::memory_order_relaxed);
      log_.error_number.store(read_errno_, std::memory_order_relaxed);
      log_.failures.fetch_add(1, std::memory_order_relaxed);
      read_failed_ = true;
      pause_.begin(clock_.now_ns(), kReadAgainNs);
      return true;
    }
  } while (moment.left_ns(clock_.now_ns()) > 0);
  return true;
}

// Takes what became of the keys off the frame's rows. False: the payload is not of so many rows.
bool LogReplay::take_keys() noexcept {
  const std::optional<std::size_t> bytes = packed().first_rows(rows_, frame_.accepted);
  if (!bytes) return false;
  bool good = false;
  keys_ = LoggedKeys(rows_.subspan(*bytes), frame_, good);
  rows_ = rows_.first(*bytes);
  return good;
}

// Learns a frame, or as many of its rows as the engine takes at once. kClosed: there are no more.
// kWindowFull: it has to wait for the learner.
Status LogReplay::learn_some() noexcept {
  if (read_failed_) {
    if (const Status status = reopen_reader(); !ok(status)) return status;
  }
  if (rows_left_ == 0) {
    const Status status = reader_->next(frame_, rows_);
    read_errno_ = errno_of(reader_->error());
    if (!ok(status)) return status;
    if (frame_.head != engine_.head() || !take_keys()) return Status::kMalformed;
    rows_left_ = frame_.accepted;
  }
  if (rows_left_ > 0) {
    const std::uint64_t rows = std::min<std::uint64_t>(rows_left_, engine_.config().max_frame_rows);
    const std::optional<std::size_t> bytes = packed().first_rows(rows_, rows);
    if (!bytes) return Status::kMalformed;
    // The learner may score them as soon as they are there, by what was answered about the keys.
    keys_.settle(engine_.labels(), engine_.head(), rows);
    const ObserveResult result = engine_.observe_packed(rows_.first(*bytes), rows);
    if (!ok(result.status)) return result.status;
    if (result.refused > 0) {
      rows_ = {};  // the rows beside it were taken, and must not be taken again
      return Status::kMalformed;
    }
    rows_ = rows_.subspan(*bytes);
    rows_left_ -= rows;
  }
  if (rows_left_ == 0) learned_frames_ = frame_.number + 1;
  return Status::kOk;
}

// A reader that has failed does not try again, so the log is opened anew.
Status LogReplay::reopen_reader() noexcept {
  if (rows_left_ > 0) {  // the frame's rows are in memory
    read_failed_ = false;
    return Status::kOk;
  }
  Arena arena(memory_);
  reader_.reset();
  Result<LogReader> reader = LogReader::open(*folder_, learned_frames_, arena);
  if (!reader.ok()) {
    read_errno_ = errno_of(reader.error());
    // The log cannot end here, and kClosed would end the replay.
    return reader.error().status == Status::kClosed ? Status::kIoError : reader.error().status;
  }
  reader_.emplace(std::move(reader.value()));
  read_failed_ = false;
  log_.status.store(Status::kOk, std::memory_order_relaxed);
  log_.error_number.store(0, std::memory_order_relaxed);
  return Status::kOk;
}

}  // namespace windhover
