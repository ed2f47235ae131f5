// Sizes that a configuration leaves to the daemon.
#ifndef WINDHOVER_TOOLS_DAEMON_CHOSEN_SIZES_H_
#define WINDHOVER_TOOLS_DAEMON_CHOSEN_SIZES_H_

#include <cstddef>
#include <cstdint>

#include "windhover/runtime/config.h"

namespace windhover {

// Replaces window_slack = 0 and max_frame_rows = 0 by what suits the window, so that a small model
// is not mostly room for rows that wait; but there is room for `waiting`, which a folder holds.
void choose_slack(EngineConfig& engine, std::uint64_t waiting = 0);

// A million for all models together, but a thousand each, and as many as are `kept` of one.
std::uint32_t producers_of_each(std::size_t models, std::uint64_t kept = 0);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_CHOSEN_SIZES_H_
