// The methods that `stationary-kl` compares, and its data sets in two scalings, each with the exact
// laws; its figures and its panel.
#ifndef WINDHOVER_TOOLS_REPRODUCE_KL_CASES_H_
#define WINDHOVER_TOOLS_REPRODUCE_KL_CASES_H_

#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/laws.h"

namespace windhover::reproduce {

inline constexpr std::uint32_t kKlChains = 2;  // of an engine
inline constexpr std::array kSets = {"wine", "protein", "skin"};

enum class Rate { kOwn, kPapersStep, kEquation15 };

struct KlMethod {
  const char* label;
  const char* sampler;
  Rate rate = Rate::kOwn;
  std::array<double, 3> papers;  // Wine, Protein, Skin
};

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

inline constexpr std::array kKlMethods = {
    KlMethod{"SGD", "sgd", Rate::kOwn, {18.7, 1000.9, 0.471}},
    KlMethod{"SGD-d", "sgd-d", Rate::kOwn, {14.0, 678.4, 0.921}},
    KlMethod{"SGD-f", "sgd-f", Rate::kOwn, {0.7, 1.8, 0.005}},
    KlMethod{"SGLD", "sgld", Rate::kOwn, {kNone, kNone, kNone}},
    KlMethod{"SGLD, paper's step", "sgld", Rate::kPapersStep, {2.9, 4.5, 0.905}},
    KlMethod{"SGFS-d, α = 0", "sgfs-d", Rate::kOwn, {kNone, kNone, kNone}},
    KlMethod{"SGFS-f, α = 0", "sgfs-f", Rate::kOwn, {kNone, kNone, kNone}},
    KlMethod{"SGFS-d, eq. 15", "sgfs-d", Rate::kEquation15, {12.8, 597.4, 0.864}},
    KlMethod{"SGFS-f, eq. 15", "sgfs-f", Rate::kEquation15, {0.8, 1.3, 0.005}},
    KlMethod{"default", "calibrated", Rate::kOwn, {kNone, kNone, kNone}},
};
constexpr std::size_t kSgd = 0;
constexpr std::size_t kSgdD = 1;
constexpr std::size_t kSgdF = 2;
constexpr std::size_t kSgfsF = 6;
constexpr std::size_t kDefault = kKlMethods.size() - 1;
constexpr bool is_main(std::size_t method) {
  return method == kDefault || method == kSgdF || method == kSgfsF;
}
constexpr std::array<double, 3> kPapersBbvi = {44.7, 478.1, 5.74};
constexpr std::array<double, 3> kPapersSteps = {1e-3, 1e-6, 1e-5};
// Bars of the default, by set: standardised, unit maximum.
constexpr std::array<std::array<double, 2>, 3> kBars = {
    {{0.001, 0.001}, {0.002, 0.04}, {0.003, 0.0025}}};
constexpr std::array<int, 3> kPapersFeatures = {11, 8, 3};

// A data set in one scaling.
struct KlCase {
  KlCase(const Context& context, std::size_t set_in, Scaling scaling_in);

  std::string name() const { return fmt::format("{}, {}", problem.name, to_string(scaling)); }
  std::size_t scale() const { return scaling == Scaling::kStandardized ? 0 : 1; }
  bool linear() const { return problem.model.name == "linear"; }
  double bar() const { return kBars[set][scale()]; }
  std::string key() const { return fmt::format("{}-{}", kSets[set], scale() == 0 ? "z" : "m"); }
  SamplerConfig config(std::size_t method) const;
  // KL divergence from the posterior.
  double kl(const VectorXd& mean, const MatrixXd& covariance) const;

  std::size_t set;
  Scaling scaling;
  Problem problem;
  Told at_mode;
  SpreadNoise spread;
};

// KL of the stationary law, exactly and in the Ornstein-Uhlenbeck limit.
struct ExactKl {
  double kl = std::numeric_limits<double>::infinity();
  double continuous = std::numeric_limits<double>::infinity();
  double relaxation = std::numeric_limits<double>::infinity();
};
ExactKl exact_kl(const KlCase& c, std::size_t method);

// The results of one method in one case: KL from the posterior in nats.
struct KlLine {
  std::string label;
  double papers = std::numeric_limits<double>::quiet_NaN();
  std::optional<double> exact = {};  // NaN or infinite: there is no law
  std::optional<Estimate> simulated = {};
  std::uint64_t steps = 0;              // of the simulation, all runs together
  std::optional<Estimate> chance = {};  // the part of the simulated KL that chance alone makes
  int papers_decimals = -1;             // as in Figure
  std::optional<Bar> bar = {};          // for both the exact and the simulated KL
};

// Without `linear` the exact law is that for Laplace's Gaussian. A value below the panel's floor is
// drawn at the floor with a mark of its own.
void add_kl_figures(const std::string& group, bool linear, const std::vector<KlLine>& lines,
                    Report& report);

// Explains the figures of a simulation by `runs` runs with `chains` chains in all.
void add_kl_notes(std::size_t runs, std::size_t chains, Report& report);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_KL_CASES_H_
