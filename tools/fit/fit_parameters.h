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

// Means of the retained draws. `mean` of a summary does not come from draws; these do, and so do
// expectations of a host's own functions, which gain as much by the same means.
struct DrawMeans {
  std::vector<double> plain;
  // Means with zero-variance control variates, from the gradients over all rows (ZeroVariance).
  // Empty with fewer than two draws a parameter, too few to tell the gradients' covariance.
  std::vector<double> zero_variance;
};

// `engine` has observed all rows of `data`, and its window holds them. Complexity O(draws x rows x
// columns + dimension^2 (draws + dimension)) for each parameter.
DrawMeans draw_means(Engine& engine, Reader& reader, const Dataset& data);

// `sds`: of each column, told as column_sd, which an intercept has none of. Empty means are null.
// Softmax: parameters of every class but the first, by its name where there are names, else by its
// number.
nlohmann::ordered_json parameters_of(const Dataset& data, const std::vector<std::string>& classes,
                                     const std::vector<double>& sds, bool intercept,
                                     const ModelEntry& model,
                                     std::span<const ParameterSummary> summaries,
                                     const DrawMeans& means);

// `data`'s columns in groups of categories, each less its reference, as category_effects.h says, of
// a posterior with the names and summaries of parameters_of(); `base`: what the other columns are.
nlohmann::ordered_json category_effects_of(Engine& engine, Reader& reader,
                                           const std::vector<CategoryGroup>& groups,
                                           const std::vector<double>& base,
                                           const nlohmann::ordered_json& parameters);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_FIT_FIT_PARAMETERS_H_
