// What a daemon needs to go on with the contents of a data folder.
#ifndef WINDHOVER_TOOLS_KEPT_KEPT_NEEDS_H_
#define WINDHOVER_TOOLS_KEPT_KEPT_NEEDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "windhover/runtime/config.h"

namespace windhover {

struct KeptNeeds {
  Horizon horizon = Horizon::kWindow;  // which rows the kept posterior stands on
  std::uint64_t waiting = 0;           // rows that the learner had not taken in yet
  std::uint64_t producers = 0;         // without passing ones, which need no place
};

// The needs of the checkpoints; none where there is no good one, or no folder. Reads of each only
// the part up to the configuration, and takes the larger numbers of all. Where their horizons
// differ, or one cannot be read that far, reads the newest good one from end to end and takes its
// numbers.
std::optional<KeptNeeds> kept_needs(const std::string& folder);

// The number of producers, without passing ones, in the newest good checkpoint and the log after
// it, which is read to its end; 0 where nothing can be read.
std::uint64_t kept_producers(const std::string& folder);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_KEPT_KEPT_NEEDS_H_
