#include "windhover/io/http/watchdog.h"

namespace windhover {

void Watchdog::look(std::int64_t now_ns, const Beats& beats) noexcept {
  const bool anew = now_ns - looked_ns_ > stall_ns_ / 2;
  for (std::size_t i = 0; i < kParts; ++i) {
    if (anew || beats[i] != beats_[i]) changed_ns_[i] = now_ns;
  }
  beats_ = beats;
  looked_ns_ = now_ns;
}

std::int64_t Watchdog::still_ns(Part part) const noexcept {
  if (beats_[part] == 0) return 0;
  const std::int64_t still = looked_ns_ - changed_ns_[part];
  return still >= stall_ns_ ? still : 0;
}

const char* Watchdog::name(Part part) noexcept {
  static constexpr std::array<const char*, kParts> kNames = {"observe", "query", "learner"};
  return kNames[part];
}

}  // namespace windhover
