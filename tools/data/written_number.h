// Numbers as people write them in files.
#ifndef WINDHOVER_TOOLS_DATA_WRITTEN_NUMBER_H_
#define WINDHOVER_TOOLS_DATA_WRITTEN_NUMBER_H_

#include <optional>
#include <string_view>

namespace windhover {

// How the numbers of a file are written.
struct NumberForm {
  char decimal = '.';  // or ','
  // Digits before the decimal sign may come in groups of three, and a number may have a currency or
  // percent sign, which says nothing, and be negative by brackets: $1,234.50, (5), 12 %.
  bool thousands = false;

  friend bool operator==(const NumberForm&, const NumberForm&) = default;
};

// All expect no blanks around the text, and give nothing where it is not of that form or not
// finite. O(size).

std::optional<double> parse_decimal(std::string_view text, char decimal);

// Reads signs and groups of three, whatever the form says of them. Groups are parted by the sign
// that is not the decimal one, by blanks or by apostrophes, all of a number alike.
std::optional<double> parse_adorned(std::string_view text, char decimal);

// The unit that such a number's sign says, one text for all ways of writing it; empty where it has
// no sign.
std::string_view unit_of(std::string_view text);

// Reads the number by one of these two, as the form says.
std::optional<double> parse_written(std::string_view text, NumberForm form);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_WRITTEN_NUMBER_H_
