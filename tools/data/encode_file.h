// The rows of a file as the numbers that a model gets: for programs that send rows themselves, and
// to see what a schema makes of a file.
#ifndef WINDHOVER_TOOLS_DATA_ENCODE_FILE_H_
#define WINDHOVER_TOOLS_DATA_ENCODE_FILE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "windhover/tools/data/schema.h"

namespace windhover {

struct EncodeFile {
  std::string path;  // "-": standard input
  RowUse use = RowUse::kObservation;
  // Gets CSV in pieces of whole lines; the first begins with the header.
  std::function<void(std::string_view)> on_lines;
  // Gets line, column and reason of the first skipped rows, then once that more follow.
  std::function<void(const std::string&)> on_skipped;
};

struct EncodeReport {
  std::uint64_t rows = 0;  // in the file
  std::uint64_t skipped = 0;
  std::uint64_t unreadable = 0;  // skipped because a cell is not empty, and cannot be read

  // An error when rows are unreadable; otherwise empty.
  std::string trouble(std::string_view name) const;
};

// Columns: `row`, counted from 1 over all rows of the file; `y` for observations; `offset`,
// `weight` (for observations) and `trials` where the schema has them; then the scaled features, a
// column each. A sparse schema has one column, `features`, instead: column:value of each value that
// is not 0, columns counted from 0, separated by blanks. Numbers are the shortest that read back
// the same. Memory does not grow with the file. UserError names file, line and column.
EncodeReport encode_file(const Schema& schema, const EncodeFile& file);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_ENCODE_FILE_H_
