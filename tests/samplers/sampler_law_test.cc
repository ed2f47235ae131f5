// Does each sampler draw from the law that its formulas say? And what happens when the minibatches
// are drawn in a way that the formulas exclude.
#include <gtest/gtest.h>

#include <algorithm>

#include "windhover/samplers/sampler.h"
#include "windhover/tests/samplers/regression.h"

namespace windhover::sampler_law_test {
namespace {

constexpr int kChains = 4;
#ifdef WINDHOVER_SANITIZED
constexpr double kRelaxations = 200;  // a chain; the least that makes sense, sanitizers are slow
constexpr double kLargestThreshold = 0.03;
constexpr double kLargestAutocorrelationError = 0.35;
#else
constexpr double kRelaxations = 1000;
constexpr double kLargestThreshold = 0.0046;
constexpr double kLargestAutocorrelationError = 0.15;
#endif

const Regression& problem() {
  static const Regression regression;
  return regression;
}

// A process x <- R x + noise with stationary covariance Sigma, in coordinates in which that of its
// first `observed` components is I. The rest, if any, are their velocities.
struct Process {
  Process(const Matrix& r, const Matrix& sigma, Index d) : observed(d) {
    const Matrix root = sigma.topLeftCorner(d, d).llt().matrixL();
    Matrix whiten = Matrix::Zero(r.rows(), r.rows());
    for (Index i = 0; i < r.rows(); i += d) whiten.block(i, i, d, d) = root.inverse();
    transition = whiten * r * whiten.inverse();
    covariance = whiten * sigma * whiten.transpose();
  }
  Index observed;
  Matrix transition;
  Matrix covariance;
};

// E KL of a Gaussian fitted to n values in all, to second order in 1/n: with the autocovariances
// G_k of the observed components, (1/n) {sum_k Tr G_k / 2 + sum_k [(Tr G_k)^2 + Tr G_k^2] / 4}.
double expected_kl(const Process& process, double n) {
  const Index d = process.observed;
  double sum = 0.5 * static_cast<double>(d) + 0.25 * static_cast<double>(d * d + d);
  Matrix lagged = process.covariance;
  for (int k = 1; k < 100'000; ++k) {
    lagged = (process.transition * lagged).eval();
    const Matrix g = lagged.topLeftCorner(d, d);
    sum += g.trace() + 0.5 * (g.trace() * g.trace() + (g * g).trace());
    if (lagged.norm() < 1e-9 * process.covariance.norm()) break;
  }
  return sum / n;
}

// KLs of fits to simulated chains of the process (M = 4 or 8 numbers, 4 observed), in rising order.
template <int M>
std::vector<double> simulated_kls(const Process& process, int steps, int simulations) {
  using Square = Eigen::Matrix<double, M, M>;
  using State = Eigen::Matrix<double, M, 1>;
  const Square transition = process.transition;
  const Matrix drive =
      process.covariance - process.transition * process.covariance * process.transition.transpose();
  // The noise of a position is that of its velocity, so four numbers drive all M: the other
  // eigenvalues, which come first, are zero.
  const auto eigen = symmetric_eigen(drive);
  EXPECT_LT(eigen.eigenvalues().head(M - 4).cwiseAbs().sum(), 1e-9 * eigen.eigenvalues().sum());
  const Eigen::Matrix<double, M, 4> root =
      eigen.eigenvectors().rightCols(4) *
      eigen.eigenvalues().tail(4).cwiseMax(0.0).cwiseSqrt().asDiagonal();
  const Square start = process.covariance.llt().matrixL();
  constexpr int kBlock = 512;
  std::vector<double> z(4 * kBlock);
  std::vector<double> kls;
  for (int simulation = 0; simulation < simulations; ++simulation) {
    Rng rng(static_cast<std::uint64_t>(simulation));
    Eigen::Vector4d sum = Eigen::Vector4d::Zero();
    Eigen::Matrix4d second = Eigen::Matrix4d::Zero();
    for (int chain = 0; chain < kChains; ++chain) {
      rng.fill_normals(z);
      State state = start * Eigen::Map<const State>(z.data());
      for (int step = 0; step < steps; ++step) {
        if (step % kBlock == 0) rng.fill_normals(z);
        const Eigen::Map<const Eigen::Vector4d> noise(z.data() + 4 * (step % kBlock));
        // lazyProduct: Eigen would call its kernel for large matrices.
        state = (transition.lazyProduct(state) + root.lazyProduct(noise)).eval();
        const Eigen::Vector4d at = state.template head<4>();
        sum += at;
        second.noalias() += at * at.transpose();
      }
    }
    const double n = static_cast<double>(kChains) * steps;
    const Vector mean = sum / n;
    const Matrix covariance = second / n - mean * mean.transpose();
    kls.push_back(gaussian_kl(covariance, Matrix::Identity(4, 4), mean));
  }
  std::ranges::sort(kls);
  return kls;
}

// The autocorrelation times of the coordinates, from the variance of their means over batches. The
// means of `length` steps have a little less of it than those of infinitely many: by what factor is
// known exactly.
class BatchMeans {
 public:
  BatchMeans(const Matrix& transition, const Matrix& state, Index d, int length)
      : length_(length), sum_(Vector::Zero(d)), squares_(Vector::Zero(d)) {
    Matrix lagged = state;
    Matrix sum = state.topLeftCorner(d, d);
    for (int k = 1; k < length; ++k) {
      lagged = (transition * lagged).eval();
      sum += 2.0 * (1.0 - static_cast<double>(k) / length) * lagged.topLeftCorner(d, d);
    }
    of_batches_ = sum.diagonal();
  }
  void add(const Vector& deviation) {
    sum_ += deviation;
    if (++steps_ % static_cast<std::int64_t>(length_) != 0) return;
    squares_ += sum_.cwiseAbs2();
    sum_.setZero();
  }
  // length x the variance of a mean, over what it should be.
  Vector ratio() const {
    const double batches = std::floor(static_cast<double>(steps_) / length_);
    return (squares_ / (batches * length_)).cwiseQuotient(of_batches_);
  }

 private:
  double length_;
  std::int64_t steps_ = 0;
  Vector sum_;
  Vector squares_;
  Vector of_batches_;
};

// Summed over all lags, the autocovariances of theta are A^-1 (C / S + E) A^-1: a mean of many
// iterates moves by what noise has come in, whatever H and the momentum.
void expect_autocorrelation_sums_to_the_sandwich(const Law& law, const Matrix& state) {
  const Index d = problem().dimension();
  const Matrix transition = problem().transition(law);
  const Matrix identity = Matrix::Identity(state.rows(), state.rows());
  const Matrix forward = (identity - transition).inverse() * state;
  const Matrix summed = (forward + forward.transpose() - state).topLeftCorner(d, d);
  const OwnedEstimates& e = problem().estimates;
  const Matrix noise =
      (e.noise + problem().noise_of_spread(state.topLeftCorner(d, d))) / e.minibatch_size +
      law.injected;
  const Matrix inverse = e.curvature.inverse();
  EXPECT_LT(relative_difference(summed, inverse * noise * inverse), 1e-8);
}

struct LawCase {
  std::string_view sampler;
  std::string_view kind;  // of the configuration
  SamplerConfig config;

  friend void PrintTo(const LawCase& law_case, std::ostream* out) {
    *out << law_case.sampler << ' ' << law_case.kind;
  }
};

// The defaults; without injected noise where that makes a difference. Where the step can be given,
// a long one: the law is exact at every step, and slow chains say little in any affordable time.
std::vector<LawCase> law_cases() {
  std::vector<LawCase> cases;
  for (const SamplerEntry& entry : sampler_registry()) {
    if (!entry.has_law) continue;
    // Blocks and factors fewer than the problem has dimensions, or they would be the full matrix.
    SamplerConfig defaults;
    defaults.block_size = 2;
    defaults.rank = 1;
    const auto differs = [&](const SamplerConfig& config) {
      return law_of(entry.name, config, problem().estimates)->h !=
             law_of(entry.name, defaults, problem().estimates)->h;
    };
    SamplerConfig cold = defaults;
    cold.step_size = 0.2;
    cold.temperature = 0.5;
    SamplerConfig stepped = cold;
    stepped.temperature = 1.0;
    if (entry.check(cold).ok()) {
      cases.push_back({entry.name, "stepped", stepped});
      cases.push_back({entry.name, "stepped_cold", cold});
      continue;
    }
    cases.push_back({entry.name, "default", defaults});
    SamplerConfig noiseless = noiseless_config();
    noiseless.block_size = defaults.block_size;
    noiseless.rank = defaults.rank;
    if (differs(noiseless)) cases.push_back({entry.name, "noiseless", noiseless});
  }
  return cases;
}

class SamplerLaw : public testing::TestWithParam<LawCase> {};
INSTANTIATE_TEST_SUITE_P(Registry, SamplerLaw, testing::ValuesIn(law_cases()),
                         [](const testing::TestParamInfo<LawCase>& instance) {
                           return test_name(instance.param.sampler) + "_" +
                                  std::string(instance.param.kind);
                         });

// The chains start from the exact law (velocities from rest, so those get 20 relaxations first).
// Threshold: of 200 simulations of a linear process with the same transition matrix, law and number
// of draws, the largest fitted KL, which estimates the 99.5 % quantile. A law whose variances are
// 7 % off in every direction has a KL of 0.0047 and does not pass.
TEST_P(SamplerLaw, draws_have_the_exact_stationary_law_and_autocorrelation_time) {
  ChainRunner runner(problem(), GetParam().sampler, GetParam().config);
  const Law law = runner.law();
  const Index d = problem().dimension();
  const Matrix state = problem().exact_state_covariance(law, problem().estimates.noise);
  const Matrix sigma = state.topLeftCorner(d, d);
  const double relaxation = problem().relaxation(law);
  const Process process(problem().transition(law), state, d);
  // Steps for kRelaxations relaxations, and more where the slowest mode is not the only slow one.
  const int steps = static_cast<int>(std::ceil(std::max(
      kRelaxations * relaxation, expected_kl(process, kChains) / (0.33 * kLargestThreshold))));
  const int waiting = law.momentum == 0 ? 0 : static_cast<int>(20 * relaxation);
  const Matrix root = sigma.llt().matrixL();
  Fit fit(d);
  // 1600 batches, each close to independent of the next: a relative standard error of 3.5 %.
  BatchMeans means(problem().transition(law), state, d,
                   static_cast<int>(std::ceil(2.5 * relaxation)));
  for (std::uint16_t chain = 0; chain < kChains; ++chain) {
    Vector theta = problem().mode + root * normals(100 + chain, d, 1);
    int left = waiting;
    runner.run(theta, chain, steps + waiting, Draws::kPrivate, [&](const Vector& at) {
      if (left-- > 0) return;
      fit.add(at - problem().mode);
      means.add(at - problem().mode);
    });
  }
  expect_autocorrelation_sums_to_the_sandwich(law, state);
  const Vector ratio = means.ratio();
  EXPECT_LT((ratio.array() - 1.0).abs().maxCoeff(), kLargestAutocorrelationError)
      << ratio.transpose();
  const double kl = gaussian_kl(fit.covariance(), sigma.inverse(), fit.mean());
  const std::vector<double> simulated = law.momentum == 0 ? simulated_kls<4>(process, steps, 200)
                                                          : simulated_kls<8>(process, steps, 200);
  const double threshold = simulated.back();
  EXPECT_LT(kl, threshold) << steps << " steps a chain";
  EXPECT_LT(threshold, kLargestThreshold) << "the test has no power";
  double mean = 0;
  for (const double value : simulated) mean += value / static_cast<double>(simulated.size());
  // Two independent ways to the same expectation: 200 simulations have about 4 % standard error.
  EXPECT_NEAR(mean / expected_kl(process, static_cast<double>(kChains) * steps), 1.0, 0.15);
}

// The posterior itself, not only the sampler's own law.
TEST(CalibratedLaw, exact_law_with_average_noise_is_the_posterior) {
  OwnedEstimates estimates = problem().estimates;
  for (const double tau : {0.0, 1.0, 5.0}) {
    SamplerConfig config;
    config.injected_noise = tau;
    estimates.noise = problem().average_noise();
    const Law law = *law_of("calibrated", config, estimates);
    const Matrix precision = problem().posterior_precision();
    EXPECT_LT(gaussian_kl(problem().exact_covariance(law), precision), 1e-12) << tau;
  }
}

TEST(CalibratedLaw, other_samplers_differ_where_noise_is_not_curvature) {
  // Without this, a problem with C = A could hide that a sampler mixes the two up.
  const Matrix precision = problem().posterior_precision();
  for (const char* name : {"sgd", "sgd-d"}) {
    const Law law = *law_of(name, SamplerConfig{}, problem().estimates);
    EXPECT_GT(gaussian_kl(problem().exact_covariance(law), precision), 0.05) << name;
  }
}

// Spread between two chains, in units of the posterior's: 1 when they are independent.
double spread(Draws draws) {
  const Index d = problem().dimension();
  ChainRunner runner(problem(), "calibrated", noiseless_config());
  const Law law = runner.law();
  const Matrix root = problem().exact_covariance(law).llt().matrixL();
  const int steps = static_cast<int>(20 * problem().relaxation(law));
  double total = 0;
  constexpr int kPairs = 50;
  for (std::uint16_t pair = 0; pair < kPairs; ++pair) {
    Vector ends[2];
    for (std::uint16_t member = 0; member < 2; ++member) {
      const auto chain = static_cast<std::uint16_t>(2 * pair + member);
      Vector& theta = ends[member];
      theta = problem().mode + root * normals(300 + chain, d, 1);
      runner.run(theta, chain, steps, draws, [](const Vector&) {});
    }
    total += root.triangularView<Eigen::Lower>().solve(ends[0] - ends[1]).squaredNorm();
  }
  return total / (2.0 * static_cast<double>(d) * kPairs);
}

// Why every chain draws for itself: with common minibatches their noise is common, and they fall
// together. 50 pairs in 4 dimensions: standard error sqrt(2 / 200) = 0.1.
TEST(MinibatchDraws, shared_by_two_chains_collapse_them) {
  EXPECT_LT(spread(Draws::kShared), 1e-3);
  EXPECT_NEAR(spread(Draws::kPrivate), 1.0, 0.4);
}

// Why rows are drawn with replacement: in a shuffled pass the noise of the first half is taken back
// by the second, and a calibrated chain remembers about one pass.
TEST(MinibatchDraws, shuffled_epochs_lose_most_of_the_variance) {
  const Regression wide({.features = 11, .rows = 4000, .minibatch_size = 100});
  ChainRunner runner(wide, "calibrated", noiseless_config());
  const Index d = wide.dimension();
  const Matrix root = wide.posterior_precision().inverse().llt().matrixL();
  Fit epochs(d);
  Fit replaced(d);
  for (std::uint16_t chain = 0; chain < kChains; ++chain) {
    for (const Draws draws : {Draws::kEpochs, Draws::kPrivate}) {
      Fit& fit = draws == Draws::kEpochs ? epochs : replaced;
      Vector theta = wide.mode + root * normals(500 + chain, d, 1);
      runner.run(theta, chain, 2000, draws, [](const Vector&) {});
      runner.run(theta, static_cast<std::uint16_t>(chain + kChains), 30'000, draws,
                 [&](const Vector& at) { fit.add(at - wide.mode); });
    }
  }
  const Matrix precision = wide.posterior_precision();
  EXPECT_GT(gaussian_kl(epochs.covariance(), precision), 1.0);
  const double ratio = (precision * epochs.covariance()).trace() / static_cast<double>(d);
  EXPECT_GT(ratio, 0.2);
  EXPECT_LT(ratio, 0.6);
  EXPECT_LT(gaussian_kl(replaced.covariance(), precision), 0.1);
}

}  // namespace
}  // namespace windhover::sampler_law_test
