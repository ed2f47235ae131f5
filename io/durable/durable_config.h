// The configuration of what a server keeps on disk.
#ifndef WINDHOVER_IO_DURABLE_DURABLE_CONFIG_H_
#define WINDHOVER_IO_DURABLE_DURABLE_CONFIG_H_

#include <chrono>
#include <cstdint>
#include <string_view>

#include "windhover/io/durable/log_options.h"

namespace windhover {

// Without a folder nothing is kept. The string is copied.
struct DurableConfig {
  std::string_view folder;  // of this server alone; made when missing, but not its parents
  // Used in place of that folder, for tests with disks that fail; outlives the server.
  Folder* disk = nullptr;
  // Whether rows are acknowledged when they are on disk. Otherwise checkpoints alone are kept, and
  // what came after the newest is lost in a crash.
  bool log = true;
  LogOptions log_options{.bytes = 256ULL << 20, .segment_bytes = 16ULL << 20};
  // The least time from the beginning of one commit to that of the next. 0: a commit begins as soon
  // as the one before ends, with all that has come meanwhile.
  std::chrono::microseconds commit_interval{0};
  std::uint32_t max_waiting_frames = 16'384;  // judged and not written yet; then senders wait
  // The time between checkpoints while rows come; less where half of the log is used. 0: only when
  // asked, and where the log needs one.
  std::chrono::milliseconds checkpoint_period{60'000};

  bool enabled() const noexcept { return !folder.empty(); }
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_DURABLE_CONFIG_H_
