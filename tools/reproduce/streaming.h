// Streams whose truth is known, the ways to serve a posterior of them, and their figures.
#ifndef WINDHOVER_TOOLS_REPRODUCE_STREAMING_H_
#define WINDHOVER_TOOLS_REPRODUCE_STREAMING_H_

#include "windhover/runtime/config.h"
#include "windhover/tools/reproduce/harness.h"

namespace windhover::reproduce {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr Eigen::Index kFeatures = 9;
constexpr Eigen::Index kParameters = kFeatures + 1;  // the intercept last
constexpr Eigen::Index kEffective = 1000;            // rows that every posterior is worth
constexpr Eigen::Index kMinibatch = 50;              // S of the horizons without a window
constexpr Eigen::Index kFrame = 50;                  // rows that come at a time
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
  bool holds;         // the model
};
std::span<const WorldFacts> stationary_worlds();

// The parameter whose estimate is widened most by what the model leaves out.
Eigen::Index exposed_parameter(World world);

struct Stream {
  RowMatrix x;
  Eigen::VectorXd y;
  Eigen::VectorXd truth;  // when the last row came; of a model that fails where its loss is least
};
Stream make_stream(World world, Eigen::Index rows, std::uint64_t seed);

// A of a linear world: the expectation of x x^T, with the intercept's 1.
Eigen::MatrixXd curvature_of_row();

// The parameters at which the expected loss of a logistic model is least in kOmitted, and how many
// times the model's variance that of each estimate is: diag(A^-1 C A^-1) over diag(A^-1). By
// Newton's method on 400,000 rows: a twentieth of the sd of a posterior of 1000 off.
struct PseudoTruth {
  Eigen::VectorXd theta;
  Eigen::VectorXd widened;
};
const PseudoTruth& pseudo_truth();

// Adds to result[key], which begins at 0.
void add_to(nlohmann::ordered_json& result, const std::string& key, double value);
// Judges intervals of 1.645 sd, times `share`: adds the share of the parameters that they cover to
// result[name], and whether the exposed one is among them to result[name + "_exposed"].
void judge(nlohmann::ordered_json& result, const std::string& name, const Eigen::VectorXd& off,
           const Eigen::VectorXd& variance, Eigen::Index exposed, double share = 1);

struct Regime {
  const char* name;
  const char* sampler;  // for Horizon::kWindow
  Horizon horizon;
  SinglePassNoise noise;
  ForgettingSpread spread;
  double draws_per_observation;
  // The draws claim to cover where the model does not hold, too.
  bool robust;
};
std::span<const Regime> regimes();  // for a truth that stays

// `fading` with that spread, for a truth that wanders.
Regime wandering_regime(ForgettingSpread spread);

// Posteriors of one stream that are looked at: windows without a row in common, or one where rows
// are seen once.
std::size_t looks_of(const Regime& regime);

// One stream through an engine worth kEffective rows. "plain", "robust" and "draws": intervals by
// the posterior's sd, by sd_robust and by the sd of the 64 retained draws (judge()). "spread"
// and "centre": the draws' variance about the served mean and the squared error of that, each over
// sd^2, mean over the parameters.
nlohmann::ordered_json replicate(const Regime& regime, World world, Eigen::Index exposed,
                                 std::uint64_t seed);

// kLinear through a window, by `calibrated` with kLagChains chains. "served": the squared distance
// of the served mean from the mean of the rows in the window, and "chains": that of the chains'
// average from the served mean; over sd^2, mean over the parameters.
constexpr std::uint32_t kLagChains = 32;
nlohmann::ordered_json lag_of_engine(double draws_per_observation, std::uint64_t seed);

// "chains" in theory: when the estimates follow the rows of a frame, chains are transported as far
// as they have not gone by themselves, and so nothing is left but that K draws have an average.
constexpr double kLagWhenCarried = 1.0 / kLagChains;

// Chains of H* on a window that moves, which nothing transports: K = 32, S = 20, A = C = I.
// "chains" as above. In theory tau (1 - exp(-1 / tau)) + 1 / K, tau = 1 / (2 R).
nlohmann::ordered_json lag_of_followers(std::size_t draws_per_observation, std::uint64_t seed);
double lag_when_following(double draws_per_observation);

// Random weights for each chain on shared fresh rows, simulated where the engine's are {0, 2}:
// recursive steps with the exact A of a linear world, a draw a chain.
enum class RowWeightLaw { kPoisson, kExponential };
nlohmann::ordered_json weighted(RowWeightLaw law, World world, Eigen::Index exposed,
                                std::uint64_t seed);

struct Shortcut {
  const char* name;
  const char* fails;  // what to look for
  // The share covered in theory, and the draws' variance over what it should be where that is
  // known.
  double covers;
  std::optional<double> spread;
  // "covers" and "spread" of one stream.
  nlohmann::ordered_json (*run)(std::uint64_t seed);
};
// They run on rows N(truth, I) in 5 dimensions, where A = C = I and theta <- theta - h (theta -
// mean of the minibatch) is the whole chain; N = 1000, S = 20.
std::span<const Shortcut> shortcuts();

// Share that mean +- 1.645 sd cover, of a variance that is known and `ratio` times that of the
// mean.
double coverage_of_draws(double ratio);
// Share that mean +- 1.645 sd of 32 draws cover, whose variance is `ratio` times that of the centre
// they stand about: Student's t of 31 degrees.
double coverage_of_32_draws(double ratio);

constexpr double kNominal = 0.9;

// A dashed line over all columns of a panel.
void add_level(Panel& panel, const char* label, double level, int colour);

// Every regime in a world; `begin` to `end` of the progress.
void add_world(const Context& context, const WorldFacts& world, double begin, double end,
               Report& report);
// A truth that wanders by as much as the gain of `fading` is right for, and one that stays.
void add_wandering(const Context& context, Report& report);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_STREAMING_H_
