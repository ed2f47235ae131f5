#include "windhover/tools/data/inspect_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "windhover/tools/data/csv_form.h"
#include "windhover/tools/data/written_number.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

// An amount whose sign is not UTF-8 is not a number, and its column would be taken for texts.
void check_amount_encoding(const std::string& path, const ColumnFacts::Cell& cell) {
  std::string ascii = cell.text;
  std::erase_if(ascii, [](char c) { return (c & '\x80') != 0; });
  while (ascii.ends_with(' ')) ascii.pop_back();
  while (ascii.starts_with(' ')) ascii.erase(0, 1);
  const bool is_amount = parse_adorned(ascii, '.') || parse_adorned(ascii, ',');
  if (is_amount) check_encoding(path, cell.text);
}

}  // namespace

NumberForm number_form_of(std::span<const std::string> names, std::span<const ColumnFacts> columns,
                          std::optional<char> decimal, const std::string& path) {
  for (const ColumnFacts& column : columns) check_amount_encoding(path, column.first_no_number());
  const auto only_with_thousands = [&](char sign) {
    return std::ranges::any_of(columns, [sign](const ColumnFacts& column) {
      return column.all_written(sign) && !column.all_numbers(sign);
    });
  };
  if (decimal) return {*decimal, only_with_thousands(*decimal)};
  // The first column of numbers that needs the sign; names.size() if none does.
  const auto told_by = [&](char sign) {
    const auto found = std::ranges::find_if(columns, [sign](const ColumnFacts& column) {
      return column.all_written(sign) && column.tells(sign);
    });
    return static_cast<std::size_t>(found - columns.begin());
  };
  const std::size_t point = told_by('.'), comma = told_by(',');
  if (point < names.size() && comma < names.size()) {
    throw UserError(
        fmt::format("{}: column {} has decimal commas and column {} decimal points; write them "
                    "alike, or say which with --decimal \",\" or --decimal .",
                    path, names[comma], names[point]));
  }
  const char sign = comma < names.size() ? ',' : '.';
  for (std::size_t j = 0; j < names.size(); ++j) {
    const ColumnFacts& column = columns[j];
    const ColumnFacts::Cell& cell = column.first_of_two_meanings();
    const bool numbers = column.all_written('.') || column.all_written(',');
    const bool plain = sign == '.' && column.all_numbers('.');  // 1.234
    if (cell.line == 0 || !numbers || plain || column.tells(sign)) continue;
    throw UserError(
        fmt::format("{}, line {}, column {}: \"{}\" may have thousands separators or a decimal "
                    "sign, and nothing in the column tells which; say --decimal . or --decimal "
                    "\",\", or write it in another way",
                    path, cell.line, names[j], cell.text));
  }
  return {sign, only_with_thousands(sign)};
}

}  // namespace windhover
