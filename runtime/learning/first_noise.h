// The noise of a normal y while few rows are known.
#ifndef WINDHOVER_RUNTIME_LEARNING_FIRST_NOISE_H_
#define WINDHOVER_RUNTIME_LEARNING_FIRST_NOISE_H_

#include "windhover/runtime/learning/estimator.h"
#include "windhover/runtime/posterior/noise_mixture.h"

namespace windhover {

// Fewer degrees have no variance.
inline constexpr double kFewestDegrees = 3;

// Student's t of this scale and `degrees` >= kFewestDegrees as normals of four variances,
// `variance` times degrees over a chi-square of so many degrees, whose quantiles are Wilson and
// Hilferty's (1931); and one row in two thousand that lies far off, some of these by the targets'
// variance where that is larger.
NoiseMixture first_noise(double variance, double degrees, double of_targets) noexcept;

// A learned noise variance stands on as many rows as there are beyond the parameters that they
// determine, n - sum_j (1 - Lambda_j P_jj): so many degrees of freedom (Gelman et al. 2013, 14.2;
// MacKay 1992 for the parameters that count). The next row of a smooth or sorted file lies further
// off than a handful of rows that were explained nearly perfectly let one think. No components
// where y is not normal or its variance is given; nor of a log-normal y, whose mean and CRPS a few
// rows far off would decide. O(D).
NoiseMixture first_noise(const Model& model, const Estimator& estimator) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_FIRST_NOISE_H_
