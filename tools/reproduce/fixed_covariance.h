// Covariances given by a linear equation in themselves.
#ifndef WINDHOVER_TOOLS_REPRODUCE_FIXED_COVARIANCE_H_
#define WINDHOVER_TOOLS_REPRODUCE_FIXED_COVARIANCE_H_

#include <Eigen/Core>
#include <functional>
#include <optional>

namespace windhover::reproduce {

// Sigma = a + L(Sigma) as the sum of L^k(a), where `map` gives a + L(Sigma), a is positive definite
// and L takes covariances to covariances. Nothing when that sum does not converge, where `map`
// gives nothing, or when it is not found to 1e-9 of a.
std::optional<Eigen::MatrixXd> fixed_covariance(
    Eigen::Index dimension,
    const std::function<std::optional<Eigen::MatrixXd>(const Eigen::MatrixXd&)>& map);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_FIXED_COVARIANCE_H_
