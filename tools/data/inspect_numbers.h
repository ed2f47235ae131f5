// The form of the numbers of a file, from its cells.
#ifndef WINDHOVER_TOOLS_DATA_INSPECT_NUMBERS_H_
#define WINDHOVER_TOOLS_DATA_INSPECT_NUMBERS_H_

#include <optional>
#include <span>
#include <string>

#include "windhover/tools/data/inspect_column.h"

namespace windhover {

// One form for the whole file. Thousands separators are allowed if some column consists of numbers
// only with them. The decimal sign is `decimal`, or the only one that fits some cell of a column of
// numbers. `columns` are facts without thousands separators. UserError, with what to type, when
// columns need different signs, or when a cell has two meanings and its column does not decide.
NumberForm number_form_of(std::span<const std::string> names, std::span<const ColumnFacts> columns,
                          std::optional<char> decimal, const std::string& path);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_INSPECT_NUMBERS_H_
