// How a file that nobody described is cut into cells.
#ifndef WINDHOVER_TOOLS_DATA_CSV_FORM_H_
#define WINDHOVER_TOOLS_DATA_CSV_FORM_H_

#include <optional>
#include <string>
#include <string_view>

#include "windhover/tools/data/table.h"

namespace windhover {

// What the first 256 KiB of the file say, where the user does not. The separator is the first of
// tab, ; | , and blank that gives every row as many cells, two at least. The first row names the
// columns when no cell of it is a number and it is unlike the rows below: `target` is one of its
// texts, or a column is numbers or dates below, or none of its texts comes again in its column.
// Quotes are letters where they would swallow lines and hardly any cell is in quotes. UserError
// when the file is no text in an encoding that is read, or cannot be read twice.
TableOptions detect_form(const std::string& path, std::optional<char> separator,
                         std::optional<bool> header, std::string_view target);

bool is_utf8(std::string_view text);
// UserError, and how to convert the file, when `text`, which is of it, is not UTF-8.
void check_encoding(const std::string& path, std::string_view text);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_CSV_FORM_H_
