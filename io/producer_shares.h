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

// Producers from this number on are passing: drawn anew for one stream, they mean nothing to
// anybody once it has ended, and may be forgotten.
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

  std::uint64_t identity = 0;  // a number that stands for it; 0: nobody's, without a limit
  std::uint64_t most = 0;      // producers that it may have; 0: half of the table
};

// Whether one more that is not passing may come to `lasting` of them: of passing ones so many
// places have one more than of others.
constexpr bool lasting_fits(std::size_t lasting, std::size_t places) noexcept {
  return lasting < places - places / 16;
}

// A place in a table of producers; none.
using ProducerPlace = std::uint32_t;
inline constexpr ProducerPlace kNoPlace = UINT32_MAX;

// Where one producer stands.
struct ProducerEntry {
  struct Neighbours {
    ProducerPlace older = kNoPlace;
    ProducerPlace newer = kNoPlace;
  };

  std::uint64_t producer = 0;       // 0: not known
  std::uint64_t next = 0;           // the sequence number expected
  std::uint64_t durable_next = 0;   // what it was when all was last seen on disk
  std::uint64_t frames = 0;         // `next` is on disk once the log has so many frames there
  ProducerClaims* owner = nullptr;  // the live connection that speaks for it
  std::int64_t heard_ns = 0;        // when it did so last
  // The neighbours of a passing producer that nobody speaks for: in the order of all, and in the
  // order of its share.
  std::array<Neighbours, 2> silent{};
  std::uint32_t share = 0;  // whose it is
};

// Producers in the order in which they fell silent: a list through the entries of a table.
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

// What one identity has of a table.
struct ProducerShare {
  // Whether it may have one more of `most`, be it for a passing one of its own that makes room.
  bool has_room(bool passing, std::size_t most) const noexcept {
    if (!passing && !lasting_fits(lasting, most)) return false;
    return producers < most || silent.oldest() != kNoPlace;
  }

  std::uint64_t identity = 0;
  std::uint32_t producers = 0;
  std::uint32_t lasting = 0;  // how many of these are not passing
  SilenceOrder silent{SilenceOrder::kOfShare};
};

// The shares of one table. Invariant: an identity has one at most; the first is nobody's, the
// second that of all who find none of their own, which count as one. A share without producers is
// free for another identity. A producer that has fallen silent stands in the order of all and in
// that of its share.
class ProducerShares {
 public:
  static constexpr std::uint32_t kNobodys = 0;
  static constexpr std::uint32_t kOthers = 1;
  static constexpr std::uint64_t kOtherIdentities = UINT64_MAX;

  // Takes memory, writes nothing. `entries`: those of the table; `identities`: that have a share of
  // their own.
  ProducerShares(Arena& arena, std::span<ProducerEntry> entries, std::size_t identities) noexcept
      : entries_(entries), shares_(arena.allocate<ProducerShare>(identities + 2)) {}
  void reset() noexcept;

  // The identity's share; where it has none, the one that it would get. `hint`: where it was found
  // before. O(identities) where that is wrong.
  std::uint32_t find(std::uint64_t identity, std::uint32_t hint) const noexcept;
  // What find() gave becomes the identity's.
  ProducerShare& take(std::uint32_t share, std::uint64_t identity) noexcept;

  // The producer counts in this share from now on, or in none.
  void count(ProducerEntry& entry, std::uint32_t share) noexcept;
  void count_no_more(const ProducerEntry& entry) noexcept;

  // A passing producer that counts has lost who spoke for it, or is spoken for again, or forgotten.
  void fall_silent(const ProducerEntry& entry) noexcept;
  void speak_again(const ProducerEntry& entry) noexcept;
  // Who has been silent for longest, of all.
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
