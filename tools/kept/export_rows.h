// Exports the rows of a log as CSV.
#ifndef WINDHOVER_TOOLS_KEPT_EXPORT_ROWS_H_
#define WINDHOVER_TOOLS_KEPT_EXPORT_ROWS_H_

#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>

#include "windhover/tools/kept/kept_folder.h"

namespace windhover {

struct ExportOptions {
  std::optional<std::uint64_t> from;  // the first row; none: the oldest in the log
  std::optional<std::uint64_t> to;    // one past the last; none: all
  std::string schema;                 // path of the schema with the names; empty: x1, x2, ..., y
};

// Writes a header and a line for each row: its position, the producer, its sequence number, the
// features as they were sent, the target, and where the model has them offset, trials and weight.
// The sequence number is empty where the producer is 0, and where rows of the frame were refused,
// because the log does not say which. Returns the number of rows. UserError: the range or the
// schema does not fit; RunError, LogDamaged: reading or writing failed.
std::uint64_t export_rows(KeptFolder& folder, const ExportOptions& options, std::FILE* out,
                          const std::function<void(std::uint64_t row)>& progress);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_KEPT_EXPORT_ROWS_H_
