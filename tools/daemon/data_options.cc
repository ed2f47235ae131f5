#include "windhover/tools/daemon/data_options.h"

#include <algorithm>

#include "windhover/tools/kept/log_sizes.h"

namespace windhover {

DurableConfig DataOptions::config() const {
  DurableConfig config;
  config.folder = folder;
  config.log = logged;
  config.log_options = log;
  config.commit_interval = std::chrono::microseconds(commit_interval_us);
  config.checkpoint_period = std::chrono::milliseconds(checkpoint_period_ms);
  return config;
}

std::string DataOptions::contradiction(std::uint32_t frame_cap) const {
  return folder.empty() || !logged ? "" : windhover::contradiction(log, frame_cap);
}

void DataOptions::prepare(EngineConfig& engine) const {
  if (folder.empty()) return;
  engine.checkpoints = true;
  if (logged) engine.max_followers = std::max(engine.max_followers, 1U);
}

std::vector<DaemonOption> data_options(DataOptions& options) {
  return {
      text("data.folder", "where rows and checkpoints are kept; empty: a restart starts cold",
           options.folder),
      choice("data.durability",
             "with a folder, when rows are acknowledged: on disk, or in memory (checkpoints alone)",
             options.logged, Choices<bool>{{"logged", true}, {"memory", false}}),
      number("data.log_bytes", "on disk, for good; half of it full asks for a checkpoint",
             options.log.bytes),
      number("data.segment_bytes", "of the log, what is written over at once",
             options.log.segment_bytes),
      number("data.commit_bytes", "of the log, the largest piece written and synced at once",
             options.log.commit_bytes),
      number("data.commit_interval", "us between commits at least; 0: as fast as the disk",
             options.commit_interval_us),
      number("data.checkpoint_period", "ms between checkpoints; 0: only when needed or asked",
             options.checkpoint_period_ms),
  };
}

}  // namespace windhover
