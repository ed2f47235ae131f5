// Judges sizes of a log for whoever chooses them.
#ifndef WINDHOVER_TOOLS_KEPT_LOG_SIZES_H_
#define WINDHOVER_TOOLS_KEPT_LOG_SIZES_H_

#include <cstdint>
#include <string>

#include "windhover/io/durable/log_options.h"

namespace windhover {

// A sentence that names the option to change, its value, and the nearest value that is allowed;
// empty where a server with requests of at most `frame_cap` bytes can keep such a log.
std::string contradiction(const LogOptions& log, std::uint64_t frame_cap);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_KEPT_LOG_SIZES_H_
