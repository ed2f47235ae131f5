// The rules of a schema for a column, from facts about its cells.
#ifndef WINDHOVER_TOOLS_DATA_INSPECT_COLUMN_H_
#define WINDHOVER_TOOLS_DATA_INSPECT_COLUMN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/tools/data/column_facts.h"
#include "windhover/tools/data/schema.h"

namespace windhover {

struct ColumnChoices {
  char decimal = '.';
  std::optional<Reads> dates;  // day or month first, where a date may be either
  bool category = false;       // the user says so
  bool spline = false;         // the user says so
  bool leave_out = false;
  bool skip_missing = false;
  std::uint32_t most_categories = 50;
};

// The result for a column; without rules it is left out.
struct ColumnPlan {
  std::vector<FeatureRule> rules;
  std::string reads_as;  // "number", "date", "left out", ...
  std::string note;
};

// UserError, beginning with `place`, when the column is nearly one of numbers or dates, or a date
// may be day or month first: then what to type.
ColumnPlan plan_column(const std::string& name, const ColumnFacts& facts,
                       const ColumnChoices& choices, const std::string& path);

// UserError for a column where most cells, but not all, are numbers with a currency or percent sign
// or thousands separators. `as_categories`: what to type to take them as categories.
void check_adorned(const std::string& name, const ColumnFacts& facts, char decimal,
                   const std::string& path, std::string_view as_categories);

// The same for a column where nearly all cells, but not all, are numbers. REQUIRES: check_adorned()
// passed.
void check_numbers(const std::string& name, const ColumnFacts& facts, char decimal,
                   const std::string& path, std::string_view as_categories);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_INSPECT_COLUMN_H_
