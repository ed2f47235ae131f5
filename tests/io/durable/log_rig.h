// Logs small enough to be broken at every byte, and frames that follow from their number.
#ifndef WINDHOVER_TESTS_IO_DURABLE_LOG_RIG_H_
#define WINDHOVER_TESTS_IO_DURABLE_LOG_RIG_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "windhover/io/durable/log_reader.h"
#include "windhover/io/durable/log_writer.h"
#include "windhover/platform/memory.h"

namespace windhover::testing {

inline constexpr LogOptions kSmallLog{5 * 32'768, 32'768, 16'384};

inline LogIdentity small_identity(std::uint64_t instance = 77) {
  return {.instance = instance, .salt = instance * 1'000'003 + 5, .options = kSmallLog};
}

inline std::uint64_t mixed(std::uint64_t n) {
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9;
  n = (n ^ (n >> 27)) * 0x94d049bb133111eb;
  return n ^ (n >> 31);
}

// Frame n of every test's history: rows accepted rise by n % 4.
inline LoggedFrame frame_of(std::uint64_t n) {
  const std::uint64_t whole = n / 4;
  const std::uint64_t part = n % 4;
  LoggedFrame frame;
  frame.number = n;
  frame.producer = 1 + mixed(n) % 3;
  frame.next = mixed(n + 1);
  frame.accepted = part;
  frame.refused = n % 3;
  frame.duplicate = n % 2;
  frame.head = whole * 6 + part * (part - 1) / 2;
  return frame;
}

inline std::vector<std::byte> payload_of(std::uint64_t n) {
  std::vector<std::byte> payload(mixed(n + 2) % 1500);
  if (n % 7 == 0) payload.clear();
  if (n % 31 == 5) payload.resize(9000);
  for (std::size_t i = 0; i < payload.size(); ++i) {
    payload[i] = static_cast<std::byte>(mixed(n * 4096 + i));
  }
  return payload;
}

inline bool same(const LoggedFrame& a, const LoggedFrame& b) {
  return a.number == b.number && a.producer == b.producer && a.next == b.next &&
         a.accepted == b.accepted && a.refused == b.refused && a.duplicate == b.duplicate &&
         a.head == b.head;
}

// Memory of exactly the footprint, zeroed. From the heap: where a test opens thousands of logs, to
// map and fault in pages for each took four fifths of its time.
class LogMemory {
 public:
  explicit LogMemory(std::size_t bytes)
      : block_(static_cast<std::byte*>(::operator new[](bytes, kPage))),
        arena_({block_.get(), bytes}) {
    std::fill_n(block_.get(), bytes, std::byte{0});
  }
  Arena& arena() { return arena_; }

 private:
  static constexpr std::align_val_t kPage{4096};
  struct Free {
    void operator()(std::byte* block) const { ::operator delete[](block, kPage); }
  };
  std::unique_ptr<std::byte[], Free> block_;
  Arena arena_;
};

inline Error create_small_log(Folder& folder, const LogIdentity& identity = small_identity(),
                              bool replace = false) {
  std::vector<std::byte> scratch(kSmallLog.segment_bytes);
  return LogWriter::create(folder, identity, replace, scratch);
}

// A writer with its memory, or the reason why there is none.
struct OpenWriter {
  explicit OpenWriter(Folder& folder)
      : memory(LogWriter::footprint(kSmallLog)),
        log(LogWriter::open(folder, memory.arena(), &segment)) {}
  LogWriter* operator->() { return &log.value(); }
  bool ok() const { return log.ok(); }

  // The frame with the writer's next number.
  Status add_next() {
    const std::uint64_t n = log.value().next_frame();
    const std::vector<std::byte> payload = payload_of(n);
    std::span<std::byte> room;
    const Status status = log.value().add(frame_of(n), payload.size(), room);
    if (windhover::ok(status)) std::copy(payload.begin(), payload.end(), room.begin());
    return status;
  }
  // Writes that many frames, one commit for each `a_commit`.
  Status write(std::uint64_t frames, std::uint64_t a_commit = 1) {
    for (std::uint64_t i = 0; i < frames; ++i) {
      if (const Status added = add_next(); !windhover::ok(added)) return added;
      if ((i + 1) % a_commit != 0 && i + 1 != frames) continue;
      if (const Status status = log.value().commit(); !windhover::ok(status)) return status;
    }
    return Status::kOk;
  }

  std::size_t segment = 0;  // where an error is
  LogMemory memory;
  Result<LogWriter> log;
};

// What reading from a frame gives.
struct ReadLog {
  ReadLog(Folder& folder, std::uint64_t from) {
    LogMemory memory(LogReader::footprint(kSmallLog));
    Result<LogReader> opened = LogReader::open(folder, from, memory.arena(), &segment);
    end = from;
    if (!opened.ok()) {
      error = opened.error();
      opens = false;
      return;
    }
    LogReader reader = std::move(opened).value();
    LoggedFrame frame;
    std::span<const std::byte> payload;
    while (windhover::ok(reader.next(frame, payload))) {
      const std::vector<std::byte> expected = payload_of(end);
      right = right && same(frame, frame_of(end)) &&
              std::equal(payload.begin(), payload.end(), expected.begin(), expected.end()) &&
              reinterpret_cast<std::uintptr_t>(payload.data()) % 8 == 0;
      ++end;
    }
    error = reader.error();
    segment = reader.segment();
  }
  // All was well up to the end.
  bool good() const { return opens && right && error.status == Status::kClosed; }

  bool opens = true;
  bool right = true;  // every frame that was given is what was written
  std::uint64_t end = 0;
  Error error;
  std::size_t segment = 0;
};

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_DURABLE_LOG_RIG_H_
