// How the numbers of a file are written, found out from its cells.
#ifndef WINDHOVER_TOOLS_DATA_INSPECT_NUMBERS_H_
#define WINDHOVER_TOOLS_DATA_INSPECT_NUMBERS_H_

#include <optional>
#include <span>
#include <string>

#include "windhover/tools/data/inspect_column.h"

namespace windhover {

// One form for the whole file. Thousands where a column is numbers only so; the decimal sign that
// some cell of a column of numbers can have alone, unless `decimal` says it. The columns' facts are
// those of no thousands. UserError, and what to type: columns tell different signs, or a cell has
// two meanings and none of its column tells which.
NumberForm number_form_of(std::span<const std::string> names, std::span<const ColumnFacts> columns,
                          std::optional<char> decimal, const std::string& path);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_INSPECT_NUMBERS_H_
