// One memory's filter against the exact posterior of rows that count by their age.
#include "windhover/runtime/learning/memory_filter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

#include "windhover/samplers/registry.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::memory_filter_test {
namespace {

constexpr std::uint32_t kFeatures = 3;
constexpr Index kDimension = kFeatures + 1;
constexpr std::size_t kBatch = 5;

// What a filter shows of itself: counts first, then where its centre and its matrices stand.
class Numbers final : public StateVisitor {
 public:
  void visit(std::span<double> more) noexcept override {
    doubles.insert(doubles.end(), more.begin(), more.end());
  }
  void visit(std::span<std::uint64_t>) noexcept override {}
  void visit(std::span<std::uint32_t>) noexcept override {}

  std::vector<double> doubles;
};

struct Shown {
  double dispersion;
  VectorXd centre;
  MatrixXd covariance;
};

struct Filter {
  Filter(const char* name, std::uint64_t rows, double prior_precision, bool counts_as_many,
         std::uint64_t level_rows = 0)
      : config(with_defaults(configuration(name, prior_precision))),
        block(4 << 20),
        arena(block.bytes()),
        estimator(arena, config),
        scratch(arena, config.model.dimension()),
        filter(arena, config, estimator, scratch, rows, counts_as_many, level_rows) {
    const ModelEntry& entry = *find_model(name);
    model = entry.make(arena, config.model);
    entry.reset(*model);
    estimator.reset(config);
    EXPECT_EQ(estimator.refresh(1.0, 1.0), Status::kOk);  // without rows: the prior
    filter.reset();
    filter.start(0);
  }
  static EngineConfig configuration(const char* name, double prior_precision) {
    EngineConfig c = small_config(name, kFeatures, 400);
    c.model.prior_precision = c.model.intercept_precision = prior_precision;
    c.model.noise_variance = 1;
    return c;
  }
  void learn(const Data& data, Index first, std::size_t count) {
    const RowLayout layout(config.model);
    std::vector<double> rows(count * layout.stride());
    std::vector<std::uint32_t> slots(count);
    std::iota(slots.begin(), slots.end(), 0U);
    for (std::size_t i = 0; i < count; ++i) {
      double* row = rows.data() + i * layout.stride();
      const Index from = first + static_cast<Index>(i);
      for (Index j = 0; j < Index{kFeatures}; ++j) row[j] = data.x(from, j);
      row[kFeatures] = data.y[from];
    }
    filter.learn({rows.data(), slots.data(), slots.size()}, static_cast<double>(count), *model);
  }
  void learn(const Data& data) {
    for (Index at = 0; at < data.rows(); at += kBatch) {
      before = shown();
      learn(data, at, kBatch);
    }
  }
  Shown shown() {
    Numbers numbers;
    filter.visit_state(numbers);
    const double* at = numbers.doubles.data();
    const std::size_t width = matrix_width(kDimension);
    const double* centre = at + 5;
    const double* covariance = centre + kDimension + width * width;
    return {at[2], Eigen::Map<const VectorXd>(centre, kDimension),
            Eigen::Map<const MatrixXd>(covariance, kDimension, kDimension)};
  }

  EngineConfig config;
  MappedBlock block;
  Arena arena;
  Estimator estimator;
  MemoryFilter::Scratch scratch;
  MemoryFilter filter;
  Model* model;
  Shown before;  // the newest batch
};

// What rows count for: those of one batch alike, and of equal rows as many as they are worth where
// `counts_as_many`.
VectorXd weights(Index rows, double memory, bool counts_as_many) {
  VectorXd w(rows);
  for (Index i = 0; i < rows; ++i) {
    const Index batch = static_cast<Index>(kBatch);
    const Index after = (rows / batch - 1 - i / batch) * batch;
    w[i] = std::pow(1 - 2 / memory, static_cast<double>(after));
  }
  return counts_as_many ? VectorXd(w * (w.sum() / w.squaredNorm())) : w;
}

// A prior so weak that it has faded: what is left is least squares, whatever noise variance the
// filter has learned on the way, to rounding.
TEST(MemoryFilter, IsThePosteriorOfRowsThatFadeWhereYIsNormal) {
  constexpr double kMemory = 200;
  const Data data = linear_data(3000, kFeatures, 1.0, 41);
  const MatrixXd x = data.design();
  for (const bool as_many : {true, false}) {
    Filter of("linear", static_cast<std::uint64_t>(kMemory), 1e-6, as_many);
    of.learn(data);
    const Shown found = of.shown();
    const VectorXd w = weights(data.rows(), kMemory, as_many);
    const MatrixXd squares = x.transpose() * w.asDiagonal() * x;
    const VectorXd mean = squares.ldlt().solve(x.transpose() * w.asDiagonal() * data.y);
    const MatrixXd covariance = of.before.dispersion * squares.inverse();
    for (Index j = 0; j < kDimension; ++j) {
      EXPECT_NEAR(found.centre[j], mean[j], 1e-6 * std::sqrt(covariance(j, j))) << j;
    }
    EXPECT_LT((found.covariance - covariance).norm() / covariance.norm(), 1e-6) << as_many;
    // An average that forgets, of a memory's 100 newest rows, has a relative error of sqrt(2 /
    // 200); four of them.
    EXPECT_NEAR(found.dispersion, 1.0, 0.4) << as_many;
  }
}

// Kalman's filter as it stands in Harvey (1989), section 3.2, the intercept a random walk: where it
// is, and P in units of the noise. What the noise is taken for on the way is of no account but for
// the prior, which says nothing.
TEST(MemoryFilter, IsKalmansOfALevelThatWalks) {
  constexpr double kLevelRows = 4;
  constexpr double kPrior = 1e-6;
  Data data = linear_data(3000, kFeatures, 1.0, 43);
  const VectorXd steps = normals(44, data.rows());
  double level = 0;
  for (Index i = 0; i < data.rows(); ++i) data.y[i] += level += steps[i] / kLevelRows;
  Filter of("linear", 1'000'000'000'000, kPrior, true, static_cast<std::uint64_t>(kLevelRows));
  of.learn(data);
  const MatrixXd x = data.design();
  VectorXd mean = VectorXd::Zero(kDimension);
  MatrixXd covariance = MatrixXd::Identity(kDimension, kDimension) / kPrior;
  for (Index i = 0; i < data.rows(); ++i) {
    covariance(kDimension - 1, kDimension - 1) += 1 / (kLevelRows * kLevelRows);
    const VectorXd row = x.row(i);
    const VectorXd gain = covariance * row / (1 + row.dot(covariance * row));
    mean += gain * (data.y[i] - row.dot(mean));
    covariance -= gain * (row.transpose() * covariance);
  }
  const Shown found = of.shown();
  for (Index j = 0; j < kDimension; ++j) {
    EXPECT_NEAR(found.centre[j], mean[j], 0.01 * std::sqrt(covariance(j, j))) << j;
  }
  EXPECT_NEAR(found.centre[kDimension - 1], data.truth[kDimension - 1] + level, 2.5) << "5 sd";
  // 64 rows give a relative error of sqrt(2 / 64); four of them.
  EXPECT_NEAR(found.dispersion, 1.0, 0.7);
  const double level_variance = found.covariance(kDimension - 1, kDimension - 1);
  of.filter.look_ahead(8);
  EXPECT_NEAR(of.shown().covariance(kDimension - 1, kDimension - 1),
              level_variance + 0.5 * found.dispersion, 1e-9);
  of.filter.look_ahead(0);
  EXPECT_NEAR(of.shown().covariance(kDimension - 1, kDimension - 1), level_variance, 1e-9);
}

// The posterior of logits of a scale that needs no dispersion, with a prior that counts.
Gaussian logistic_posterior(const MatrixXd& x, const VectorXd& y, const VectorXd& w, double prior) {
  Gaussian found{VectorXd::Zero(x.cols()), {}};
  for (int i = 0; i < 50; ++i) {
    const VectorXd p = (1 + (-(x * found.mean)).array().exp()).inverse();
    const VectorXd gradient = x.transpose() * w.cwiseProduct(p - y) + prior * found.mean;
    const VectorXd curvature = w.array() * p.array() * (1 - p.array());
    found.covariance = (x.transpose() * curvature.asDiagonal() * x +
                        prior * MatrixXd::Identity(x.cols(), x.cols()))
                           .inverse();
    found.mean -= found.covariance * gradient;
  }
  return found;
}

// An extended Kalman filter linearizes each row where its centre stood then, some sd from where it
// stands now: in a loss whose curvature changes by 1 / sqrt(n) a sd, n what the memory is worth,
// that is worth D / sqrt(n) sd here, 0.13.
TEST(MemoryFilter, IsNearThePosteriorOfRowsThatFadeOfClasses) {
  constexpr double kMemory = 1000;
  constexpr double kPrior = 4;
  constexpr int kRuns = 20;
  const double bound = static_cast<double>(kDimension) / std::sqrt(kMemory);
  double squared = 0;
  double wide = 0;
  for (int run = 0; run < kRuns; ++run) {
    const Data data = logistic_data(6000, kFeatures, 0.5, 50 + run);
    Filter of("logistic", static_cast<std::uint64_t>(kMemory), kPrior, true);
    of.learn(data);
    const Shown found = of.shown();
    const Gaussian exact =
        logistic_posterior(data.design(), data.y, weights(data.rows(), kMemory, true), kPrior);
    const VectorXd off = found.centre - exact.mean;
    squared += off.dot(exact.covariance.ldlt().solve(off)) / kDimension / kRuns;
    wide += (exact.covariance.inverse() * found.covariance).trace() / kDimension / kRuns;
  }
  std::printf("centre off by %.3f sd, variances %.3f times the posterior's\n", std::sqrt(squared),
              wide);
  EXPECT_LT(std::sqrt(squared), bound);
  EXPECT_NEAR(wide, 1.0, bound);
}

// What a batch is worth is asked of the posterior of those before it.
TEST(MemoryFilter, LosesWhatThePredictiveDistributionSays) {
  const Data data = linear_data(1000, kFeatures, 1.0, 42);
  Filter of("linear", 200, 1e-6, true);
  of.learn(data);
  const Shown now = of.shown();
  const RowLayout layout(of.config.model);
  std::vector<double> row(layout.stride());
  const std::uint32_t slot = 0;
  VectorXd x = VectorXd::Ones(kDimension);
  for (const double y : {-2.0, 0.0, 5.0}) {
    for (Index j = 0; j < Index{kFeatures}; ++j) row[static_cast<std::size_t>(j)] = x[j];
    row[kFeatures] = y;
    const double variance = now.dispersion + x.dot(now.covariance * x);
    const double off = y - x.dot(now.centre);
    const double expected = 0.5 * (std::log(variance) + off * off / variance);
    EXPECT_NEAR(of.filter.loss({row.data(), &slot, 1}, 1.0, *of.model), expected, 1e-9) << y;
  }
}

}  // namespace
}  // namespace windhover::test::memory_filter_test
