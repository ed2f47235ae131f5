// Independent runs of one thing: kept as JSON, pooled, their means with errors, what such a mean is
// held to, and two samples of one posterior beside each other.
#ifndef WINDHOVER_TOOLS_REPRODUCE_RUNS_H_
#define WINDHOVER_TOOLS_REPRODUCE_RUNS_H_

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "windhover/tools/fit/moments.h"
#include "windhover/tools/reproduce/context.h"
#include "windhover/tools/reproduce/plot.h"
#include "windhover/tools/reproduce/report.h"

namespace windhover::reproduce {

struct RunMoments {
  double count = 0;
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
};

nlohmann::ordered_json to_json(const Moments& moments);
RunMoments moments_from(const nlohmann::ordered_json& json);
std::vector<RunMoments> moments_of_runs(const std::vector<nlohmann::ordered_json>& runs);

// Moments of all draws together.
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
// The mean over seeds; that of a single one has no error.
Estimate mean_over_seeds(const std::vector<double>& values);

nlohmann::ordered_json to_json(const Eigen::MatrixXd& matrix);
Eigen::MatrixXd matrix_from(const nlohmann::ordered_json& json);

// `run(seed)` that many times, on all threads and in parts of these settings (context.h). Seeds are
// those from `seeds` times the context's on.
std::vector<nlohmann::ordered_json> replicated(
    const Context& context, const std::string& key, const std::string& settings,
    std::size_t replications, const std::function<nlohmann::ordered_json(std::uint64_t seed)>& run,
    std::uint64_t seeds = 100'000);

// Null, as which what is not finite is kept, is NaN.
double number_from(const nlohmann::ordered_json& json);
std::vector<double> numbers_from(const nlohmann::ordered_json& json);

// A number of each run, or one of a list of numbers; and their mean, NaN when one of them is null.
std::vector<double> values_of(const std::vector<nlohmann::ordered_json>& runs, const char* key,
                              std::optional<std::size_t> index = {});
Estimate mean_of(const std::vector<nlohmann::ordered_json>& runs, const char* key,
                 std::optional<std::size_t> index = {});

// `value`, give or take `within` and three standard errors; in round numbers. Not decided where the
// standard error exceeds a third of `within`.
Bar around(double value, double within, const Estimate& simulated);
// The same, however large the run's own error is.
Bar within(double value, double tolerance, const Estimate& simulated);

struct Comparison {
  std::vector<Estimate> off;  // difference of the means of each parameter, in sd of the truth
  Estimate furthest;          // that of the parameter where it is largest, without its sign
  Estimate least_sd;          // over the truth's, the smallest and the largest of all parameters
  Estimate most_sd;
  // KL(ours || truth). It is never negative: chance alone makes `kl_by_chance` of it, give or take
  // that one's error.
  Estimate kl;
  Estimate kl_by_chance;
};

// Either side in independent parts of equal length, at least two, or in one when it is exact.
// Errors by the jackknife over parts.
Comparison compare(const std::vector<RunMoments>& ours, const std::vector<RunMoments>& truth);

// Mean of ours less theirs where the same seeds gave both, so that what they share cancels: the
// error is that of the differences, over seeds (at least 2).
Estimate paired_difference(const std::vector<double>& ours, const std::vector<double>& theirs);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_RUNS_H_
