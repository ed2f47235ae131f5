// Numbers as people write them in files.
#ifndef WINDHOVER_TOOLS_DATA_WRITTEN_NUMBER_H_
#define WINDHOVER_TOOLS_DATA_WRITTEN_NUMBER_H_

#include <optional>
#include <string_view>

namespace windhover {

// The form of the numbers of a file.
struct NumberForm {
  char decimal = '.';  // or ','
  // Digits before the decimal sign may come in groups of three. A number may have a currency or
  // percent sign, which does not change it, and be negative by brackets: $1,234.50, (5), 12 %.
  bool thousands = false;

  friend bool operator==(const NumberForm&, const NumberForm&) = default;
};

// These functions expect no blanks around the text and give nothing where it has another form or is
// not finite. O(size).

std::optional<double> parse_decimal(std::string_view text, char decimal);

// Reads signs and groups of three whatever the form is. Groups are separated by the sign that is
// not the decimal one, by blanks or by apostrophes, the same throughout a number.
std::optional<double> parse_adorned(std::string_view text, char decimal);

// The unit of such a number, one text for all its spellings; empty where it has no sign.
std::string_view unit_of(std::string_view text);

// Reads the number by one of these two as the form says.
std::optional<double> parse_written(std::string_view text, NumberForm form);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_WRITTEN_NUMBER_H_
