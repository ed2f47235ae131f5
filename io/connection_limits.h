// How much one connection may send and ask.
#ifndef WINDHOVER_IO_CONNECTION_LIMITS_H_
#define WINDHOVER_IO_CONNECTION_LIMITS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace windhover {

// Rates are per second, averaged over one; 0: no limit. A connection over one of them is not read
// until it has tokens again: its peer waits, and nothing is lost.
struct ConnectionLimits {
  std::uint64_t frames = 0;     // requests of any kind
  std::uint64_t bytes = 0;      // received
  std::uint64_t questions = 0;  // those of the frames that ask for the posterior or the status
  std::uint64_t cost = 0;       // what questions cost, in microseconds: see question_cost.h

  // The last two are no rates, but of an identity. How many connections it may have to each
  // endpoint at a time.
  std::uint64_t connections = 0;
  // How many producers of each model it may have; 0: half of max_producers. Without an identities
  // file there is no limit.
  std::uint64_t producers = 0;

  // Whether there is a rate.
  bool any() const noexcept { return frames != 0 || bytes != 0 || questions != 0 || cost != 0; }
  bool operator==(const ConnectionLimits&) const = default;
};

// The limits of one identity in place of everybody's; nothing: those of everybody.
struct OwnLimits {
  using Member = std::optional<std::uint64_t> OwnLimits::*;

  std::optional<std::uint64_t> frames;
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> questions;
  std::optional<std::uint64_t> cost;
  std::optional<std::uint64_t> connections;
  std::optional<std::uint64_t> producers;

  // These limits; each that is not given is taken from `others`.
  OwnLimits or_of(const OwnLimits& others) const noexcept {
    OwnLimits all = *this;
    for (const Member limit : kAll) {
      if (!(all.*limit)) all.*limit = others.*limit;
    }
    return all;
  }
  // For each limit the larger of the two, where 0 (no limit) is the largest; the one that is given
  // where the other is not.
  OwnLimits larger_of(const OwnLimits& others) const noexcept {
    OwnLimits all = or_of(others);
    for (const Member limit : kAll) {
      if ((this->*limit) && (others.*limit)) {
        all.*limit = std::max((this->*limit).value() - 1, (others.*limit).value() - 1) + 1;
      }
    }
    return all;
  }

  ConnectionLimits in_place_of(const ConnectionLimits& all) const noexcept {
    return {frames.value_or(all.frames),           bytes.value_or(all.bytes),
            questions.value_or(all.questions),     cost.value_or(all.cost),
            connections.value_or(all.connections), producers.value_or(all.producers)};
  }

  static const std::array<Member, 6> kAll;
};

inline constexpr std::array<OwnLimits::Member, 6> OwnLimits::kAll = {
    &OwnLimits::frames, &OwnLimits::bytes,       &OwnLimits::questions,
    &OwnLimits::cost,   &OwnLimits::connections, &OwnLimits::producers};

}  // namespace windhover

#endif  // WINDHOVER_IO_CONNECTION_LIMITS_H_
