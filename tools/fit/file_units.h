#ifndef WINDHOVER_TOOLS_FIT_FILE_UNITS_H_
#define WINDHOVER_TOOLS_FIT_FILE_UNITS_H_

#include <vector>

#include "windhover/samplers/models/model.h"
#include "windhover/tools/data/dataset.h"
#include "windhover/tools/fit/fit.h"

namespace windhover {

// How features and y of a whole file enter. Features that are 0 or 1 by what a category is stay so
// where numbers are standardised; a constant one cannot be scaled.
struct FileUnits {
  std::vector<double> shift;
  std::vector<double> scale;
  bool of_features = false;
  TargetTransform target = {};
};

// What is asked for, by the rules of the schema, or what belongs to the prior: as an engine's cold
// start, of the whole file. UserError where y cannot be one of the model's.
FileUnits file_units(const FitOptions& options, const Schema& schema, const Dataset& data);

// Standard deviations of the columns over the whole file, 1 of one that stands for a category or
// does not vary, and of a product those of its numbers: in which effects can be set beside each
// other.
std::vector<double> column_sds(const Schema& schema, const Dataset& data);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_FIT_FILE_UNITS_H_
