// What `windhover fit` says of each parameter.
#ifndef WINDHOVER_TOOLS_FIT_FIT_PARAMETERS_H_
#define WINDHOVER_TOOLS_FIT_FIT_PARAMETERS_H_

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "windhover/runtime/engine.h"
#include "windhover/samplers/registry.h"
#include "windhover/tools/client/category_effects.h"
#include "windhover/tools/data/dataset.h"

namespace windhover {

// Means of the retained draws. ParameterSummary::mean does not come from draws. These means do, as
// do expectations of a host's own functions, and the gain by control variates is the same.
struct DrawMeans {
  std::vector<double> plain;
  // Means with zero-variance control variates, from the gradients over all rows (ZeroVariance).
  // Empty for networks, with fewer than two draws for each parameter, and where the gradients'
  // covariance has no factor.
  std::vector<double> zero_variance;
};

// REQUIRES: `engine` has observed all rows of `data`, and its window holds them. Complexity O(draws
// x rows x columns) in all, and O(dimension^2 (draws + dimension)) for each parameter.
DrawMeans draw_means(Engine& engine, Reader& reader, const Dataset& data);

// An object for each parameter. `sds`: of each column, shown as column_sd; null for the intercept.
// Means that are empty are null. Softmax has the parameters of every class but the first, named by
// the class, or its number where it has no name.
nlohmann::ordered_json parameters_of(const Dataset& data, const std::vector<std::string>& classes,
                                     const std::vector<double>& sds, bool intercept,
                                     const ModelEntry& model,
                                     std::span<const ParameterSummary> summaries,
                                     const DrawMeans& means);

// The effects of categories in `groups`, each less its reference (category_effects.h), under a
// posterior with the names and means of `parameters`, which is what parameters_of() returns;
// `base`: the values of the other columns.
nlohmann::ordered_json category_effects_of(Engine& engine, Reader& reader,
                                           const std::vector<CategoryGroup>& groups,
                                           const std::vector<double>& base,
                                           const nlohmann::ordered_json& parameters);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_FIT_FIT_PARAMETERS_H_
