// How many producers each identity has.
#ifndef WINDHOVER_IO_PRODUCER_SHARES_H_
#define WINDHOVER_IO_PRODUCER_SHARES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"

namespace windhover {

class ProducerClaims;

// Producers from this number on are passing: their numbers are drawn at random for one stream, and
// they may be forgotten once it has ended. Others are lasting.
inline constexpr std::uint64_t kFirstPassingProducer = std::uint64_t{1} << 63;
constexpr bool is_passing(std::uint64_t producer) noexcept {
  return producer >= kFirstPassingProducer;
}
// Whose a producer is.
struct ProducerOwner {
  // How many producers it may have in a table of `places` places.
  std::size_t most_of(std::size_t places) const noexcept {
    if (identity == 0) return SIZE_MAX;
    return static_cast<std::size_t>(most > 0 ? most : (places + 1) / 2);
  }

  std::uint64_t identity = 0;  // Credential::owner_number(); 0: nobody's, without a limit
  std::uint64_t most = 0;      // producers that it may have; 0: half of the table
};

// Whether there is room for one more lasting producer beside `lasting` of them, in `places` places:
// a sixteenth of the places is kept for passing ones.
constexpr bool lasting_fits(std::size_t lasting, std::size_t places) noexcept {
  return lasting < places - places / 16;
}

// An index into a table of producers; kNoPlace: none.
using ProducerPlace = std::uint32_t;
inline constexpr ProducerPlace kNoPlace = UINT32_MAX;

// What is known of one producer.
struct ProducerEntry {
  struct Neighbours {
    ProducerPlace older = kNoPlace;
    ProducerPlace newer = kNoPlace;
  };

  std::uint64_t producer = 0;       // 0: not known
  std::uint64_t next = 0;           // the sequence number expected
  std::uint64_t durable_next = 0;   // `next` when all rows before it were last seen to be on disk
  std::uint64_t frames = 0;         // `next` is on disk once the log has so many frames there
  ProducerClaims* owner = nullptr;  // of the connection that speaks for it
  std::int64_t heard_ns = 0;        // when that connection last sent a row of it
  // The neighbours of a passing producer that nobody speaks for: in the order of all, and in the
  // order of its share (SilenceOrder).
  std::array<Neighbours, 2> silent{};
  std::uint32_t share = 0;  // index of the share that it counts in
};

// Passing producers that nobody speaks for, in the order in which they fell silent: a list through
// the entries of a table.
class SilenceOrder {
 public:
  enum Kind : std::uint8_t { kOfAll = 0, kOfShare = 1 };

  explicit SilenceOrder(Kind kind = kOfAll) noexcept : kind_(kind) {}
  ProducerPlace oldest() const noexcept { return oldest_; }
  void add(std::span<ProducerEntry> entries, ProducerPlace place) noexcept;
  void remove(std::span<ProducerEntry> entries, ProducerPlace place) noexcept;

 private:
  Kind kind_;
  ProducerPlace oldest_ = kNoPlace;
  ProducerPlace newest_ = kNoPlace;
};

// The share that one identity has of a table.
struct ProducerShare {
  // Whether it may have one more, of `most`; a passing one of its own may make room.
  bool has_room(bool passing, std::size_t most) const noexcept {
    if (!passing && !lasting_fits(lasting, most)) return false;
    return producers < most || silent.oldest() != kNoPlace;
  }

  std::uint64_t identity = 0;
  std::uint32_t producers = 0;
  std::uint32_t lasting = 0;  // how many of these are not passing
  SilenceOrder silent{SilenceOrder::kOfShare};
};

// The shares of one table. The first is nobody's, the second that of all identities for which there
// is no share left, which count as one. A share without producers is free for another identity.
// Invariant: an identity has one share at most; a passing producer that nobody speaks for stands in
// the order of all and in that of its share.
class ProducerShares {
 public:
  static constexpr std::uint32_t kNobodys = 0;
  static constexpr std::uint32_t kOthers = 1;
  static constexpr std::uint64_t kOtherIdentities = UINT64_MAX;

  // Takes memory, writes nothing. `entries`: those of the table; `identities`: how many may have a
  // share of their own.
  ProducerShares(Arena& arena, std::span<ProducerEntry> entries, std::size_t identities) noexcept
      : entries_(entries), shares_(arena.allocate<ProducerShare>(identities + 2)) {}
  void reset() noexcept;

  // The identity's share; where it has none, the one that it would get. `hint`: where it was found
  // before. O(identities) where that is wrong.
  std::uint32_t find(std::uint64_t identity, std::uint32_t hint) const noexcept;
  // The share that find() gave becomes the identity's.
  ProducerShare& take(std::uint32_t share, std::uint64_t identity) noexcept;

  // The producer counts in this share from now on, or no longer in its share.
  void count(ProducerEntry& entry, std::uint32_t share) noexcept;
  void count_no_more(const ProducerEntry& entry) noexcept;

  // Nobody speaks any more for a passing producer that counts; or somebody does again, or it is to
  // be forgotten.
  void fall_silent(const ProducerEntry& entry) noexcept;
  void speak_again(const ProducerEntry& entry) noexcept;
  // The passing producer that fell silent first; kNoPlace: none.
  ProducerPlace oldest() const noexcept { return silent_.oldest(); }

  ProducerShare& operator[](std::uint32_t share) noexcept { return shares_[share]; }
  const ProducerShare& operator[](std::uint32_t share) const noexcept { return shares_[share]; }

 private:
  ProducerPlace place(const ProducerEntry& entry) const noexcept {
    return static_cast<ProducerPlace>(&entry - entries_.data());
  }

  std::span<ProducerEntry> entries_;
  std::span<ProducerShare> shares_;
  SilenceOrder silent_;  // of all shares
};

}  // namespace windhover

#endif  // WINDHOVER_IO_PRODUCER_SHARES_H_
