// A data folder made of another one: what `windhover backup` and `windhover restore` do.
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
  // The history ends with so many rows; nothing: with all there are.
  std::optional<std::uint64_t> to_row;
  // Another history from here on, under an instance id of its own; false: the same one.
  bool new_instance = false;
  // The newest checkpoint alone, though there is a log: for one that cannot be read.
  bool without_log = false;
  // Sizes of the copy's log, where they are to differ from the original's.
  std::optional<std::uint64_t> log_bytes = std::nullopt;
  std::optional<std::uint64_t> segment_bytes = std::nullopt;
};

struct CopyReport {
  std::uint64_t instance = 0;
  std::uint64_t checkpoint = 0;       // its number in the folder copied from,
  std::uint64_t checkpoint_head = 0;  // and its rows
  bool has_log = false;
  std::uint64_t frames = 0;  // from the log
  std::uint64_t rows = 0;    // in all
  Producers producers;
  std::vector<std::string> remarks;  // a sentence each: what the user should know
};

// `part` is 0 to 1.
using CopyProgress = std::function<void(double part, const std::string& text)>;

// Makes the folder `to`: the newest good checkpoint (not after to_row), then the log after it. It
// is made beside, as `to`.unfinished, synced and renamed, so that `to` is whole or not there. A
// daemon may be at work in `from`; when it lets frames go that are still needed, the copy begins
// anew with a newer checkpoint. A frame that crosses to_row is cut. UserError: `to` is there, or
// to_row is before the oldest checkpoint or beyond the end, or the log cannot have the size that is
// asked for; RunError: damage, or a failing disk.
CopyReport copy_history(KeptFolder& from, const std::string& to, const CopyOptions& options,
                        const CopyProgress& progress);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_KEPT_COPY_HISTORY_H_
