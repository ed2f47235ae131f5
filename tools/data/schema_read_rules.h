// One [[feature]] of a schema as TOML.
#ifndef WINDHOVER_TOOLS_DATA_SCHEMA_READ_RULES_H_
#define WINDHOVER_TOOLS_DATA_SCHEMA_READ_RULES_H_

#include <vector>

#include "windhover/tools/data/schema.h"
#include "windhover/tools/data/toml_keys.h"

namespace windhover {

// `before`: the rules above it, which an interaction may multiply. UserError says what is wrong.
FeatureRule read_rule(Keys keys, const std::vector<FeatureRule>& before);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_SCHEMA_READ_RULES_H_
