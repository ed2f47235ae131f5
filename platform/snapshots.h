#ifndef WINDHOVER_PLATFORM_SNAPSHOTS_H_
#define WINDHOVER_PLATFORM_SNAPSHOTS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "windhover/platform/check.h"

namespace windhover {

// Which slot one reader has pinned. Each has a cache line, so that readers do not disturb one
// another.
struct alignas(64) SnapshotPin {
  std::atomic<std::uint32_t> slot;
};

// Hands versions of a Slot from one publisher to at most max_readers readers, in max_readers + 2
// fixed slots. Every reader pins at most one slot and one more is the newest, so one is always free
// to be written: publishing never waits for anybody. Pinning is a store and two loads, repeated
// only if the publisher published in between. A reader never waits for a publisher that was
// descheduled half-way, as it would with a sequence lock.
//
// Threads: begin_publish() and publish() belong to one thread at a time, each reader id to one
// thread at a time, reset() to nobody else at the same time.
//
// Memory order. Let the publisher replace newest n by m (store P, seq_cst) and later scan the pins
// (load G, seq_cst); let a reader pin n (store H, seq_cst) and look at newest again (load L,
// seq_cst). All four are in one total order.
//   - If G does not see H, then P < G < H < L, so L sees m or something later, and the reader tries
//     again without having touched slot n. If "something later" is n again, slot n was written and
//     published anew before L, and it will not be reused before a scan that comes after L, which
//     sees H.
//   - If G sees H, the publisher leaves slot n alone.
//   - What the publisher wrote into n is visible to the reader, because L (acquire) reads from the
//     store that published n, which is a release.
//   - What the reader read from n is over before the publisher writes n again, because unpin() is a
//     release store on the same atomic that the scan loads with acquire.
// Fences would allow weaker stores, but ThreadSanitizer does not understand them.
template <class Slot>
class Snapshots {
 public:
  static constexpr std::size_t slots_for(std::size_t max_readers) noexcept {
    return max_readers + 2;
  }

  // Takes memory, writes nothing. The caller constructs the slots and keeps them alive; `pins` may
  // be uninitialised. There are pins.size() readers. Call reset() before anything else. REQUIRES:
  // slots.size() == slots_for(pins.size()).
  Snapshots(std::span<Slot> slots, std::span<SnapshotPin> pins) noexcept
      : slots_(slots), pins_(pins) {}

  Snapshots(const Snapshots&) = delete;
  Snapshots& operator=(const Snapshots&) = delete;

  // Forgets everything published; the slots themselves are left as they are.
  void reset() noexcept {
    WINDHOVER_CHECK(slots_.size() == slots_for(pins_.size()));
    for (SnapshotPin& pin : pins_) ::new (&pin) SnapshotPin{kNone};
    newest_.store(kNone, std::memory_order_release);
    published_ = kNone;
    writing_ = kNone;
  }

  // A slot that nobody reads, to be overwritten; it holds whatever an earlier publication left. It
  // is the same slot until publish(). O(max_readers²), times max_readers + 1 in the worst case; no
  // waiting.
  Slot& begin_publish() noexcept {
    if (writing_ == kNone) writing_ = find_free();
    return slots_[writing_];
  }

  // Makes that slot the newest. REQUIRES: begin_publish() came before.
  void publish() noexcept {
    WINDHOVER_CHECK(writing_ != kNone);
    newest_.store(writing_, std::memory_order_seq_cst);
    published_ = writing_;
    writing_ = kNone;
  }

  // The newest slot, which readers may be reading; null before the first publication. Only the
  // publisher may ask.
  Slot* published() noexcept { return published_ == kNone ? nullptr : &slots_[published_]; }

  // Visits every slot that a reader may be reading, or come to read before the next publish(): the
  // newest and those that are pinned. Only the publisher may ask.
  template <class F>
  void for_each_held(F&& f) const noexcept {
    if (published_ != kNone) f(slots_[published_]);
    for (const SnapshotPin& pin : pins_) {
      const std::uint32_t slot = pin.slot.load(std::memory_order_seq_cst);
      if (slot != kNone && slot != published_) f(slots_[slot]);
    }
  }

  // The newest slot, unchanging until unpin(reader); null before the first publication.
  // REQUIRES: reader < max_readers(), and it holds no pin.
  const Slot* pin(std::size_t reader) noexcept {
    WINDHOVER_CHECK(reader < pins_.size());
    std::atomic<std::uint32_t>& mine = pins_[reader].slot;
    WINDHOVER_CHECK(mine.load(std::memory_order_relaxed) == kNone);
    std::uint32_t candidate = newest_.load(std::memory_order_acquire);
    while (candidate != kNone) {
      mine.store(candidate, std::memory_order_seq_cst);
      const std::uint32_t newest = newest_.load(std::memory_order_seq_cst);
      if (newest == candidate) return &slots_[candidate];
      candidate = newest;
    }
    return nullptr;
  }

  // This is also allowed when pin() gave null.
  void unpin(std::size_t reader) noexcept {
    WINDHOVER_CHECK(reader < pins_.size());
    pins_[reader].slot.store(kNone, std::memory_order_release);
  }

  std::size_t max_readers() const noexcept { return pins_.size(); }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  // At any one moment a slot is free, but a search takes a while: a reader that tries again can be
  // seen in the slot it leaves and in the one it goes to, so one pass may find no slot free.
  // Nothing is published meanwhile, so a reader makes at most one such move, to what it took for
  // the newest before; all later ones lead to published_. So one of max_readers + 1 passes finds a
  // slot, and a reader that was descheduled half-way delays nobody.
  std::uint32_t find_free() const noexcept {
    for (;;) {
      for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
        if (slot != published_ && !is_pinned(slot)) return slot;
      }
    }
  }

  bool is_pinned(std::uint32_t slot) const noexcept {
    for (const SnapshotPin& pin : pins_) {
      if (pin.slot.load(std::memory_order_seq_cst) == slot) return true;
    }
    return false;
  }

  // What a reader needs, on one cache line: a publication takes this line away from readers once.
  alignas(64) std::span<Slot> slots_;
  std::span<SnapshotPin> pins_;
  std::atomic<std::uint32_t> newest_{kNone};
  // Only the publisher uses these: its copy of newest_, and the slot between begin_publish() and
  // publish().
  alignas(64) std::uint32_t published_ = kNone;
  std::uint32_t writing_ = kNone;
};

}  // namespace windhover

#endif  // WINDHOVER_PLATFORM_SNAPSHOTS_H_
