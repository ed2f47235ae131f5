#include "windhover/samplers/constant_rate/momentum.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "windhover/tests/samplers/laws.h"
#include "windhover/tests/samplers/regression.h"

namespace windhover::momentum_test {
namespace {

SamplerConfig with(double beta, double tau) {
  SamplerConfig config;
  config.momentum = beta;
  config.injected_noise = tau;
  return config;
}

// (theta, v) <- R (theta, v) + G noise.
struct JointLaw {
  JointLaw(const Law& law, const Matrix& curvature, double beta) {
    const Index d = curvature.rows();
    const Matrix identity = Matrix::Identity(d, d);
    r.resize(2 * d, 2 * d);
    r << identity - law.h * curvature, beta * identity, -law.h * curvature, beta * identity;
    g.resize(2 * d, d);
    g << -law.h, -law.h;
  }
  Matrix covariance(const Matrix& noise) const {
    Matrix power = r;
    Matrix sigma = g * noise * g.transpose();
    for (int doubling = 0; doubling < 60; ++doubling) {
      sigma += (power * sigma * power.transpose()).eval();
      power = (power * power).eval();
    }
    return sigma;
  }
  Matrix r;
  Matrix g;
};

class MomentumLaw : public testing::TestWithParam<Index> {
 protected:
  const Index d = GetParam();
};
INSTANTIATE_TEST_SUITE_P(Dimensions, MomentumLaw, testing::Values(1, 2, 5, 12),
                         testing::PrintToStringParamName());

// Solves the Lyapunov equation of theta and v together.
TEST_P(MomentumLaw, marginal_of_theta_is_the_posterior_for_every_curvature_noise_and_momentum) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const OwnedEstimates e = random_estimates(seed, d);
    for (const double beta : {0.0, 0.5, 0.9, 0.99}) {
      for (const double tau : {0.0, 0.5, 5.0}) {
        const Law law = *law_of(Momentum::kName, with(beta, tau), e);
        const JointLaw joint(law, e.curvature, beta);
        EXPECT_LT(spectral_radius(joint.r), 1.0);
        const Matrix sigma = joint.covariance(e.noise / e.minibatch_size + law.injected);
        EXPECT_LT(relative_difference(sigma.topLeftCorner(d, d), posterior_covariance(e)), 1e-9)
            << seed << ' ' << beta << ' ' << tau;
      }
    }
  }
}

TEST_P(MomentumLaw, is_the_posterior_also_for_singular_noise) {
  OwnedEstimates e = random_estimates(20, d);
  e.noise = d == 1 ? Matrix::Zero(1, 1) : random_singular(21, d, d / 2);
  for (const double beta : {0.5, 0.9}) {
    const Law law = *law_of(Momentum::kName, with(beta, 5.0), e);
    const Matrix sigma =
        JointLaw(law, e.curvature, beta).covariance(e.noise / e.minibatch_size + law.injected);
    EXPECT_LT(relative_difference(sigma.topLeftCorner(d, d), posterior_covariance(e)), 1e-9);
  }
}

TEST_P(MomentumLaw, without_momentum_is_calibrated) {
  const OwnedEstimates e = random_estimates(30, d);
  for (const double tau : {0.0, 5.0}) {
    const Law a = *law_of(Momentum::kName, with(0.0, tau), e);
    const Law b = *law_of("calibrated", with(0.0, tau), e);
    EXPECT_EQ(a.h, b.h);
    EXPECT_EQ(a.injected, b.injected);
  }
}

TEST(MomentumSettings, impossible_ones_are_refused_by_name) {
  for (const double bad : {-0.1, 1.0, 2.0, static_cast<double>(NAN)}) {
    const auto refused = Momentum::check(with(bad, 5.0));
    ASSERT_FALSE(refused.ok()) << bad;
    EXPECT_EQ(std::string_view(refused.error().sentence),
              "momentum must be at least 0 and less than 1");
  }
}

// What step() does is v <- beta v - H (g + noise), theta <- theta + v.
TEST(MomentumStep, keeps_its_velocity) {
  const OwnedEstimates e = random_estimates(40, 3);
  const Law law = *law_of(Momentum::kName, with(0.7, 0.0), e);
  Memory memory;
  const SamplerEntry& entry = *find_sampler(Momentum::kName);
  AnySampler& sampler = *entry.make(memory.arena(), with(0.7, 0.0), 3);
  ASSERT_EQ(sampler.refresh(e.view()), Status::kOk);
  EXPECT_EQ(sampler.momentum(), 0.7);
  const ModelConfig rows{.features = 3, .intercept = false};
  const Vector g = normals(41, 3, 1);
  const Table table(rows, g.transpose(), Vector::Zero(1));
  RowGradientModel model(rows);
  const Vector prior = Vector::Zero(3);
  GradientSource gradient(&model, 3, prior.data());
  gradient.set_scale(1000.0, 1.0);
  gradient.set_minibatch(table.all());
  OwnedChain chain(entry, with(0.7, 0.0), Vector::Zero(3));
  Rng rng(1);
  sampler.start(chain.get(), rng);
  Vector v = Vector::Zero(3);
  Vector theta = Vector::Zero(3);
  for (int step = 0; step < 5; ++step) {
    ASSERT_EQ(sampler.step(chain.get(), gradient, rng), Status::kOk);
    v = 0.7 * v - law.h * g;
    theta += v;
    EXPECT_LT((chain.theta() - theta).norm(), 1e-12 * theta.norm());
    EXPECT_LT((chain.state() - v).norm(), 1e-12 * v.norm());
  }
}

// KLs of fits to theta in simulated chains of the joint law, in rising order.
std::vector<double> simulated_kls(const JointLaw& joint, const Matrix& noise, const Matrix& start,
                                  const Matrix& precision, int chains, int steps) {
  const Index d = precision.rows();
  const Matrix push = joint.g * noise.llt().matrixL().toDenseMatrix();
  const Matrix root = start.llt().matrixL();
  std::vector<double> kls;
  std::vector<double> z(static_cast<std::size_t>(d) * static_cast<std::size_t>(steps));
  Vector next(2 * d);
  for (std::uint64_t simulation = 0; simulation < 100; ++simulation) {
    Fit fit(d);
    for (int chain = 0; chain < chains; ++chain) {
      Rng rng(simulation, {.chain = static_cast<std::uint16_t>(chain), .purpose = Purpose::kTest});
      rng.fill_normals(z);
      Vector state = root * normals(1000 + 10 * simulation, 2 * d, chains).col(chain);
      for (int step = 0; step < steps; ++step) {
        next.noalias() = joint.r * state;
        next.noalias() += push * Eigen::Map<const Vector>(z.data() + step * d, d);
        state.swap(next);
        fit.add(state.head(d));
      }
    }
    kls.push_back(gaussian_kl(fit.covariance(), precision, fit.mean()));
  }
  std::ranges::sort(kls);
  return kls;
}

// Minibatches of a regression whose C is far from A and depends on theta. With C averaged over the
// posterior the posterior is the exact law of theta; thresholds are the largest of 100 simulations.
TEST(MomentumRun, fitted_gaussian_is_the_posterior) {
  Regression problem;
  problem.estimates.noise = problem.average_noise();
  const Index d = problem.dimension();
  const SamplerConfig config = with(0.9, 0.0);
  ChainRunner runner(problem, Momentum::kName, config);
  const JointLaw joint(runner.law(), problem.estimates.curvature, config.momentum);
  const Matrix noise = problem.estimates.noise / problem.estimates.minibatch_size;
  const Matrix precision = problem.posterior_precision();
  const Matrix start = joint.covariance(noise);
  const double relaxation = -1 / std::log(spectral_radius(joint.r));
  const int steps = static_cast<int>(300 * relaxation);
  const int settling = static_cast<int>(10 * relaxation);
  constexpr int kChains = 4;
  Fit fit(d);
  for (std::uint16_t chain = 0; chain < kChains; ++chain) {
    Vector theta = problem.mode;
    int step = 0;
    runner.run(theta, chain, settling + steps, Draws::kPrivate, [&](const Vector& at) {
      if (++step > settling) fit.add(at - problem.mode);
    });
  }
  const double kl = gaussian_kl(fit.covariance(), precision, fit.mean());
  const double threshold = simulated_kls(joint, noise, start, precision, kChains, steps).back();
  EXPECT_LT(kl, threshold) << steps << " steps a chain";
  EXPECT_LT(threshold, 0.02) << "the test has no power";
}

}  // namespace
}  // namespace windhover::momentum_test
