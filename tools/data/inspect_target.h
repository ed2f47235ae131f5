// What the target of a file is, by its cells and by what the user says of it.
#ifndef WINDHOVER_TOOLS_DATA_INSPECT_TARGET_H_
#define WINDHOVER_TOOLS_DATA_INSPECT_TARGET_H_

#include <string>

#include "windhover/tools/data/column_facts.h"
#include "windhover/tools/data/inspect.h"
#include "windhover/tools/data/target.h"

namespace windhover {

// What a pass over the file has found of its target.
struct TargetFacts {
  const std::string& name;
  const ColumnFacts& column;
  const TargetTexts& texts;
};

// The kind; the categories are filled in later. `hint` becomes what else it may be, where something
// is. UserError where no model, or not the one asked for, takes such a target: then what to type.
TargetRule target_rule(const TargetFacts& facts, const InspectOptions& options, char decimal,
                       const std::string& path, std::string& hint);

// What else numbers may be that were taken for a number as such, where something is: by the looks
// of them alone. `many`: too many to be classes. `with_log_normal`: whether that is worth trying.
std::string number_hint(const ColumnFacts& column, bool many, bool with_log_normal = true);
// Whether numbers may be counts, by the same.
bool may_be_counts(const ColumnFacts& column);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_INSPECT_TARGET_H_
