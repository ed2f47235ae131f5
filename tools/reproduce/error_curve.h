// The test error of a classifier along a chain.
#ifndef WINDHOVER_TOOLS_REPRODUCE_ERROR_CURVE_H_
#define WINDHOVER_TOOLS_REPRODUCE_ERROR_CURVE_H_

#include <chrono>

#include "windhover/tools/reproduce/classifier.h"
#include "windhover/tools/reproduce/harness.h"
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

  std::string text() const;  // the settings of a part (context.h)
};

// Gradients of one row, and errors of averaged predictions (AveragedError) and of the iterates
// alone, look by look; the last are NaN if the chain diverged. And its seconds.
struct ErrorCurve {
  std::vector<double> examples;
  std::vector<double> error;
  std::vector<double> alone;
  double seconds = 0;

  ordered_json json() const;
};
ErrorCurve curve_from(const ordered_json& json);
// Of jobs that give the JSON of a curve each.
std::vector<ErrorCurve> run_curves(const Context& context, const std::vector<PartJob>& jobs,
                                   const Stage& stage = {});

// The mean of shares of errors among the same `rows` judged rows, one a seed. Its error: the spread
// of the seeds, where there are several, and what so many rows leave open, in quadrature.
Estimate share_of_errors(const std::vector<double>& shares, std::size_t rows);
// What a page says of it.
inline constexpr const char* kShareNote =
    "± of a test or validation error: the spread of the seeds, where there are several, and that "
    "of a share of so many rows, sqrt(s²/R + p (1 - p)/n). All methods are judged on the same "
    "rows, so that differences between them are more certain than that.";

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

// Runs of one method with different seeds, judged on `rows` rows: figures of where they end,
// `scale` times the errors, and their mean curve for a plot, with the errors of share_of_errors.
void add_ends(Report& report, const std::string& group, const std::string& label,
              const std::string& unit, double scale, std::size_t rows,
              const std::vector<ErrorCurve>& runs, std::optional<double> papers = {},
              const std::string& papers_source = {}, int papers_decimals = -1);
Series mean_curve(const std::string& label, int colour, double scale, std::size_t rows,
                  const std::vector<ErrorCurve>& runs);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_ERROR_CURVE_H_
