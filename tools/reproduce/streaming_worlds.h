// Streams whose truth is known: rows of 9 features and an intercept, from a law that the model of
// the engine describes, or does not.
#ifndef WINDHOVER_TOOLS_REPRODUCE_STREAMING_WORLDS_H_
#define WINDHOVER_TOOLS_REPRODUCE_STREAMING_WORLDS_H_

#include <Eigen/Core>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

namespace windhover::reproduce {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr Eigen::Index kFeatures = 9;
constexpr Eigen::Index kParameters = kFeatures + 1;  // the intercept last
constexpr Eigen::Index kEffective = 1000;            // rows that every posterior is worth
constexpr Eigen::Index kMinibatch = 50;              // S of the horizons without a window
constexpr Eigen::Index kFrame = 50;                  // rows that come at a time
constexpr double kNinety = 1.645;                    // sds on either side that hold 90 %

// Rows of features N(0, Sigma), Sigma_ij = 0.5^|i - j|, and
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
  const char* model;  // of the engine
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

// Where the expected loss of a logistic model is least in kOmitted, and how many times the
// variance of each estimate is that of the model: diag(A^-1 C A^-1) over diag(A^-1). By Newton's
// method on 400,000 rows: a twentieth of the sd of a posterior of 1000 off.
struct PseudoTruth {
  Eigen::VectorXd theta;
  Eigen::VectorXd widened;
};
const PseudoTruth& pseudo_truth();

// Adds to result[key], which begins at 0.
void add_to(nlohmann::ordered_json& result, const std::string& key, double value);
// Of intervals of 1.645 sd, times `share`: adds the share of the parameters that they cover to
// result[name], and whether the exposed one is among them to result[name + "_exposed"].
void judge(nlohmann::ordered_json& result, const std::string& name, const Eigen::VectorXd& off,
           const Eigen::VectorXd& variance, Eigen::Index exposed, double share = 1);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_STREAMING_WORLDS_H_
