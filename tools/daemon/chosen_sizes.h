// Sizes that a configuration leaves to the daemon.
#ifndef WINDHOVER_TOOLS_DAEMON_CHOSEN_SIZES_H_
#define WINDHOVER_TOOLS_DAEMON_CHOSEN_SIZES_H_

#include <cstddef>
#include <cstdint>

#include "windhover/runtime/config.h"

namespace windhover {

// Replaces window_slack = 0 and max_frame_rows = 0 by sizes that suit the window, so that room for
// waiting rows does not dominate a small model. There is room for the `waiting` rows that a folder
// holds.
void choose_slack(EngineConfig& engine, std::uint64_t waiting = 0);

// Producers that each model tells apart: a share of 2^20, at least 1024 and at most the default of
// max_producers; or `kept`, those of one model's folder, where these are more.
std::uint32_t producers_of_each(std::size_t models, std::uint64_t kept = 0);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_CHOSEN_SIZES_H_
