// Makes a data folder from another one: what `windhover backup` and `windhover restore` do.
#ifndef WINDHOVER_TOOLS_KEPT_COPY_HISTORY_H_
#define WINDHOVER_TOOLS_KEPT_COPY_HISTORY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "windhover/tools/kept/checkpoint_contents.h"
#include "windhover/tools/kept/kept_folder.h"

namespace windhover {

struct CopyOptions {
  // The number of rows that the history ends with; none: all there are.
  std::optional<std::uint64_t> to_row;
  // The copy is another history from here on, with an instance id of its own; false: the same one.
  bool new_instance = false;
  // Copies the newest checkpoint alone although there is a log: for a log that cannot be read.
  bool without_log = false;
  // Sizes of the copy's log; none: those of the original.
  std::optional<std::uint64_t> log_bytes = std::nullopt;
  std::optional<std::uint64_t> segment_bytes = std::nullopt;
};

struct CopyReport {
  std::uint64_t instance = 0;
  std::uint64_t checkpoint = 0;       // its number in the folder copied from
  std::uint64_t checkpoint_head = 0;  // the rows in it
  bool has_log = false;
  std::uint64_t frames = 0;  // from the log
  std::uint64_t rows = 0;    // in all
  Producers producers;
  std::vector<std::string> remarks;  // sentences that the user should read
};

// `part` is 0 to 1.
using CopyProgress = std::function<void(double part, const std::string& text)>;

// Makes the folder `to`: the newest good checkpoint that is not after to_row, then the log after
// it. The copy is made as `to`.unfinished, synced and renamed, so that `to` is whole or not there.
// A daemon may be at work in `from`; when it releases frames that are still needed, the copy begins
// again with a newer checkpoint. A frame that crosses to_row is cut. UserError: `to` exists, to_row
// is before the oldest usable checkpoint or beyond the end, or the log cannot have the size asked
// for. RunError: damage, or a failing disk.
CopyReport copy_history(KeptFolder& from, const std::string& to, const CopyOptions& options,
                        const CopyProgress& progress);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_KEPT_COPY_HISTORY_H_
