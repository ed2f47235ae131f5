// Strangers, who have a place and have not shown who they are, and where they are.
#ifndef WINDHOVER_IO_CROWD_H_
#define WINDHOVER_IO_CROWD_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>

namespace windhover {

// How many strangers are at each address. Where no two share one, none is more crowded than
// another.
class Crowd {
 public:
  // `sessions`: a range of what has is_stranger() and address(); `room`: for as many numbers as
  // there are, while this lives. O(n log n).
  template <std::ranges::input_range Sessions>
  Crowd(Sessions&& sessions, std::span<std::uint64_t> room) noexcept {
    std::size_t strangers = 0;
    for (const auto& session : sessions) {
      if (session.is_stranger()) room[strangers++] = session.address();
    }
    addresses_ = room.first(strangers);
    std::ranges::sort(addresses_);
    for (auto at = addresses_.begin(); at != addresses_.end();) {
      const std::size_t here = strangers_at(*at);
      most_ = std::max(most_, here);
      at += static_cast<std::ptrdiff_t>(here);
    }
  }

  // Whether nowhere are more of them. O(log n).
  bool is_largest_at(std::uint64_t address) const noexcept {
    return strangers_at(address) == most_;
  }

 private:
  std::size_t strangers_at(std::uint64_t address) const noexcept {
    return std::ranges::equal_range(addresses_, address).size();
  }

  std::span<std::uint64_t> addresses_;  // in order
  std::size_t most_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_CROWD_H_
