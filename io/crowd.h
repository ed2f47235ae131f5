// Strangers, which are peers with a place that have not shown who they are, counted by address.
#ifndef WINDHOVER_IO_CROWD_H_
#define WINDHOVER_IO_CROWD_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>

#include "windhover/io/occupant.h"

namespace windhover {

// How many strangers are at each address. `sessions`: a range of what has occupant(); `room`: for
// as many numbers as there are sessions. O(n log n).
class Crowd {
 public:
  template <std::ranges::sized_range Sessions>
  Crowd(Sessions&& sessions, std::span<std::uint64_t> room) noexcept
      : few_(1 + std::ranges::size(sessions) / kShare) {
    std::size_t strangers = 0;
    for (const auto& session : sessions) {
      const Occupant who = session.occupant();
      if (who.stranger) room[strangers++] = who.address;
    }
    addresses_ = room.first(strangers);
    std::ranges::sort(addresses_);
  }

  // How crowded an address is: strangers of the address with the largest number give up their place
  // first. Addresses with few strangers count alike: two connections at once are no crowd beside
  // strangers of many addresses. O(log n).
  std::size_t at(std::uint64_t address) const noexcept {
    return std::max(few_, std::ranges::equal_range(addresses_, address).size());
  }

 private:
  static constexpr std::size_t kShare = 16;  // of all places

  std::size_t few_;
  std::span<std::uint64_t> addresses_;  // rising
};

}  // namespace windhover

#endif  // WINDHOVER_IO_CROWD_H_
