// Who has sent how much: what makes sending again safe.
#ifndef WINDHOVER_IO_PRODUCER_TABLE_H_
#define WINDHOVER_IO_PRODUCER_TABLE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/io/refusal.h"
#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/platform/status.h"

namespace windhover {

class ProducerClaims;

// Where one producer stands.
struct ProducerEntry {
  std::uint64_t producer = 0;       // 0: free
  std::uint64_t next = 0;           // the sequence number expected
  std::uint64_t durable_next = 0;   // what it was when all was last seen on disk
  std::uint64_t frames = 0;         // `next` is on disk once the log has so many frames there
  ProducerClaims* owner = nullptr;  // the live connection that speaks for it
  std::int64_t heard_ns = 0;        // when it did so last
};

// The producers that one connection speaks for. It stays where it is while it holds any.
class ProducerClaims {
 public:
  static constexpr std::size_t kMost = 64;

  std::size_t size() const noexcept { return size_; }

 private:
  friend class ProducerTable;
  std::array<ProducerEntry*, kMost> held_{};
  std::size_t size_ = 0;
};

// A fixed number of producers. One that a row has been judged of is never forgotten while the
// history lives: it could come back and have its rows stored twice. Who speaks for it is another
// matter: a connection may hold so many, and loses one by silence. Observe thread only.
class ProducerTable {
 public:
  using Entry = ProducerEntry;
  struct Rules {
    std::size_t claims_per_connection = 16;    // 1 to ProducerClaims::kMost
    std::int64_t silence_ns = 60'000'000'000;  // after which another may speak for a producer
    std::uint64_t seed = 0x9e3779b97f4a7c15;   // of the hash: one that no peer knows
  };

  // Takes memory, writes nothing. `capacity` > 0.
  ProducerTable(Arena& arena, std::size_t capacity) noexcept;

  // Empties the table. Before first use, and when nobody holds anything of it. O(capacity).
  void reset(const Rules& rules) noexcept;
  void reset() noexcept { reset(Rules{}); }

  // The producer's entry, or the free one that would become its own: producer is 0 there. It stays
  // good while no other producer becomes known. Usually O(1). REQUIRES: producer is not 0.
  Entry& at(std::uint64_t producer) noexcept;

  // Whether a row from this connection may be judged: kProducerBusy, kTableFull or
  // kTooManyProducers, or kNone, which counts as a sign of life where the connection speaks for the
  // producer already. Claims nothing. O(1), or O(claims) for one claim too many.
  Refusal may_speak(Entry& entry, ProducerClaims& claims, std::int64_t now_ns) const noexcept;

  // Rows have been judged: the producer is known, `next` is expected of it, and the connection
  // speaks for it. True: in the place of another one that had fallen silent. REQUIRES: may_speak().
  bool judged(Entry& entry, std::uint64_t producer, std::uint64_t next, ProducerClaims& claims,
              std::int64_t now_ns) noexcept;

  // Whether a connection speaks for it now, and has not fallen silent.
  bool live(const Entry& entry, std::int64_t now_ns) const noexcept;

  // The connection is gone; its producers may be claimed again.
  void release(ProducerClaims& claims) noexcept;

  // From a checkpoint or a log: makes the producer known, with all its rows below `next` on disk.
  // kInvalidArgument: producer 0; kTooLarge: no room. Nobody may hold anything.
  Status set(std::uint64_t producer, std::uint64_t next) noexcept;

  // Shows every producer and what is expected of it; a visitor that restores replaces them all, as
  // set() does. kMalformed or kTooLarge, with the table empty, when it brings what cannot be.
  Status visit_state(StateVisitor& visitor) noexcept;

  // Any thread.
  std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
  std::size_t capacity() const noexcept { return capacity_; }
  std::size_t claims_per_connection() const noexcept { return rules_.claims_per_connection; }

 private:
  bool silent(const Entry& entry, std::int64_t now_ns) const noexcept {
    return now_ns - entry.heard_ns >= rules_.silence_ns;
  }
  static void give_up(ProducerClaims& claims, std::size_t index) noexcept;
  static void give_up(Entry& entry) noexcept;
  std::size_t stalest(const ProducerClaims& claims) const noexcept;

  std::size_t capacity_;
  std::span<Entry> slots_;            // a power of two, at most half full; linear probing
  std::atomic<std::size_t> size_{0};  // written by its thread alone
  int shift_ = 0;
  Rules rules_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_PRODUCER_TABLE_H_
