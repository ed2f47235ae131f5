// Which rows the posterior stands on that a data folder holds.
#ifndef WINDHOVER_TOOLS_KEPT_KEPT_HORIZON_H_
#define WINDHOVER_TOOLS_KEPT_KEPT_HORIZON_H_

#include <optional>
#include <string>

#include "windhover/runtime/config.h"

namespace windhover {

// As the newest good checkpoint says; nothing: there is none, or no folder. Reads one checkpoint
// from end to end, or several where the newest are damaged.
std::optional<Horizon> kept_horizon(const std::string& folder);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_KEPT_KEPT_HORIZON_H_
