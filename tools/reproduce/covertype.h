// Covertype as the full file of UCI has it, or folded.
#ifndef WINDHOVER_TOOLS_REPRODUCE_COVERTYPE_H_
#define WINDHOVER_TOOLS_REPRODUCE_COVERTYPE_H_

#include <string>

#include "windhover/tools/data/dataset.h"

namespace windhover::reproduce {

// 54 features: ten numbers standardised, then 4 wilderness areas and 40 soil types, one of each 1.
// Targets 0 to 6. `path` is UCI's covtype.data (no header, 54 columns and the cover type), or a
// file with a header whose last three columns are Wilderness_Area, Soil_Type and Cover_Type as
// numbers from 1. UserError naming the row where a category is none.
Dataset load_covertype(const std::string& path);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_COVERTYPE_H_
