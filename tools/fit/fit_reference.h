// Which posterior a fit is measured against.
#ifndef WINDHOVER_TOOLS_FIT_FIT_REFERENCE_H_
#define WINDHOVER_TOOLS_FIT_FIT_REFERENCE_H_

#include <optional>
#include <vector>

#include "windhover/tools/data/dataset.h"
#include "windhover/tools/fit/file_units.h"
#include "windhover/tools/fit/fit.h"
#include "windhover/tools/fit/reference.h"

namespace windhover {

// The noise variance that the options give; none: it is learned. `published`: the posterior of
// --reference.
std::optional<double> noise_variance_of(const FitOptions& options,
                                        const std::optional<ReferencePosterior>& published);

// The posterior to measure against, computed from the file: exact for linear and log-normal models,
// Laplace's for logistic and binomial ones; none for other models. `prior_precisions`: those
// learned for the features; empty: those of the options.
std::optional<ReferencePosterior> reference_of(const FitOptions& options, const Dataset& data,
                                               const FileUnits& units,
                                               std::optional<double> noise_variance,
                                               std::vector<double> prior_precisions);

// UserError unless a published posterior is of this file and this model.
void check_reference(const FitOptions& options, const Dataset& data, const FileUnits& units,
                     const ReferencePosterior& published);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_FIT_FIT_REFERENCE_H_
