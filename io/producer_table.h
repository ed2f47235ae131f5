// How many rows each producer has sent: so rows can be sent again safely.
#ifndef WINDHOVER_IO_PRODUCER_TABLE_H_
#define WINDHOVER_IO_PRODUCER_TABLE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/io/producer_index.h"
#include "windhover/io/producer_shares.h"
#include "windhover/io/refusal.h"
#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/platform/status.h"

namespace windhover {

// No producer has these numbers. In a checkpoint this one tells how many have been forgotten,
inline constexpr std::uint64_t kNoProducer = UINT64_MAX;
// and this one which identity the producers behind it have.
inline constexpr std::uint64_t kOwnerOfTheNext = 0;

// The producers that one connection speaks for. It stays where it is while it holds any.
class ProducerClaims {
 public:
  static constexpr std::size_t kMost = 64;

  std::size_t size() const noexcept { return size_; }
  // Sets the owner of the producers that it speaks for from now on; before, they are nobody's.
  void speak_as(const ProducerOwner& owner) noexcept { owner_ = owner; }
  const ProducerOwner& owner() const noexcept { return owner_; }

 private:
  friend class ProducerTable;
  // Index of the one that has been silent longest. REQUIRES: there is one.
  std::size_t stalest() const noexcept;
  // REQUIRES: it speaks for it.
  std::size_t index_of(const ProducerEntry& entry) const noexcept;
  // The owner's share; where it has none, the one that it would get.
  std::uint32_t share_in(const ProducerShares& shares) const noexcept {
    return share_ = shares.find(owner_.identity, share_);
  }

  std::array<ProducerEntry*, kMost> held_{};
  std::size_t size_ = 0;
  ProducerOwner owner_;
  mutable std::uint32_t share_ = 0;  // where the owner's share was found last
};

// A fixed number of producers. A producer is known from the first row of it that is judged. A
// lasting one is never forgotten while the history lives: it could come back and have its rows
// stored twice. Where there is no room, the passing one that nobody speaks for and that fell silent
// first is forgotten. A sixteenth of the places is kept for passing ones. A connection may speak
// for so many producers (Rules). It loses a lasting one to another connection once it has been
// silent, and a passing one, whose number nobody else knows, at once to a newer connection.
//
// A producer belongs to the identity that spoke for it last and had room for it. An identity has a
// limit (ProducerOwner), a sixteenth of which is again for passing ones; at its limit one of its
// own passing ones makes room, never another identity's. Producers that only the log tells of are
// nobody's until somebody speaks for them; a checkpoint says whose they are.
//
// Invariant: entries stay where they are; a producer is known in one of them, and counts in one
// share. Observe thread only.
class ProducerTable {
 public:
  using Entry = ProducerEntry;
  struct Rules {
    std::size_t claims_per_connection = 16;    // 1 to ProducerClaims::kMost
    std::int64_t silence_ns = 60'000'000'000;  // after which another may speak for a producer
    std::uint64_t seed = 0x9e3779b97f4a7c15;   // the hash's seed: one that no peer knows
  };

  // Takes memory, writes nothing. `capacity` > 0; `identities`: how many are told apart at most.
  ProducerTable(Arena& arena, std::size_t capacity, std::size_t identities = 0) noexcept;

  // Empties the table. Before first use, or while no connection speaks for a producer. O(capacity).
  void reset(const Rules& rules) noexcept;
  void reset() noexcept { reset(Rules{}); }

  // The producer's entry; where it is not known, an entry whose producer is 0. It stays good while
  // no other producer becomes known. Usually O(1). REQUIRES: producer is not 0.
  Entry& at(std::uint64_t producer) noexcept;

  // Whether a row of the producer, whose entry at() gave, may be judged from this connection:
  // kNone, or kProducerBusy, kTableFull or kTooManyProducers. Where the connection speaks for the
  // producer already that is renewed; nothing is claimed. O(1), or O(claims) for one claim too
  // many.
  Refusal may_speak(Entry& entry, std::uint64_t producer, ProducerClaims& claims,
                    std::int64_t now_ns) const noexcept;
  // The number that goes with kTableFull: how many producers the table holds, or how many the
  // identity may have where that is the limit.
  std::size_t limit(std::uint64_t producer, const ProducerClaims& claims) const noexcept;

  // Rows have been judged: the producer is known from now on, and the connection speaks for it in
  // place of any other. The caller then sets `next`. Usually O(1). REQUIRES: may_speak() is kNone.
  struct Spoken {
    Entry& entry;
    bool taken_over = false;  // a lasting one, from a connection that had been silent
    bool forgot = false;      // another producer was forgotten for it
  };
  Spoken judged(Entry& entry, std::uint64_t producer, ProducerClaims& claims,
                std::int64_t now_ns) noexcept;

  // Whether a connection speaks for it now, and has not fallen silent.
  bool live(const Entry& entry, std::int64_t now_ns) const noexcept;

  // The connection is gone; its producers may be claimed again.
  void release(ProducerClaims& claims) noexcept;

  // How many have been forgotten since the history began, as far as log and checkpoint tell.
  std::uint64_t forgotten() const noexcept { return forgotten_; }

  // Takes a producer from a log: it is known from now on, with all its rows below `next` on disk; a
  // passing one is then the last that fell silent, or forgotten where there is no room. For
  // kNoProducer `next` is forgotten(). kInvalidArgument: producer 0; kTooLarge: no room for a
  // lasting one. REQUIRES: no connection speaks for a producer.
  Status set(std::uint64_t producer, std::uint64_t next) noexcept;

  // Shows pairs of numbers: kNoProducer with forgotten() if that is not 0, then each producer with
  // its `next`, first the passing ones in the order in which they fell silent. Where a producer's
  // identity differs from the one before, kOwnerOfTheNext with the identity comes first. A visitor
  // that restores replaces all of them. kMalformed or kTooLarge, with the table empty, when it
  // brings what cannot be: a producer twice, kNoProducer not as the first, kOwnerOfTheNext as the
  // last.
  Status visit_state(StateVisitor& visitor) noexcept;
  // The most pairs that visit_state() shows of such a table.
  static constexpr std::size_t most_shown(std::size_t capacity, std::size_t identities) noexcept {
    return (identities > 0 ? 2 : 1) * capacity + 1;
  }
  // Whether a producer belongs to an identity.
  bool tells_owners() const noexcept {
    return shares_[ProducerShares::kNobodys].producers < size();
  }

  // Any thread.
  std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
  std::size_t capacity() const noexcept { return capacity_; }
  std::size_t claims_per_connection() const noexcept { return rules_.claims_per_connection; }

 private:
  bool has_room() const noexcept { return size() < capacity_ || shares_.oldest() != kNoPlace; }
  bool share_has_room(std::uint64_t producer, const ProducerClaims& claims) const noexcept;
  ProducerPlace free_place(const ProducerShare& share, std::size_t most) noexcept;
  Entry& add(std::uint64_t producer, std::uint32_t share, std::size_t most = SIZE_MAX) noexcept;
  void forget(Entry& entry) noexcept;
  void move(Entry& entry, const ProducerClaims& claims) noexcept;
  void give_up(ProducerClaims& claims, std::size_t index) noexcept;
  Status set(std::uint64_t producer, std::uint64_t next, std::uint32_t share) noexcept;
  void show(auto&& pair) const noexcept;

  std::size_t capacity_;
  std::span<Entry> entries_;
  ProducerIndex index_;
  ProducerShares shares_;
  std::atomic<std::size_t> size_{0};  // written by its thread alone
  std::size_t lasting_ = 0;           // how many of these are not passing
  std::uint64_t forgotten_ = 0;
  Entry unknown_;  // what at() gives for a producer that is not known
  Rules rules_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_PRODUCER_TABLE_H_
