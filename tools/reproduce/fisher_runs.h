// The samplers of `fisher-scoring` with their settings, chains of them, and HMC; and the pictures
// of Ahn, Korattikara and Welling 2012, Figures 1 and 2.
#ifndef WINDHOVER_TOOLS_REPRODUCE_FISHER_RUNS_H_
#define WINDHOVER_TOOLS_REPRODUCE_FISHER_RUNS_H_

#include "windhover/samplers/config.h"
#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/laws.h"
#include "windhover/tools/reproduce/problem.h"

namespace windhover::reproduce {

inline constexpr std::uint32_t kFisherMinibatch = 500;
inline constexpr std::uint64_t kFisherBurnIn = 3000;

// MNIST's digits 7 (target 0) and 9 (target 1), projected at random.
Problem load_sevens_and_nines(const Context& context);

struct FisherSetting {
  std::string method;  // names a curve
  std::string label;
  std::string mark;  // alpha or epsilon, beside a point of the plot; may be empty
  SamplerConfig sampler;
  std::size_t seeds;
};
std::vector<FisherSetting> fisher_settings(const Context& context, double n);

// The stationary law of a chain about the mode.
struct ChainLaw {
  std::optional<Eigen::MatrixXd> covariance;  // nothing: there is no law
  double relaxation = std::numeric_limits<double>::infinity();
  double autocorrelation_time = std::numeric_limits<double>::infinity();  // mean over parameters
};
// Exact where the gradient is linear. The sampler is told C averaged over the posterior, as chains
// measure it.
ChainLaw chain_law(const Problem& problem, const SamplerConfig& sampler, const Told& told,
                   const SpreadNoise& spread);

// Moments after a tenth ("early") and after all ("late") of the samples that follow the burn-in;
// for an engine also autocorrelation_time, the mean over parameters. SGLD is told nothing and needs
// no engine; with small steps it would take minutes to settle. Its chain therefore starts from a
// draw of its law, or from the mode where it has none.
nlohmann::ordered_json run_setting(const Problem& problem, const FisherSetting& setting,
                                   const ChainLaw& law, std::uint64_t samples, std::uint64_t seed);

// Whether `samples` are too few for an engine to measure the autocorrelation time. Below 100
// relaxations it reports no more effective draws than relaxations, and counts up to two of the
// law's as one.
inline bool too_slow_to_measure(const ChainLaw& law, std::uint64_t samples) {
  return static_cast<double>(samples) < 200 * law.relaxation;
}

// The library's HMC in the model's own coordinates, for `budget` gradients of all rows after its
// warm-up; the last trajectory is completed. Gives the draws' moments, their number, and effective
// draws, the mean over parameters.
nlohmann::ordered_json run_hmc(const Problem& problem, double path_length, double budget,
                               std::uint64_t seed);

// Figure 1: the marginals of two parameters where the draws are nearest to the truth and farthest
// from it.
void add_marginals(const std::string& label, const RunMoments& ours, const RunMoments& truth,
                   int colour, Report& report);

// Figure 2: errors of mean (E1) and covariance (E2), early and late, over the mixing rate. There is
// one curve per method; its points are added one by one. A curve of one point has a large open
// mark. A method without an error at a time is left out there.
class ErrorCurves {
 public:
  // `early` and `late` count gradients of single rows.
  ErrorCurves(double early, double late);

  // `errors`: E1 early and late, E2 early and late.
  // `mark`: the setting, written beside the point.
  void add(const std::string& method, const std::string& mark, int colour, double mixing,
           const std::array<Estimate, 4>& errors);
  void add_to(Report& report) const;

 private:
  std::array<Panel, 4> panels_;
};

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_FISHER_RUNS_H_
