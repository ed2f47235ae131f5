// What a host says about keeping things on disk.
#ifndef WINDHOVER_IO_DURABLE_DURABLE_CONFIG_H_
#define WINDHOVER_IO_DURABLE_DURABLE_CONFIG_H_

#include <chrono>
#include <cstdint>
#include <string_view>

#include "windhover/io/durable/log_options.h"

namespace windhover {

// Without a folder nothing is kept. The string is copied.
struct DurableConfig {
  std::string_view folder;  // its own; made when missing, not its parents
  // Another disk in the place of that folder, for tests of ones that fail; outlives the server.
  Folder* disk = nullptr;
  // Whether rows are acknowledged when they are on disk. Otherwise checkpoints alone are kept, and
  // what came after the newest is lost in a crash.
  bool log = true;
  LogOptions log_options{.bytes = 256ULL << 20, .segment_bytes = 16ULL << 20};
  // From the begin of one commit to that of the next at least. 0: as soon as the one before ends,
  // with all that has come meanwhile.
  std::chrono::microseconds commit_interval{0};
  std::uint32_t max_waiting_frames = 16'384;  // judged and not written yet; then senders wait
  // Between checkpoints, where rows have come; sooner where half of the log is used. 0: only when
  // asked, at the end, and where the log needs it.
  std::chrono::milliseconds checkpoint_period{60'000};

  bool enabled() const noexcept { return !folder.empty(); }
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_DURABLE_CONFIG_H_
