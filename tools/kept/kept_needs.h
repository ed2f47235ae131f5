// What a daemon needs that goes on with what a data folder holds.
#ifndef WINDHOVER_TOOLS_KEPT_KEPT_NEEDS_H_
#define WINDHOVER_TOOLS_KEPT_KEPT_NEEDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "windhover/runtime/config.h"

namespace windhover {

struct KeptNeeds {
  Horizon horizon = Horizon::kWindow;  // which rows the kept posterior stands on
  std::uint64_t waiting = 0;           // rows that the learner had not taken in
  std::uint64_t producers = 0;         // that need a place: passing ones do not
};

// What the newest good checkpoint says; nothing: there is none, or no folder. Reads the first part
// of each alone, up to the configuration; from end to end only where they do not agree on the
// horizon, or one cannot be read so far. Where neither is the case the numbers are the larger ones
// of all.
std::optional<KeptNeeds> kept_needs(const std::string& folder);

// Producers, but for passing ones, of the newest good checkpoint and of the log after it, which is
// read to its end; 0: there is nothing that could be read.
std::uint64_t kept_producers(const std::string& folder);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_KEPT_KEPT_NEEDS_H_
