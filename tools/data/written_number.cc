#include "windhover/tools/data/written_number.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "windhover/tools/data/table.h"

namespace windhover {
namespace {

bool is_a_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// One to three digits, then groups of three, each after `separator`; at least one of them.
// The digits alone, or nothing.
std::optional<std::string> digits_of_groups(std::string_view text, std::string_view separator) {
  constexpr std::size_t kGroup = 3;
  std::string digits;
  const std::size_t first = text.find(separator);
  if (first == std::string_view::npos || first < 1 || first > kGroup) return std::nullopt;
  if (text.starts_with('0')) return std::nullopt;  // 0.123 is no 123
  digits = text.substr(0, first);
  for (text.remove_prefix(first); !text.empty(); text.remove_prefix(kGroup)) {
    if (!text.starts_with(separator)) return std::nullopt;
    text.remove_prefix(separator.size());
    if (text.size() < kGroup) return std::nullopt;
    digits += text.substr(0, kGroup);
  }
  if (!std::ranges::all_of(digits, is_a_digit)) return std::nullopt;
  return digits;
}

// Digits that may come in groups, and a fraction.
std::optional<double> parse_groups(std::string_view text, char decimal) {
  if (const auto plain = parse_decimal(text, decimal)) return plain;
  const std::size_t end = std::min(text.find(decimal), text.size());
  const std::string_view fraction = text.substr(std::min(end + 1, text.size()));
  if (!std::ranges::all_of(fraction, is_a_digit)) return std::nullopt;
  const std::string_view other = decimal == '.' ? "," : ".";
  constexpr std::string_view kNoBreak = "\xC2\xA0";
  constexpr std::string_view kNarrow = "\xE2\x80\xAF";
  for (const std::string_view separator : {other, std::string_view(" "), std::string_view("'"),
                                           std::string_view("\xE2\x80\x99"), kNoBreak, kNarrow}) {
    if (const auto whole = digits_of_groups(text.substr(0, end), separator))
      return parse_number(*whole + "." + std::string(fraction) + "0");
  }
  return std::nullopt;
}

// A number and what surrounds its digits.
struct Adorned {
  std::string_view digits;
  std::string_view unit;  // of its sign; empty: it has none
  bool negative = false;
};

Adorned taken_apart(std::string_view text) {
  // Spelling and unit.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kSigns = {{{"US$", "$"},
                                                                                     {"USD", "$"},
                                                                                     {"$", "$"},
                                                                                     {"€", "€"},
                                                                                     {"EUR", "€"},
                                                                                     {"£", "£"},
                                                                                     {"GBP", "£"},
                                                                                     {"¥", "¥"},
                                                                                     {"JPY", "¥"},
                                                                                     {"₹", "₹"},
                                                                                     {"INR", "₹"},
                                                                                     {"CHF", "CHF"},
                                                                                     {"kr", "kr"},
                                                                                     {"%", "%"}}};
  Adorned found;
  // Negative amounts: -$5, or in brackets.
  if (text.starts_with('(') && text.ends_with(')')) {
    found.negative = true;
    text = without_blanks(text.substr(1, text.size() - 2));
  }
  const auto take_minus = [&] {
    if (found.negative || !text.starts_with('-')) return;
    found.negative = true;
    text = without_blanks(text.substr(1));
  };
  take_minus();
  for (const auto& [sign, unit] : kSigns) {
    if (!text.starts_with(sign) && !text.ends_with(sign)) continue;
    text = without_blanks(text.starts_with(sign) ? text.substr(sign.size())
                                                 : text.substr(0, text.size() - sign.size()));
    found.unit = unit;
    break;
  }
  take_minus();
  found.digits = text;
  return found;
}

}  // namespace

std::optional<double> parse_decimal(std::string_view text, char decimal) {
  if (decimal == '.') return parse_number(text);
  if (text.find('.') != std::string_view::npos) return std::nullopt;
  std::string with_point(text);
  std::ranges::replace(with_point, decimal, '.');
  return parse_number(with_point);
}

std::optional<double> parse_adorned(std::string_view text, char decimal) {
  const Adorned adorned = taken_apart(text);
  text = adorned.digits;
  if (text.empty() || !(is_a_digit(text[0]) || text[0] == decimal)) return std::nullopt;
  const auto value = parse_groups(text, decimal);
  return value && adorned.negative ? std::optional(-*value) : value;
}

std::string_view unit_of(std::string_view text) { return taken_apart(text).unit; }

std::optional<double> parse_written(std::string_view text, NumberForm form) {
  const auto plain = parse_decimal(text, form.decimal);
  return plain || !form.thousands ? plain : parse_adorned(text, form.decimal);
}

}  // namespace windhover
