// The running diagnostics against what is computed from the whole trace: effective sample sizes and
// their kin as in Vehtari, Gelman, Simpson, Carpenter and Buerkner 2021, with ranks, empirical
// quantiles and Geyer's initial monotone sequence.
//
// How far apart two such estimates can be: their windows over the lags differ by w lags or less, so
// the relative variance of their difference is 4 w / N at most (Priestley 1981, section 6.2.4). The
// trapezoid ends at 8 autocorrelation times, Geyer's sequence soon after 2: 4 sd are 0.05 when N is
// 100,000 times or so.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "windhover/runtime/prediction/gaussian_mixture.h"
#include "windhover/samplers/estimates/diagnostics.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::chain_diagnostics_test {
namespace {

// Effective draws of stored chains, one a column, by Geyer's initial monotone sequence.
double offline_ess(const MatrixXd& x) {
  const Index n = x.rows();
  const Index chains = x.cols();
  const VectorXd means = x.colwise().mean();
  MatrixXd centred = x.rowwise() - means.transpose();
  const auto autocovariance = [&](Index lag) {
    return (centred.topRows(n - lag).array() * centred.bottomRows(n - lag).array()).sum() /
           static_cast<double>(n * chains);
  };
  const double within = autocovariance(0) * static_cast<double>(n) / static_cast<double>(n - 1);
  const double between =
      chains > 1 ? (means.array() - means.mean()).square().sum() / static_cast<double>(chains - 1)
                 : 0.0;
  const double variance = within * static_cast<double>(n - 1) / static_cast<double>(n) + between;
  const auto correlation = [&](Index lag) { return 1 - (within - autocovariance(lag)) / variance; };
  double last = 1 + correlation(1);
  double sum = last;
  for (Index lag = 2; lag < n / 2; lag += 2) {
    const double pair = correlation(lag) + correlation(lag + 1);
    if (pair <= 0) break;
    last = std::min(last, pair);
    sum += last;
  }
  return static_cast<double>(n * chains) / (2 * sum - 1);
}

MatrixXd split(const MatrixXd& x) {
  const Index half = x.rows() / 2;
  MatrixXd halves(half, 2 * x.cols());
  halves << x.topRows(half), x.bottomRows(half);
  return halves;
}

std::vector<std::size_t> order_of(const MatrixXd& x) {
  std::vector<std::size_t> order(static_cast<std::size_t>(x.size()));
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::size_t i) { return x.data()[i]; });
  return order;
}

struct Offline {
  double ess_bulk, ess_tail, mcse_mean, r_hat;

  explicit Offline(const MatrixXd& x) {
    const MatrixXd halves = split(x);
    const std::vector<std::size_t> order = order_of(halves);
    const auto size = static_cast<double>(order.size());
    MatrixXd scores(halves.rows(), halves.cols());
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      scores.data()[order[rank]] =
          normal_quantile((static_cast<double>(rank) + 0.625) / (size + 0.25));
    }
    ess_bulk = offline_ess(scores);
    const double low = halves.data()[order[order.size() / 20]];
    const double high = halves.data()[order[order.size() * 19 / 20]];
    ess_tail = std::min(offline_ess((halves.array() <= low).cast<double>().matrix()),
                        offline_ess((halves.array() <= high).cast<double>().matrix()));
    const double sd = std::sqrt((x.array() - x.mean()).square().mean());
    mcse_mean = sd / std::sqrt(offline_ess(halves));
    const VectorXd means = scores.colwise().mean();
    const double n = static_cast<double>(scores.rows());
    const double within = (scores.rowwise() - means.transpose()).array().square().sum() / (n - 1) /
                          static_cast<double>(scores.cols());
    const double between =
        (means.array() - means.mean()).square().sum() / static_cast<double>(scores.cols() - 1);
    r_hat = std::sqrt(((n - 1) / n * within + between) / within);
  }
};

TEST(ChainDiagnosticsOffline, AutoregressiveTracesAgreeToFivePercent) {
  constexpr Index kChains = 4;
  constexpr Index kLength = 300'000;
  for (const double rho : {0.5, 0.8}) {
    MatrixXd x(kLength, kChains);
    for (Index c = 0; c < kChains; ++c) {
      x.col(c) = autoregressive_noise(kLength, rho, 900 + static_cast<std::uint64_t>(c));
    }
    MappedBlock block(1 << 16);
    Arena arena(block.bytes());
    ChainDiagnostics diagnostics(arena, kChains, 1);
    diagnostics.reset();
    for (Index t = 0; t < kLength; ++t) {
      const VectorXd row = x.row(t);
      diagnostics.add(row.data());
    }
    double bulk, tail, mcse, r_hat;
    diagnostics.summarize({&bulk, &tail, &mcse, &r_hat});
    const Offline offline(x);
    EXPECT_NEAR(bulk / offline.ess_bulk, 1.0, 0.05) << rho;
    EXPECT_NEAR(tail / offline.ess_tail, 1.0, 0.05) << rho;
    EXPECT_NEAR(mcse / offline.mcse_mean, 1.0, 0.05) << rho;
    EXPECT_NEAR(r_hat, offline.r_hat, 1e-3) << rho;
  }
}

struct Recorder {
  std::vector<std::vector<double>> values;  // a parameter of each chain
  static void add(void* self, std::uint16_t chain, const double* theta) noexcept {
    static_cast<Recorder*>(self)->values[chain].push_back(theta[1]);
  }
};

// The trace has every step of an engine's chains on a window that stands still.
TEST(ChainDiagnosticsOffline, TraceOfAnEngineAgreesToFivePercent) {
  constexpr std::uint32_t kChains = 8;
  constexpr std::size_t kRounds = 100'000;
  const Data data = linear_data(1000, 3, 1.0, 91);
  EngineConfig config = small_config("linear", 3, 1000);
  config.sampler.chains = kChains;
  config.draws_per_observation = 0;
  TestEngine engine(config);
  engine.feed(data);
  ASSERT_TRUE(engine.poll_until_sampling());
  Recorder recorder{std::vector<std::vector<double>>(kChains)};
  for (auto& values : recorder.values) values.reserve(kRounds);
  const_cast<Learner&>(engine->learner()).set_trace(&Recorder::add, &recorder);
  engine.poll_rounds(kRounds);
  const_cast<Learner&>(engine->learner()).set_trace(nullptr, nullptr);
  engine->poll(0);
  MatrixXd x(static_cast<Index>(kRounds), kChains);
  for (std::uint32_t c = 0; c < kChains; ++c) {
    ASSERT_EQ(recorder.values[c].size(), kRounds);
    x.col(c) = Eigen::Map<const VectorXd>(recorder.values[c].data(), x.rows());
  }
  const Offline offline(x);
  const ParameterSummary p = engine.parameters()[1];
  EXPECT_NEAR(p.ess_bulk / offline.ess_bulk, 1.0, 0.05);
  EXPECT_NEAR(p.ess_tail / offline.ess_tail, 1.0, 0.05);
  EXPECT_NEAR(p.mcse_mean / offline.mcse_mean, 1.0, 0.05);
  EXPECT_NEAR(p.autocorrelation_time * offline.ess_bulk / (1.0 * kRounds * kChains), 1.0, 0.05);
  EXPECT_NEAR(p.r_hat, offline.r_hat, 1e-3);
}

}  // namespace
}  // namespace windhover::test::chain_diagnostics_test
