// The text of a cell as a number.
#ifndef WINDHOVER_TOOLS_DATA_CELL_H_
#define WINDHOVER_TOOLS_DATA_CELL_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "windhover/tools/data/written_number.h"

namespace windhover {

// How a text becomes a number.
enum class Reads : std::uint8_t {
  kNumber,        // 1.5, -3e2
  kBoolean,       // true, yes, y, t, on: 1; false, no, n, f, off: 0; 1 and 0 too; any case
  kYearMonthDay,  // a date, with or without a time of day: days since 1970-01-01
  kDayMonthYear,
  kMonthDayYear,
  kTime,  // a time of day: hours
};

// Whether a cell has no value: empty, NA, N/A, NaN, null or ?, in any case; blanks around it are
// allowed.
bool is_missing_text(std::string_view text);

// The two functions below expect no blanks around the text and give nothing when it has another
// form. O(size).
// A date: parts separated by - / . or a blank; a month may be an English name; a year has four
// digits, or two, which mean 1969 to 2068. year-month-day may also be without separators (20240229)
// or without a day. Then optionally T or a blank, a time, and Z or an offset from UTC, which is
// subtracted.

// Parts are parted by - / . or a blank; a month may be an English name; the year has four digits or
// two, which mean 1969 to 2068; year-month-day also without anything between (20240229) or without
// a day. Then perhaps T or a blank, a time, and Z or an offset from UTC, which is taken off.
std::optional<double> parse_date(std::string_view text, Reads order);

// hh:mm, hh:mm:ss or with a fraction; am or pm.
std::optional<double> parse_time(std::string_view text);

// Reads any of these. Blanks around the text are allowed.
std::optional<double> read_cell(std::string_view text, Reads reads, NumberForm form);

// The form that read_cell() expects, for an error.
std::string_view reads_text(Reads reads, NumberForm form);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_CELL_H_
