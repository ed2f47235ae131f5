// The options of sampler and horizon: one list for the daemon's file and flags and for `windhover
// fit`.
#ifndef WINDHOVER_TOOLS_DAEMON_SAMPLER_OPTIONS_H_
#define WINDHOVER_TOOLS_DAEMON_SAMPLER_OPTIONS_H_

#include <optional>
#include <vector>

#include "windhover/runtime/config.h"
#include "windhover/tools/daemon/daemon_options.h"

namespace windhover {

// Named "sampler." and the field; all fields of SamplerConfig but name, minibatch_grows and metric.
// `config` must outlive them.
std::vector<DaemonOption> sampler_options(SamplerConfig& config);
// "engine.horizon". The second also takes "chosen", which gives nullopt (chosen_horizon()).
DaemonOption horizon_option(Horizon& horizon);
DaemonOption horizon_option(std::optional<Horizon>& horizon);
// Named "engine." and the field: those that belong to a horizon.
std::vector<DaemonOption> horizon_options(EngineConfig& config);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_SAMPLER_OPTIONS_H_
