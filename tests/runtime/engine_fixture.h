// What the tests of this layer share: data with fixed seeds, an engine in a block of its own, the
// exact posteriors to compare with.
#ifndef WINDHOVER_TESTS_RUNTIME_ENGINE_FIXTURE_H_
#define WINDHOVER_TESTS_RUNTIME_ENGINE_FIXTURE_H_

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "windhover/platform/clock.h"
#include "windhover/platform/memory.h"
#include "windhover/platform/random.h"
#include "windhover/runtime/engine.h"
#include "windhover/runtime/learning/learner.h"
#include "windhover/tests/long_tests.h"

namespace windhover::test {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

VectorXd normals(std::uint64_t seed, Index count);

VectorXd uniforms(std::uint64_t seed, Index count);

// Rows of raw features and a target each, and the coefficients behind them (intercept last).
struct Data {
  RowMatrix x;
  VectorXd y;
  VectorXd truth;
  VectorXd offset = {};  // one a row, or none
  VectorXd weight = {};  // likewise
  VectorXd trials = {};  // likewise

  Index rows() const { return x.rows(); }
  // The features with the intercept's column.
  MatrixXd design() const;
};

// Standard normal features with correlation rho^|i - j|.
RowMatrix autoregressive_rows(Index rows, Index features, double rho, std::uint64_t seed);

// Normal noise of variance 1 with correlation rho^k at lag k.
VectorXd autoregressive_noise(Index rows, double rho, std::uint64_t seed);

VectorXd coefficients(Index dimension, std::uint64_t seed);

Data linear_data(Index rows, Index features, double noise_sd, std::uint64_t seed, double rho = 0.5);

// Targets drawn by inversion: outcome(linear predictor, u), u uniform.
Data inverted_data(Index rows, Index features, double intercept, std::uint64_t seed,
                   double (*outcome)(double eta, double u));

Data logistic_data(Index rows, Index features, double intercept, std::uint64_t seed);

struct Gaussian {
  VectorXd mean;
  MatrixXd covariance;
};

VectorXd prior_precisions(Index dimension, const ModelConfig& model);

// The conjugate posterior of a linear model with known noise variance.
Gaussian linear_posterior(const MatrixXd& design, const VectorXd& y, double noise_variance,
                          const ModelConfig& model);

// KL(q || p).
double kl(const Gaussian& q, const Gaussian& p);

// Mean and covariance of every iterate of every chain, and of the chains' own means.
class Trace {
 public:
  explicit Trace(const VectorXd& centre);

  static void add(void* self, std::uint16_t, const double* theta) noexcept;
  double count() const { return count_; }
  Gaussian moments() const;

 private:
  VectorXd centre_;
  VectorXd sum_;
  MatrixXd squares_;
  double count_ = 0;
};

// An engine in a block of exactly its footprint, driven from the test's thread.
class TestEngine {
 public:
  // `fill`: what every byte of the block is before.
  explicit TestEngine(const EngineConfig& config, Clock* clock = nullptr, unsigned char fill = 0);

  Engine& operator*() { return *engine_; }
  Engine* operator->() { return engine_; }

  // Rows [first, last) in frames small enough for any slack; polls when the window is full.
  void feed(const Data& data, Index first, Index last);
  void feed(const Data& data) { feed(data, 0, data.rows()); }

  static ObservationBatch batch(const Data& data, Index first, Index rows);

  // Polls until there is nothing left to do; a replay ratio R > 0 is what makes it end.
  std::uint64_t poll_until_idle();
  // Polls so many rounds, after which what is served is what the engine has.
  void poll_rounds(std::uint64_t rounds);
  bool poll_until_sampling(int limit = 1'000'000);

  // The engine's own mean and covariance.
  Gaussian summary();

  Reader& reader();
  std::vector<ParameterSummary> parameters(Provenance* provenance = nullptr);
  Provenance provenance();
  // The reader's answers to a question that it must take.
  std::vector<PredictiveSummary> answers(const PredictRequest& request,
                                         Provenance* provenance = nullptr);
  // Retained draws, one a row.
  RowMatrix draws();

 private:
  MappedBlock block_;
  Engine* engine_;
  std::unique_ptr<Reader> reader_;
};

// What the chains of an engine that is given these rows draw in so many rounds, from where they
// sample.
Gaussian drawn_of(TestEngine& engine, const Data& data, std::uint64_t rounds);

// A question about `rows` dense rows x, scored where there are outcomes; both are borrowed.
PredictRequest question(std::size_t rows, std::span<const double> x,
                        std::span<const double> outcomes = {});

// Small windows and frames, so that tests are quick and slack is exercised.
EngineConfig small_config(const char* model, std::uint32_t features, std::uint64_t window);

}  // namespace windhover::test

#endif  // WINDHOVER_TESTS_RUNTIME_ENGINE_FIXTURE_H_
