// Which rows the posterior stands on that a data folder holds.
#ifndef WINDHOVER_TOOLS_KEPT_KEPT_HORIZON_H_
#define WINDHOVER_TOOLS_KEPT_KEPT_HORIZON_H_

#include <optional>
#include <string>

#include "windhover/runtime/config.h"

namespace windhover {

// As the newest good checkpoint says; nothing: there is none, or no folder. Reads of each its first
// part alone, up to the configuration; from end to end only where they do not agree, or one cannot
// be read so far.
std::optional<Horizon> kept_horizon(const std::string& folder);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_KEPT_KEPT_HORIZON_H_
