// The form of CSV in a file that nobody described.
#ifndef WINDHOVER_TOOLS_DATA_CSV_FORM_H_
#define WINDHOVER_TOOLS_DATA_CSV_FORM_H_

#include <optional>
#include <string>
#include <string_view>

#include "windhover/tools/data/table.h"

namespace windhover {

// The form of the file, from its first 256 KiB where the user does not say it. The separator, of
// tab, ; | , and blank, is the one with which the largest share of the rows, above 80 %, has the
// same number of cells, at least two; the earlier of equal ones; a comma if there is none. The
// first row names the columns if `target` is one of its texts; otherwise if none of its cells is a
// number, date or time, and either a column has only such values below or none of its texts repeats
// in its column. Quotes are ordinary characters where they would swallow lines and hardly any cell
// is quoted. UserError when the file is not text in an encoding that is read, or cannot be read
// twice.
TableOptions detect_form(const std::string& path, std::optional<char> separator,
                         std::optional<bool> header, std::string_view target);

bool is_utf8(std::string_view text);
// UserError, with a way to convert the file, when `text`, a part of it, is not UTF-8.
void check_encoding(const std::string& path, std::string_view text);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_CSV_FORM_H_
