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

// The variance of the noise that the options give; nothing: it is learned. `published`: the
// posterior of --reference.
std::optional<double> noise_variance_of(const FitOptions& options,
                                        const std::optional<ReferencePosterior>& published);

// The posterior to measure against; nothing when it has no closed form and none was given. Under a
// learned prior it takes the precisions of the features.
std::optional<ReferencePosterior> reference_of(const FitOptions& options, const Dataset& data,
                                               const FileUnits& units,
                                               std::optional<double> noise_variance,
                                               std::vector<double> prior_precisions);

// A published posterior must be of this file and this model: UserError otherwise.
void check_reference(const FitOptions& options, const Dataset& data, const FileUnits& units,
                     const ReferencePosterior& published);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_FIT_FIT_REFERENCE_H_
