// The target of a file, from its cells and from what the user says.
#ifndef WINDHOVER_TOOLS_DATA_INSPECT_TARGET_H_
#define WINDHOVER_TOOLS_DATA_INSPECT_TARGET_H_

#include <string>

#include "windhover/tools/data/column_facts.h"
#include "windhover/tools/data/inspect.h"
#include "windhover/tools/data/target.h"

namespace windhover {

// Facts about the target from a pass over the file.
struct TargetFacts {
  const std::string& name;
  const ColumnFacts& column;
  const TargetTexts& texts;
};

// The kind of target; categories are filled in later. `hint` gets what else it may be, if anything.
// UserError, with what to type, when no model, or not the one asked for, takes such a target.
TargetRule target_rule(const TargetFacts& facts, const InspectOptions& options, char decimal,
                       const std::string& path, std::string& hint);

// What else a target taken as a number may be, judged by its numbers alone; may be empty. `many`:
// too many to be classes. `with_log_normal`: whether log-normal is worth trying.
std::string number_hint(const ColumnFacts& column, bool many, bool with_log_normal = true);
// Whether the numbers may be counts, judged by them alone.
bool may_be_counts(const ColumnFacts& column);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_INSPECT_TARGET_H_
