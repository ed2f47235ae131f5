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

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_INSPECT_TARGET_H_
