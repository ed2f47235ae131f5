// The test error of a classifier along a chain.
#ifndef WINDHOVER_TOOLS_REPRODUCE_ERROR_CURVE_H_
#define WINDHOVER_TOOLS_REPRODUCE_ERROR_CURVE_H_

#include <chrono>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "windhover/tools/reproduce/classifier.h"
#include "windhover/tools/reproduce/plot.h"
#include "windhover/tools/reproduce/report.h"
#include "windhover/tools/reproduce/told_chain.h"

namespace windhover::reproduce {

// What is trained, on what, and how long.
struct Training {
  ModelConfig model;
  double prior_precision = 1;  // of every parameter
  SamplerConfig sampler;
  Measured measured = Measured::kNothing;
  std::uint64_t first_rows = 0;  // of the first estimates, and steps between later ones
  std::uint64_t refresh_every = 100;
  std::uint64_t steps = 1000;
  std::uint64_t looks = 20;  // at the error, steps / looks apart
};

// Gradients of one row, and errors of averaged predictions (AveragedError) and of the iterates
// alone, look by look; the last are NaN if the chain diverged. And its seconds.
struct ErrorCurve {
  std::vector<double> examples;
  std::vector<double> error;
  std::vector<double> alone;
  double seconds = 0;

  nlohmann::ordered_json json() const;
};
ErrorCurve curve_from(const nlohmann::ordered_json& json);

// The standard error of a share of errors among so many judged rows: that of a single run.
inline double share_mcse(double share, std::size_t rows) {
  return std::sqrt(share * (1 - share) / static_cast<double>(rows));
}

// Of anything with step(), theta() and examples() as ToldChain has them. `visit` is called at every
// look with the share done.
template <class Chain>
ErrorCurve follow(Chain& chain, Classifier& classifier, std::uint64_t steps, std::uint64_t looks,
                  const std::function<void(double)>& visit = {}) {
  const auto start = std::chrono::steady_clock::now();
  AveragedError averaged(classifier);
  ErrorCurve curve;
  for (std::uint64_t s = 1; s <= steps; ++s) {
    const bool sound = chain.step();
    if (sound && s % (steps / looks) != 0) continue;
    if (sound) averaged.look(chain.theta());
    curve.examples.push_back(static_cast<double>(chain.examples()));
    curve.error.push_back(sound ? averaged.error() : NAN);
    curve.alone.push_back(sound ? averaged.error_alone() : NAN);
    if (visit) visit(static_cast<double>(s) / static_cast<double>(steps));
    if (!sound) break;
  }
  curve.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return curve;
}

ErrorCurve error_curve(const Training& training, const Dataset& rows, const Dataset& judged,
                       std::uint64_t seed);

// Runs of one method with different seeds: figures of where they end, `scale` times the errors, and
// their mean curve for a plot. The Monte Carlo error is that over seeds.
void add_ends(Report& report, const std::string& group, const std::string& label,
              const std::string& unit, double scale, const std::vector<ErrorCurve>& runs,
              std::optional<double> papers = {}, const std::string& papers_source = {});
Series mean_curve(const std::string& label, int colour, double scale,
                  const std::vector<ErrorCurve>& runs);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_ERROR_CURVE_H_
