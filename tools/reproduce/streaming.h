// Streams with a known truth, the ways to serve a posterior of them, and their figures.
#ifndef WINDHOVER_TOOLS_REPRODUCE_STREAMING_H_
#define WINDHOVER_TOOLS_REPRODUCE_STREAMING_H_

#include "windhover/runtime/config.h"
#include "windhover/tools/reproduce/harness.h"

namespace windhover::reproduce {

constexpr Eigen::Index kFeatures = 9;
constexpr Eigen::Index kParameters = kFeatures + 1;  // the intercept last
constexpr Eigen::Index kEffective = 1000;            // rows that every posterior counts
constexpr Eigen::Index kMinibatch = 50;              // S of the horizons without a window
constexpr Eigen::Index kFrame = 50;                  // rows of a frame
constexpr double kNinety = 1.645;                    // sds on either side that hold 90 %

// Rows of 9 features and an intercept: features N(0, Sigma), Sigma_ij = 0.5^|i - j|, and
//   kLinear          y = x theta + N(0, 1), theta ~ N(0, I);
//   kHeteroscedastic the same with noise of variance 0.25 + 0.75 x_2^2;
//   kLogistic        P(y = 1) logistic in x theta, theta_j = 0.4 (-1)^j, intercept -0.5;
//   kOmitted         the same with x_2^2 - 2.5 + x_4 x_5 added, which the model leaves out;
//   kWandering       linear, theta a random walk of covariance q A^-1 a row, A^-1 that of one row's
//                    estimate, q = g^2: there the gain g = 2 / (N + S) of `fading` is Kalman's.
enum class World { kLinear, kHeteroscedastic, kLogistic, kOmitted, kWandering };

struct WorldFacts {
  World world;
  const char* name;
  const char* model;  // the engine's
  bool holds;         // the model is right in this world
};
std::span<const WorldFacts> stationary_worlds();

// The parameter whose estimate the missing term widens most.
Eigen::Index exposed_parameter(World world);

struct Stream {
  RowMatrix x;
  Eigen::VectorXd y;
  Eigen::VectorXd truth;  // at the last row; for a wrong model where its loss is least
};
Stream make_stream(World world, Eigen::Index rows, std::uint64_t seed);

// A of a linear world: the expectation of x x^T, the intercept's 1 included.
Eigen::MatrixXd curvature_of_row();

// The parameters at which the expected loss of a logistic model is least in kOmitted, and the
// factors by which the variances of its estimates exceed the model's: diag(A^-1 C A^-1) over
// diag(A^-1). By Newton's method on 400,000 rows, which leaves an error of a twentieth of the sd of
// a posterior of 1000 rows.
struct PseudoTruth {
  Eigen::VectorXd theta;
  Eigen::VectorXd widened;
};
const PseudoTruth& pseudo_truth();

// Adds `value` to result[key], which begins at 0.
void add_to(nlohmann::ordered_json& result, const std::string& key, double value);
// Judges intervals of 1.645 sd: adds `share` times the share of the parameters that they cover to
// result[name], and `share` to result[name + "_exposed"] if the exposed one is covered.
void judge(nlohmann::ordered_json& result, const std::string& name, const Eigen::VectorXd& off,
           const Eigen::VectorXd& variance, Eigen::Index exposed, double share = 1);

struct Regime {
  const char* name;
  const char* sampler;  // for Horizon::kWindow
  Horizon horizon;
  SinglePassNoise noise;
  ForgettingSpread spread;
  double draws_per_observation;
  // The draws claim coverage where the model does not hold, too.
  bool robust;
};
std::span<const Regime> regimes();  // for a truth that stays

// `fading` with that spread, for a truth that wanders.
Regime wandering_regime(ForgettingSpread spread);

// Posteriors judged per stream: several windows without a common row, or one where rows are seen
// once.
std::size_t looks_of(const Regime& regime);

// One stream through an engine worth kEffective rows. "plain", "robust" and "draws": intervals by
// the posterior's sd, by sd_robust and by the sd of the 64 retained draws (judge()). "spread"
// and "centre": the draws' variance about the served mean and the squared error of that, each over
// sd^2, mean over the parameters.
nlohmann::ordered_json replicate(const Regime& regime, World world, Eigen::Index exposed,
                                 std::uint64_t seed);

// kLinear through a window by `calibrated` with kLagChains chains. "served" is the squared distance
// of the served mean from the mean of the rows in the window, and "chains" that of the chains'
// average from the served mean; both over sd^2, averaged over parameters.
constexpr std::uint32_t kLagChains = 32;
nlohmann::ordered_json lag_of_engine(double draws_per_observation, std::uint64_t seed);

// "chains" in theory: when the estimates take in a frame's rows, chains are transported by what
// they have not moved themselves. Only the error of an average of K draws remains.
constexpr double kLagWhenCarried = 1.0 / kLagChains;

// Chains of H* on a moving window without transport: K = 32, S = 20, A = C = I. "chains" as above;
// in theory tau (1 - exp(-1 / tau)) + 1 / K, tau = 1 / (2 R).
nlohmann::ordered_json lag_of_followers(std::size_t draws_per_observation, std::uint64_t seed);
double lag_when_following(double draws_per_observation);

// Random weights for each chain on shared fresh rows, by other laws than the engine's {0, 2}. A
// simulation: recursive steps with the exact A of a linear world, a draw per chain.
enum class RowWeightLaw { kPoisson, kExponential };
nlohmann::ordered_json weighted(RowWeightLaw law, World world, Eigen::Index exposed,
                                std::uint64_t seed);

struct Shortcut {
  const char* name;
  const char* fails;  // how it fails
  // The coverage in theory, and, where it is known, the draws' variance over the right one.
  double covers;
  std::optional<double> spread;
  // Gives "covers" and "spread" of one stream.
  nlohmann::ordered_json (*run)(std::uint64_t seed);
};
// They run on rows N(truth, I) in 5 dimensions, where A = C = I and a chain is theta <- theta - h
// (theta - mean of the minibatch); N = 1000, S = 20.
std::span<const Shortcut> shortcuts();

// The coverage of mean +- 1.645 sd for a known variance that is `ratio` times that of the mean.
double coverage_of_draws(double ratio);
// The coverage of mean +- 1.645 sd of 32 draws whose variance is `ratio` times that of their
// centre: Student's t of 31 degrees.
double coverage_of_32_draws(double ratio);

constexpr double kNominal = 0.9;

// A dashed line over all columns of a panel.
void add_level(Panel& panel, const char* label, double level, int colour);

// Every regime in a world. Progress runs from `begin` to `end`.
void add_world(const Context& context, const WorldFacts& world, double begin, double end,
               Report& report);
// A truth that wanders as the gain of `fading` assumes, and one that stays.
void add_wandering(const Context& context, Report& report);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_STREAMING_H_
