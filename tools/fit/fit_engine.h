// The configuration of the engine that a fit runs.
#ifndef WINDHOVER_TOOLS_FIT_FIT_ENGINE_H_
#define WINDHOVER_TOOLS_FIT_FIT_ENGINE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "windhover/runtime/config.h"
#include "windhover/tools/data/dataset.h"
#include "windhover/tools/data/schema.h"
#include "windhover/tools/fit/file_units.h"
#include "windhover/tools/fit/fit.h"

namespace windhover {

// A prior group for each feature where the options ask for that; otherwise empty.
std::vector<std::uint32_t> prior_groups_of(const FitOptions& options, const Dataset& data);

// REQUIRES: `prior_groups` and `units` outlive the engine. UserError where the target has more
// classes than the options say.
EngineConfig engine_config(const FitOptions& options, const Schema& schema, const Dataset& data,
                           const FileUnits& units, std::optional<double> noise_variance,
                           const std::vector<std::uint32_t>& prior_groups);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_FIT_FIT_ENGINE_H_
