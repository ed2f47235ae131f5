// A cell of CSV, written.
#ifndef WINDHOVER_TOOLS_DATA_CSV_CELL_H_
#define WINDHOVER_TOOLS_DATA_CSV_CELL_H_

#include <string>
#include <string_view>

namespace windhover {

// Appends a cell, in quotes where it must be. O(size).
inline void append_cell(std::string& line, std::string_view cell, char separator) {
  const bool plain = cell.find_first_of("\"\r\n") == std::string_view::npos &&
                     cell.find(separator) == std::string_view::npos;
  if (plain) {
    line += cell;
    return;
  }
  line += '"';
  for (const char letter : cell) line.append(letter == '"' ? 2 : 1, letter);
  line += '"';
}

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_CSV_CELL_H_
