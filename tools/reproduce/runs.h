// Independent runs with different seeds: kept as JSON, pooled, their means with errors and bars,
// and the comparison of two samples of one posterior.
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

// A figure of all runs together, and the figures without one of the runs each (at least 2 runs).
struct Jackknife {
  double all = 0;
  std::vector<double> without;

  Estimate estimate() const;
  // The difference, where both come from runs of the same seeds.
  Estimate minus(const Jackknife& other) const;
};

// `value` of the pooled runs, with the jackknife's standard error over runs (at least 2).
Estimate jackknife(const std::vector<RunMoments>& runs,
                   const std::function<double(const RunMoments&)>& value);

// Mean and standard error of independent figures.
Estimate mean_of(const std::vector<double>& values);
// The mean over seeds. A single value has no error.
Estimate mean_over_seeds(const std::vector<double>& values);

nlohmann::ordered_json to_json(const Eigen::MatrixXd& matrix);
Eigen::MatrixXd matrix_from(const nlohmann::ordered_json& json);

// Calls `run(seed)` for `replications` seeds on all threads. Each is a part with these settings
// (context.h). Seeds count up from `seeds` times the context's.
std::vector<nlohmann::ordered_json> replicated(
    const Context& context, const std::string& key, const std::string& settings,
    std::size_t replications, const std::function<nlohmann::ordered_json(std::uint64_t seed)>& run,
    std::uint64_t seeds = 100'000);

// NaN for null, which stands for numbers that are not finite.
double number_from(const nlohmann::ordered_json& json);
std::vector<double> numbers_from(const nlohmann::ordered_json& json);

// A number of each run, or the entry `index` of a list; and the mean of these, NaN when one of them
// is null.
std::vector<double> values_of(const std::vector<nlohmann::ordered_json>& runs, const char* key,
                              std::optional<std::size_t> index = {});
Estimate mean_of(const std::vector<nlohmann::ordered_json>& runs, const char* key,
                 std::optional<std::size_t> index = {});

// `value` plus or minus `within` and three standard errors, rounded inwards to three decimals. Not
// decided where the standard error exceeds a third of `within`.
Bar around(double value, double within, const Estimate& simulated);
// `value` plus or minus `tolerance`, not widened by the standard error. Not decided where that
// exceeds a third of `tolerance`.
Bar within(double value, double tolerance, const Estimate& simulated);

struct Comparison {
  std::vector<Estimate> off;  // difference of the means of each parameter, in sd of the truth
  Estimate furthest;          // the largest of them, without its sign
  Estimate least_sd;          // the smallest and the largest sd over the truth's
  Estimate most_sd;
  // KL(ours || truth). It is never negative: chance alone makes `kl_by_chance` of it, with that
  // one's error.
  Estimate kl;
  Estimate kl_by_chance;
};

// Each side consists of independent parts of equal length, at least two, or of one part when it is
// exact. Errors are the jackknife's over parts.
Comparison compare(const std::vector<RunMoments>& ours, const std::vector<RunMoments>& truth);

// The mean of ours - theirs for results of the same seeds (at least 2), so that what they share
// cancels. The error is that of the differences over seeds.
Estimate paired_difference(const std::vector<double>& ours, const std::vector<double>& theirs);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_RUNS_H_
