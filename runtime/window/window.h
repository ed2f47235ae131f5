// The last N observations, and at the same time the ring between the observe thread and all that
// read rows: rows are written once, in place, and read in place.
//
// Sequence numbers count accepted rows from 0; row s lies in slot s mod (N + slack). head is the
// number of rows published. A reader owns a lease: with lease l it may read rows [l - N, head). The
// learner has one always; a checkpoint that is being written and each follower have one while they
// read. The writer may write row s only while s < l + slack for every lease l, because row s
// overwrites row s - (N + slack), which must lie below l - N. A lease only ever advances, so until
// the writer sees a new one the old one still protects everything that is being read: there is no
// race.
//
// Memory order. Writer: row data, then head.store(release). Reader: head.load(acquire) makes the
// rows below it visible. Reader: lease.store(release) after its last read under the old lease;
// writer: lease.load(acquire) before it overwrites what only the old lease protected.
//
// A lease that is taken while the writer is at work must not begin below what the writer has been
// allowed already. So the learner's thread takes it, at the learner's own lease l: whatever the
// writer has seen of the learner is at most l. When the learner goes on to l', it stores l' after
// the new lease. The writer loads the learner's lease first. If it reads l', it sees the new lease
// too, by that release and acquire; if it reads l or less, it keeps to that without the new lease.
// A lease ends by being set above everything, by the thread that read under it, as in any advance.
#ifndef WINDHOVER_RUNTIME_WINDOW_WINDOW_H_
#define WINDHOVER_RUNTIME_WINDOW_WINDOW_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/rows.h"

namespace windhover {

// A lease beside the learner's, on a cache line of its own, written by the thread that reads under
// it.
struct alignas(64) RowLease {
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  std::atomic<std::uint64_t> rows;
};

// Invariant: no row that a lease protects is overwritten, and rows below head() are complete.
class Window {
 public:
  // Takes memory, writes nothing; call reset() before use. REQUIRES: size + slack < 2^32. `leases`:
  // how many may be held beside the learner's.
  Window(Arena& arena, const RowLayout& layout, std::uint64_t size, std::uint64_t slack,
         std::uint32_t leases = 0) noexcept
      : layout_(layout),
        size_(size),
        slack_(slack),
        rows_(arena.allocate<double>((size + slack) * layout.stride()).data()),
        leases_(leases > 0 ? arena.allocate<RowLease>(leases) : std::span<RowLease>()) {}
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  void reset() noexcept {
    head_.store(0, std::memory_order_relaxed);
    lease_.store(0, std::memory_order_relaxed);
    for (RowLease& lease : leases_) ::new (&lease) RowLease{RowLease::kNone};
    writer_limit_ = slack_;
  }

  // --- Writer: one thread at a time.

  // How many rows may be written beyond `written`; looks at the leases only when it must.
  std::uint64_t room(std::uint64_t written, std::uint64_t wanted) noexcept {
    if (written + wanted > writer_limit_) writer_limit_ = smallest_lease() + slack_;
    return writer_limit_ > written ? writer_limit_ - written : 0;
  }
  double* slot_of(std::uint64_t sequence) noexcept {
    return rows_ + (sequence % capacity()) * layout_.stride();
  }
  void publish(std::uint64_t head) noexcept { head_.store(head, std::memory_order_release); }

  // --- Learner: one thread at a time.

  // From now on the learner reads rows of [head - N, head), and gives up those below.
  void advance_lease(std::uint64_t head) noexcept { lease_.store(head, std::memory_order_release); }

  // Takes lease `i` where the learner's lease is: its reader may read rows from there less N on.
  // Also allowed before any thread is at work. REQUIRES: the lease is free.
  void take_lease(std::uint32_t i) noexcept {
    leases_[i].rows.store(lease_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }

  // --- The holder of lease `i`: one thread at a time.

  // Keeps rows from `row` on readable and gives up those below, for good. No effect where the lease
  // is there or beyond.
  void keep_from(std::uint32_t i, std::uint64_t row) noexcept {
    std::atomic<std::uint64_t>& lease = leases_[i].rows;
    if (row + size_ > lease.load(std::memory_order_relaxed)) {
      lease.store(row + size_, std::memory_order_release);
    }
  }
  // The first row that may be read under it. REQUIRES: it is held.
  std::uint64_t kept_from(std::uint32_t i) const noexcept {
    const std::uint64_t lease = leases_[i].rows.load(std::memory_order_relaxed);
    return lease > size_ ? lease - size_ : 0;
  }
  void end_lease(std::uint32_t i) noexcept {
    leases_[i].rows.store(RowLease::kNone, std::memory_order_release);
  }

  // Sets the learner's weight of a row that the learner may read. Only the learner and its helpers
  // read it while threads are at work.
  void set_learner_weight(std::uint64_t sequence, double weight) noexcept {
    slot_of(sequence)[layout_.weight_index()] = weight;
  }

  // --- Any thread.

  std::uint64_t head() const noexcept { return head_.load(std::memory_order_acquire); }
  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t capacity() const noexcept { return size_ + slack_; }
  const RowLayout& layout() const noexcept { return layout_; }
  const double* rows() const noexcept { return rows_; }
  // The numbers of a row. REQUIRES: the row may be read.
  const double* row(std::uint64_t sequence) const noexcept {
    return rows_ + (sequence % capacity()) * layout_.stride();
  }

  // Shows the rows that the learner may read and those it has not seen, head and lease; the
  // writer's limit follows from these. Leases beside the learner's are not shown; on a restore
  // those that are held begin anew at the learner's. REQUIRES: no thread is at work. O(rows).
  void visit_state(StateVisitor& visitor) noexcept;
  // The learner's lease.
  std::uint64_t lease() const noexcept { return lease_.load(std::memory_order_acquire); }
  // Publishes the rows below `head`, which are in their slots, and sets the learner's lease.
  // REQUIRES: no thread is at work; lease <= head <= lease + slack.
  void restore(std::uint64_t head, std::uint64_t lease) noexcept;

 private:
  std::uint64_t smallest_lease() const noexcept {
    std::uint64_t smallest =
        lease_.load(std::memory_order_acquire);  // before the others: see above
    for (const RowLease& lease : leases_) {
      const std::uint64_t rows = lease.rows.load(std::memory_order_acquire);
      if (rows < smallest) smallest = rows;
    }
    return smallest;
  }
  void visit_row(StateVisitor& visitor, double* row) noexcept;

  RowLayout layout_;
  std::uint64_t size_;
  std::uint64_t slack_;
  double* rows_;
  std::span<RowLease> leases_;
  alignas(64) std::atomic<std::uint64_t> head_{0};
  std::uint64_t writer_limit_ = 0;  // beside head_: both are the writer's
  alignas(64) std::atomic<std::uint64_t> lease_{0};
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_WINDOW_WINDOW_H_
