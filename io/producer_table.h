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

// Producers from this number on are passing: drawn anew for one stream, they mean nothing to
// anybody once it has ended, and may be forgotten.
inline constexpr std::uint64_t kFirstPassingProducer = std::uint64_t{1} << 63;
constexpr bool is_passing(std::uint64_t producer) noexcept {
  return producer >= kFirstPassingProducer;
}
// Nobody's: in a checkpoint it stands for how many have been forgotten.
inline constexpr std::uint64_t kNoProducer = UINT64_MAX;

// Where one producer stands.
struct ProducerEntry {
  std::uint64_t producer = 0;       // 0: not known
  std::uint64_t next = 0;           // the sequence number expected
  std::uint64_t durable_next = 0;   // what it was when all was last seen on disk
  std::uint64_t frames = 0;         // `next` is on disk once the log has so many frames there
  ProducerClaims* owner = nullptr;  // the live connection that speaks for it
  std::int64_t heard_ns = 0;        // when it did so last
  // Of passing ones that nobody speaks for: their neighbours in the order in which they fell
  // silent, as places in the table.
  std::uint32_t older = 0;
  std::uint32_t newer = 0;
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

// A fixed number of producers. One that a row has been judged of is not forgotten while the history
// lives: it could come back and have its rows stored twice. Of passing ones that nobody speaks for
// the one that fell silent first makes room where there is none. Who speaks for a producer is
// another matter: a connection may hold so many, and loses one by silence; a passing one, whose
// number nobody else knows, at once to the connection that comes after it. A sixteenth of the
// places is kept for passing ones. Invariant: entries stay where they are; a producer is known in
// one of them. Observe thread only.
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

  // The producer's entry, or where it is not known one whose producer is 0: of nobody's own. It
  // stays good while no other producer becomes known. Usually O(1). REQUIRES: producer is not 0.
  Entry& at(std::uint64_t producer) noexcept;

  // Whether a row of the producer, whose entry at() gave, may be judged from this connection:
  // kProducerBusy, kTableFull or kTooManyProducers, or kNone, which counts as a sign of life where
  // the connection speaks for the producer already. Claims nothing. O(1), or O(claims) for one
  // claim too many.
  Refusal may_speak(Entry& entry, std::uint64_t producer, ProducerClaims& claims,
                    std::int64_t now_ns) const noexcept;

  // Rows have been judged: the producer is known from now on, and the connection speaks for it,
  // whoever did before; taken_over: of one that is not passing and had fallen silent. What is
  // expected of it is for the caller to say. Usually O(1). REQUIRES: may_speak().
  struct Spoken {
    Entry& entry;
    bool taken_over = false;
    bool forgot = false;  // another producer
  };
  Spoken judged(Entry& entry, std::uint64_t producer, ProducerClaims& claims,
                std::int64_t now_ns) noexcept;

  // Whether a connection speaks for it now, and has not fallen silent.
  bool live(const Entry& entry, std::int64_t now_ns) const noexcept;

  // The connection is gone; its producers may be claimed again.
  void release(ProducerClaims& claims) noexcept;

  // How many have been forgotten since the history began, as far as log and checkpoint tell. Where
  // this is 0, or what it was, nobody has been.
  std::uint64_t forgotten() const noexcept { return forgotten_; }

  // From a checkpoint or a log: makes the producer known, with all its rows below `next` on disk; a
  // passing one is then the last that fell silent, or forgotten where there is no room. Of
  // kNoProducer `next` is forgotten().
  // kInvalidArgument: producer 0; kTooLarge: no room for one that is not. Nobody may hold anything.
  Status set(std::uint64_t producer, std::uint64_t next) noexcept;

  // Shows every producer and what is expected of it, passing ones in the order in which they fell
  // silent, and before them kNoProducer where one has been forgotten; a visitor that restores
  // replaces them all, as set() does. kMalformed or kTooLarge, with the table empty, when it brings
  // what cannot be: 0, one twice, kNoProducer not as the first.
  Status visit_state(StateVisitor& visitor) noexcept;

  // Any thread.
  std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
  std::size_t capacity() const noexcept { return capacity_; }
  std::size_t claims_per_connection() const noexcept { return rules_.claims_per_connection; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  bool silent(const Entry& entry, std::int64_t now_ns) const noexcept {
    return now_ns - entry.heard_ns >= rules_.silence_ns;
  }
  void give_up(ProducerClaims& claims, std::size_t index) noexcept;
  void give_up(Entry& entry) noexcept;
  std::size_t stalest(const ProducerClaims& claims) const noexcept;

  std::size_t home(std::uint64_t producer) const noexcept;
  std::size_t slot_of(std::uint64_t producer) const noexcept;
  bool has_room() const noexcept { return size() < capacity_ || oldest_ != kNone; }
  // Also with places kept for passing ones.
  bool may_come(std::uint64_t producer) const noexcept {
    return has_room() && (is_passing(producer) || lasting_ < capacity_ - capacity_ / 16);
  }
  Entry& add(std::uint64_t producer) noexcept;
  void forget(Entry& entry) noexcept;

  // Of passing producers that nobody speaks for.
  void fall_silent(Entry& entry) noexcept;
  void speak_again(Entry& entry) noexcept;
  std::uint32_t place(const Entry& entry) const noexcept {
    return static_cast<std::uint32_t>(&entry - entries_.data());
  }

  std::size_t capacity_;
  std::span<Entry> entries_;
  std::span<std::uint32_t> slots_;    // a power of two, at most half full; linear probing
  std::atomic<std::size_t> size_{0};  // written by its thread alone
  std::size_t lasting_ = 0;           // of these, not passing
  std::uint64_t forgotten_ = 0;
  std::uint32_t oldest_ = kNone;
  std::uint32_t newest_ = kNone;
  Entry unknown_;  // what at() shows of one that is not known
  int shift_ = 0;
  Rules rules_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_PRODUCER_TABLE_H_
