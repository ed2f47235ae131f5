// What the tests of stationary laws share: estimates at random, and the covariance that a law has
// under them.
#ifndef WINDHOVER_TESTS_SAMPLERS_LAWS_H_
#define WINDHOVER_TESTS_SAMPLERS_LAWS_H_

#include "windhover/tests/samplers/support.h"

namespace windhover {

OwnedEstimates random_estimates(std::uint64_t seed, Index d);

// The law's covariance with constant C, from the library's own solver.
Matrix stationary(const Law& law, const OwnedEstimates& e);

Matrix posterior_covariance(const OwnedEstimates& e);

// KL of the law's Gaussian from the posterior.
double kl_of(const Law& law, const OwnedEstimates& e);

// KL of the Ornstein-Uhlenbeck limit of a preconditioner, solved by Kronecker products.
Matrix continuous_covariance(const Matrix& h, const OwnedEstimates& e);

}  // namespace windhover

#endif  // WINDHOVER_TESTS_SAMPLERS_LAWS_H_
