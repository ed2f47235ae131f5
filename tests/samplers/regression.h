// A linear regression with known answers: the posterior, and the exact stationary law of any
// constant-rate sampler on it.
#ifndef WINDHOVER_TESTS_SAMPLERS_REGRESSION_H_
#define WINDHOVER_TESTS_SAMPLERS_REGRESSION_H_

#include <functional>
#include <string_view>
#include <vector>

#include "windhover/tests/samplers/support.h"

namespace windhover {

struct RegressionShape {
  Index features = 3;  // and an intercept
  Index rows = 2000;
  std::size_t minibatch_size = 50;
};

// Rows with correlated features (AR(1), 0.5) and a spread that grows with the first one, fitted by
// a model of constant and known variance: C is far from A.
class Regression {
 public:
  static constexpr double kDispersion = 1.0;

  explicit Regression(const RegressionShape& shape = {});

  Index dimension() const { return shape_.features + 1; }
  const RegressionShape& shape() const { return shape_; }
  Matrix posterior_precision() const;

  // What the spread of theta adds to C on average: M(Sigma) = E[w^2 x x^T (x^T Sigma x)] - B Sigma
  // B with w = 1 / dispersion and B = E[w x x^T].
  Matrix noise_of_spread(const Matrix& sigma) const;

  // R of the recursion of theta - mode, or of (theta - mode, v) where there is a momentum.
  Matrix transition(const Law& law) const;

  // The covariance of that state under minibatches drawn with replacement, exactly: the fixed point
  // of Sigma = R Sigma R^T + H ((C + M(Sigma)) / S + E) H^T. The mean is the mode. `noise` is C at
  // the mode.
  Matrix exact_state_covariance(const Law& law, const Matrix& noise_at_mode) const;
  Matrix exact_covariance(const Law& law) const;

  // The average of C over the posterior: what an average along the chains converges to.
  Matrix average_noise() const;

  // Steps for the slowest mode to fall to 1/e.
  double relaxation(const Law& law) const;

  // The gradient of the mean loss over all rows, the prior included.
  Vector full_gradient(const Vector& theta) const;

  RowBatch batch(const std::vector<std::uint32_t>& slots) const { return table_.batch(slots); }
  const ModelConfig& config() const { return config_; }
  const Vector& prior() const { return prior_; }

  OwnedEstimates estimates;
  Vector mode;

 private:
  RegressionShape shape_;
  ModelConfig config_;
  Matrix x_;  // with the intercept's column
  Vector y_;
  Table table_;
  Vector prior_;
  Matrix second_moment_;
};

// Mean and covariance of everything that was added.
class Fit {
 public:
  explicit Fit(Index d);
  void add(const Vector& deviation);
  Vector mean() const;
  Matrix covariance() const;

 private:
  Vector sum_;
  Matrix second_;
  std::int64_t count_ = 0;
};

// Where the minibatch of a step comes from.
enum class Draws {
  kPrivate,  // with replacement, every chain its own
  kShared,   // with replacement, the same for all chains
  kEpochs,   // every chain shuffles the rows anew for each pass
};

// Runs one sampler on a regression.
class ChainRunner {
 public:
  ChainRunner(const Regression& problem, std::string_view name, const SamplerConfig& config);

  AnySampler& sampler() { return *sampler_; }
  Law law() const;

  // Moves theta on by `steps`, and gives visit(theta) each. `chain` tells its random numbers apart.
  void run(Vector& theta, std::uint16_t chain, int steps, Draws draws,
           const std::function<void(const Vector&)>& visit);

 private:
  Model* made(const ModelConfig& config);
  void draw(std::uint64_t step, std::uint16_t chain, Draws draws);
  void shuffle(std::uint64_t step, std::uint16_t chain);

  const Regression& problem_;
  Memory memory_;
  Model* model_;
  GradientSource source_;
  const SamplerEntry& entry_;
  std::vector<double> state_;
  std::vector<double> work_;
  AnySampler* sampler_;
  std::vector<std::uint32_t> slots_;
  std::vector<std::uint32_t> order_;
};

}  // namespace windhover

#endif  // WINDHOVER_TESTS_SAMPLERS_REGRESSION_H_
