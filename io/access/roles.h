#ifndef WINDHOVER_IO_ACCESS_ROLES_H_
#define WINDHOVER_IO_ACCESS_ROLES_H_

#include <cstdint>

namespace windhover {

// What an identity may do. The numbers stand in refusals (Refusal.number in windhover.proto).
enum class Role : std::uint8_t {
  kObserve = 1,  // send rows, and ask where a producer stands
  kQuery = 2,    // ask questions
  kAdmin = 4,    // take checkpoints, pause models, choose which one answers, add and remove models
};

struct RoleSet {
  constexpr bool has(Role role) const noexcept {
    return (bits & static_cast<std::uint8_t>(role)) != 0;
  }
  constexpr bool any() const noexcept { return bits != 0; }
  constexpr void add(RoleSet others) noexcept {
    bits = static_cast<std::uint8_t>(bits | others.bits);
  }
  constexpr void add(Role role) noexcept { add(RoleSet{static_cast<std::uint8_t>(role)}); }
  constexpr void keep(RoleSet others) noexcept {
    bits = static_cast<std::uint8_t>(bits & others.bits);
  }
  friend constexpr bool operator==(RoleSet, RoleSet) noexcept = default;

  std::uint8_t bits = 0;
};
inline constexpr RoleSet kNoRoles{};
inline constexpr RoleSet kAllRoles{7};

}  // namespace windhover

#endif  // WINDHOVER_IO_ACCESS_ROLES_H_
