// Strangers, who have a place and have not shown who they are, and where they are.
#ifndef WINDHOVER_IO_CROWD_H_
#define WINDHOVER_IO_CROWD_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>

namespace windhover {

// The address that most strangers have; of equals any. `sessions`: a range of what has
// is_stranger() and address(); `room`: for as many numbers as there are. O(n log n).
template <std::ranges::input_range Sessions>
std::uint64_t crowded_address(Sessions&& sessions, std::span<std::uint64_t> room) noexcept {
  std::size_t strangers = 0;
  for (const auto& session : sessions) {
    if (session.is_stranger()) room[strangers++] = session.address();
  }
  const std::span<std::uint64_t> addresses = room.first(strangers);
  std::ranges::sort(addresses);
  std::uint64_t found = 0;
  std::ptrdiff_t most = 0;
  for (auto at = addresses.begin(); at != addresses.end();) {
    const auto end = std::upper_bound(at, addresses.end(), *at);
    if (end - at > most) found = *at;
    most = std::max(most, end - at);
    at = end;
  }
  return found;
}

}  // namespace windhover

#endif  // WINDHOVER_IO_CROWD_H_
