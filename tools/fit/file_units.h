#ifndef WINDHOVER_TOOLS_FIT_FILE_UNITS_H_
#define WINDHOVER_TOOLS_FIT_FILE_UNITS_H_

#include <vector>

#include "windhover/samplers/models/model.h"
#include "windhover/tools/data/dataset.h"
#include "windhover/tools/fit/fit.h"

namespace windhover {

// How features and y of a whole file are standardised. Features of categories, 0 or 1, stay as they
// are under --standardize; a constant feature keeps its scale.
struct FileUnits {
  std::vector<double> shift;
  std::vector<double> scale;
  bool of_features = false;
  TargetTransform target = {};
};

// Units by the rules of the schema where options.standardize asks for them, otherwise those that
// belong to the prior: an engine's cold start, made on the whole file. UserError where a target of
// log-normal is not above 0.
FileUnits file_units(const FitOptions& options, const Schema& schema, const Dataset& data);

// Standard deviations of the columns over the whole file, in which effects can be compared: 1 for a
// category and for a column that does not vary, for a product those of its numbers.
std::vector<double> column_sds(const Schema& schema, const Dataset& data);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_FIT_FILE_UNITS_H_
