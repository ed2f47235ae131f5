// Means and covariances of runs: kept as JSON, and pooled.
#ifndef WINDHOVER_TOOLS_REPRODUCE_MOMENTS_JSON_H_
#define WINDHOVER_TOOLS_REPRODUCE_MOMENTS_JSON_H_

#include <Eigen/Core>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "windhover/tools/fit/moments.h"
#include "windhover/tools/reproduce/estimate.h"

namespace windhover::reproduce {

struct RunMoments {
  double count = 0;
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
};

nlohmann::ordered_json to_json(const Moments& moments);
RunMoments moments_from(const nlohmann::ordered_json& json);
std::vector<RunMoments> moments_of_runs(const std::vector<nlohmann::ordered_json>& runs);

// Of all draws together.
RunMoments pooled(const std::vector<RunMoments>& runs);

// A figure of all runs together, and those without one run each (at least 2).
struct Jackknife {
  double all = 0;
  std::vector<double> without;

  Estimate estimate() const;
  // Where both are of runs of the same seeds.
  Estimate minus(const Jackknife& other) const;
};

// `value` of the pooled runs, with the jackknife's standard error over runs (at least 2).
Estimate jackknife(const std::vector<RunMoments>& runs,
                   const std::function<double(const RunMoments&)>& value);

// Mean and standard error of independent figures.
Estimate mean_of(const std::vector<double>& values);
// Of seeds: of a single one without an error.
Estimate mean_over_seeds(const std::vector<double>& values);

nlohmann::ordered_json to_json(const Eigen::MatrixXd& matrix);
Eigen::MatrixXd matrix_from(const nlohmann::ordered_json& json);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_MOMENTS_JSON_H_
