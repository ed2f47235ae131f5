// The last N observations, and at the same time the ring between the observe thread and the
// learner: rows are written once, in place, and read in place.
//
// Sequence numbers count accepted rows from 0; row s lies in slot s mod (N + slack). head is the
// number of rows published. The learner owns a lease: with lease l it may read rows [l - N, l).
// The writer may write row s only while s < l + slack, because row s overwrites row
// s - (N + slack), which must lie below l - N. The lease only ever advances, so until the writer
// sees a new one the old one still protects everything that is being read: there is no race.
//
// Memory order. Writer: row data, then head.store(release). Learner: head.load(acquire) makes the
// rows below it visible. Learner: lease.store(release) after its last read under the old lease;
// writer: lease.load(acquire) before it overwrites what only the old lease protected.
#ifndef WINDHOVER_RUNTIME_WINDOW_WINDOW_H_
#define WINDHOVER_RUNTIME_WINDOW_WINDOW_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/rows.h"

namespace windhover {

class Window {
 public:
  // Takes memory, writes nothing; reset() before use. size + slack < 2^32.
  Window(Arena& arena, const RowLayout& layout, std::uint64_t size, std::uint64_t slack) noexcept
      : layout_(layout),
        size_(size),
        slack_(slack),
        rows_(arena.allocate<double>((size + slack) * layout.stride()).data()) {}
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  void reset() noexcept {
    head_.store(0, std::memory_order_relaxed);
    lease_.store(0, std::memory_order_relaxed);
    writer_limit_ = slack_;
  }

  // --- Writer: one thread at a time.

  // Rows that may be written beyond `written`; looks at the lease only when it must.
  std::uint64_t room(std::uint64_t written, std::uint64_t wanted) noexcept {
    if (written + wanted > writer_limit_) {
      writer_limit_ = lease_.load(std::memory_order_acquire) + slack_;
    }
    return writer_limit_ > written ? writer_limit_ - written : 0;
  }
  double* slot_of(std::uint64_t sequence) noexcept {
    return rows_ + (sequence % capacity()) * layout_.stride();
  }
  void publish(std::uint64_t head) noexcept { head_.store(head, std::memory_order_release); }

  // --- Learner: one thread at a time.

  // Gives up rows below head - N and reads from [head - N, head) from now on.
  void advance_lease(std::uint64_t head) noexcept { lease_.store(head, std::memory_order_release); }

  // --- Anybody.

  std::uint64_t head() const noexcept { return head_.load(std::memory_order_acquire); }
  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t capacity() const noexcept { return size_ + slack_; }
  const RowLayout& layout() const noexcept { return layout_; }
  const double* rows() const noexcept { return rows_; }

  // The rows that the learner may read and those it has not seen, head and lease; the writer's
  // limit follows. While neither thread is at work. O(rows).
  void visit_state(StateVisitor& visitor) noexcept;

 private:
  void visit_row(StateVisitor& visitor, double* row) noexcept;

  RowLayout layout_;
  std::uint64_t size_;
  std::uint64_t slack_;
  double* rows_;
  alignas(64) std::atomic<std::uint64_t> head_{0};
  std::uint64_t writer_limit_ = 0;  // beside head_: both are the writer's
  alignas(64) std::atomic<std::uint64_t> lease_{0};
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_WINDOW_WINDOW_H_
