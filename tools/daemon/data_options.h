// What windhoverd keeps on disk, as options.
#ifndef WINDHOVER_TOOLS_DAEMON_DATA_OPTIONS_H_
#define WINDHOVER_TOOLS_DAEMON_DATA_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "windhover/io/durable/durable_config.h"
#include "windhover/runtime/config.h"
#include "windhover/tools/daemon/daemon_options.h"

namespace windhover {

// The table [data].
struct DataOptions {
  std::string folder;  // empty: nothing is kept
  bool logged = true;
  LogOptions log = DurableConfig().log_options;
  std::uint32_t commit_interval_us = 0;
  std::uint32_t checkpoint_period_ms = 60'000;

  // This object outlives what is returned.
  DurableConfig config() const;
  // What is wrong with the log's sizes, in a sentence; empty: nothing, or there is no log.
  std::string contradiction(std::uint32_t frame_cap) const;
  // Sets what the engine needs for it: checkpoints, and a follower that writes the log.
  void prepare(EngineConfig& engine) const;
};

// Named "data." and the field. `options` must outlive them.
std::vector<DaemonOption> data_options(DataOptions& options);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_DATA_OPTIONS_H_
