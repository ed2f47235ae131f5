// SGLD and its relatives: computed steps, orders of the bias, schedules, metrics.
#include <gtest/gtest.h>

#include "windhover/samplers/langevin/langevin.h"
#include "windhover/samplers/langevin/metric.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"
#include "windhover/tests/samplers/walk.h"

namespace windhover::langevin_test {
namespace {

OwnedEstimates random_estimates(std::uint64_t seed, Index d) {
  return {random_covariance(seed, d), random_covariance(seed + 1000, d), 1000, 40};
}

// The stationary covariance of a law with constant C, in units of (T / n) A^-1: its eigenvalues.
Vector relative_variances(const Law& law, const OwnedEstimates& e, double temperature) {
  const Index d = e.curvature.rows();
  const Matrix noise = e.noise / e.minibatch_size + law.injected;
  const bool momentum = law.momentum != 0;
  const Index m = momentum ? 2 * d : d;
  Matrix transition = Matrix::Identity(m, m);
  Matrix input(m, d);
  transition.leftCols(d).topRows(d) -= law.h * e.curvature;
  input.topRows(d) = law.h;
  if (momentum) {
    transition.bottomLeftCorner(d, d) = -law.h * e.curvature;
    transition.rightCols(d) = law.momentum * Matrix::Identity(d, d).replicate(2, 1);
    input.bottomRows(d) = law.h;
  }
  Matrix sigma = input * noise * input.transpose();
  for (int doubling = 0; doubling < 40; ++doubling) {
    sigma += (transition * sigma * transition.transpose()).eval();
    transition = (transition * transition).eval();
  }
  const Matrix root = e.curvature.llt().matrixL();
  const Matrix whitened = root.transpose() * sigma.topLeftCorner(d, d) * root;
  return symmetric_eigen(e.n / temperature * whitened).eigenvalues();
}

// No variance is off by more than kStepBias; for sgld-p the worst is exactly that. The eigenvalues
// of the step rule come from power iteration, up to 3 % too small.
TEST(LangevinStep, computed_step_keeps_the_bias_it_promises) {
  for (const double temperature : {1.0, 0.2, 5.0}) {
    SamplerConfig config;
    config.temperature = temperature;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const OwnedEstimates e = random_estimates(seed, 6);
      for (const char* name : {"sgld", "sgld-p", "msgld", "sghmc"}) {
        const Vector variances = relative_variances(*law_of(name, config, e), e, temperature);
        EXPECT_LE(variances.maxCoeff(), 1.0 + 1.03 * kStepBias) << name << ' ' << temperature;
        EXPECT_GE(variances.minCoeff(), 1.0 - 1e-9) << name << ' ' << temperature;
        if (std::string_view(name) == "sgld-p") {
          EXPECT_NEAR(variances.maxCoeff(), 1.0 + kStepBias, 0.03 * kStepBias);
        }
      }
    }
  }
}

// The bias of SGLD is first order in its step, with or without minibatch noise; that of sghmc is
// first order in h = eta^2, second in its own step eta, and knows no minibatch noise.
TEST(LangevinStep, bias_falls_as_the_theory_says) {
  const OwnedEstimates e = random_estimates(3, 4);
  for (const char* name : {"sgld", "sgld-p", "msgld", "sghmc"}) {
    SamplerConfig config;
    double before = 0;
    for (const double h : {2e-4, 1e-4, 5e-5}) {
      config.step_size = h;
      const Law law = *law_of(name, config, e);
      const double bias = relative_variances(law, e, 1.0).maxCoeff() - 1.0;
      if (before > 0) {
        EXPECT_NEAR(before / bias, 2.0, 0.02) << name;
      }
      before = bias;
      OwnedEstimates silent = e;
      silent.noise *= 1e-3;
      const double of_step =
          relative_variances(*law_of(name, config, silent), silent, 1.0).maxCoeff() - 1.0;
      const bool corrected = std::string_view(name) == "msgld" || std::string_view(name) == "sghmc";
      if (corrected) {
        EXPECT_NEAR(bias / of_step, 1.0, 1e-6) << name;
      } else {
        EXPECT_GT(bias / of_step, 10.0) << name;
      }
    }
  }
}

TEST(LangevinStep, sghmc_variance_is_the_closed_form) {
  const OwnedEstimates e = random_estimates(5, 3);
  SamplerConfig config;
  config.friction = 0.3;
  const Law law = *law_of("sghmc", config, e);
  const double h = (law.h * e.curvature)(0, 0);
  const Vector variances = relative_variances(law, e, 1.0);
  EXPECT_NEAR(variances.minCoeff(), 1.0 / (1.0 - h / (2.0 * 1.7)), 1e-9);
  EXPECT_NEAR(variances.maxCoeff(), 1.0 / (1.0 - h / (2.0 * 1.7)), 1e-9);
}

// A step too long for a covariance to be left is shortened, and the law says so.
TEST(LangevinStep, noise_correction_shortens_a_step_that_leaves_no_noise) {
  const OwnedEstimates e = random_estimates(6, 4);
  SamplerConfig config;
  config.step_size = 1.0;
  for (const char* name : {"msgld", "sghmc"}) {
    const Law law = *law_of(name, config, e);
    EXPECT_LT(law.h(0, 0), 0.5) << name;
    EXPECT_EQ(law.injected.llt().info(), Eigen::Success) << name;
  }
}

// Without noise a move is -h_t times the gradient.
TEST(SgldSchedule, steps_follow_the_power_law) {
  SamplerConfig config;
  config.temperature = 0;
  config.step_size = 0.3;
  config.step_decay = 0.55;
  config.step_offset = 20;
  const double a = 0.3 * std::pow(20, 0.55);
  FunctionGradient gradient(1, [](const double*, double* g) { g[0] = 1.0; });
  double before = 0;
  double move = 0;
  walk("sgld", config, random_estimates(7, 1), gradient.source(), Vector::Zero(1), 200,
       [&](OwnedChain& chain) {
         EXPECT_NEAR(before - chain.theta()(0), a * std::pow(20 + move, -0.55), 1e-12);
         before = chain.theta()(0);
         move += 1;
       });
}

// Without a gradient a move is the injected noise; the same random numbers at constant T = 1 tell
// what T_t was.
TEST(Annealing, noise_follows_the_temperature) {
  SamplerConfig annealed;
  annealed.step_size = 0.1;
  SamplerConfig constant = annealed;
  annealed.initial_temperature = 50;
  annealed.temperature = 2;
  annealed.annealing_steps = 10;
  annealed.annealing_exponent = 1.5;
  FunctionGradient gradient(1, [](const double*, double* g) { g[0] = 0.0; });
  const auto moves = [&](const SamplerConfig& config) {
    std::vector<double> lengths;
    double before = 0;
    walk("sgld", config, random_estimates(7, 1), gradient.source(), Vector::Zero(1), 100,
         [&](OwnedChain& chain) {
           lengths.push_back(chain.theta()(0) - before);
           before = chain.theta()(0);
         });
    return lengths;
  };
  const std::vector<double> hot = moves(annealed);
  const std::vector<double> usual = moves(constant);
  for (std::size_t t = 0; t < hot.size(); ++t) {
    const double temperature = 2 + 48 * std::pow(1 + static_cast<double>(t) / 10, -1.5);
    EXPECT_NEAR(hot[t] / usual[t], std::sqrt(temperature), 1e-7) << t;
  }
}

TEST(Annealing, samplers_that_do_not_anneal_say_so) {
  SamplerConfig config;
  config.initial_temperature = 10;
  for (const char* name : {"sgld-p", "msgld", "psgld", "rsgld", "csgld", "sghmc", "sgnht"}) {
    const auto checked = find_sampler(name)->check(config);
    ASSERT_FALSE(checked.ok()) << name;
    EXPECT_NE(std::string(checked.error().sentence).find("initial_temperature"), std::string::npos);
  }
  for (const char* name : {"sgld", "santa", "santa-e"}) {
    EXPECT_TRUE(find_sampler(name)->check(config).ok()) << name;
  }
}

TEST(CyclicalSgld, cycles_follow_the_cosine_and_only_noisy_moves_are_draws) {
  SamplerConfig config;
  config.temperature = 0;
  config.step_size = 0.2;
  config.cycle_steps = 40;
  config.exploration = 0.3;
  FunctionGradient gradient(1, [](const double*, double* g) { g[0] = 1.0; });
  double before = 0;
  int move = 0;
  walk("csgld", config, random_estimates(7, 1), gradient.source(), Vector::Zero(1), 120,
       [&](OwnedChain& chain) {
         const double share = (move % 40) / 40.0;
         EXPECT_NEAR(before - chain.theta()(0), 0.1 * (std::cos(M_PI * share) + 1), 1e-12);
         EXPECT_EQ(chain.get().is_draw, share >= 0.3) << move;
         before = chain.theta()(0);
         ++move;
       });
}

// Two wells that SGLD does not leave: the exploring part of a cycle crosses the barrier.
TEST(CyclicalSgld, sees_both_modes_where_sgld_sees_one) {
  OwnedEstimates e{Matrix::Constant(1, 1, 4.0), Matrix::Constant(1, 1, 200.0), 200, 10};
  const auto left_share = [&](const char* name, double step_size) {
    NoisyGradient gradient(e, [](const double* theta, double* g) {
      g[0] = theta[0] * (theta[0] * theta[0] - 1);  // modes at -1 and 1, barrier 50 in U
    });
    SamplerConfig config;
    config.step_size = step_size;
    config.cycle_steps = 1000;
    double left = 0;
    double draws = 0;
    walk(name, config, e, gradient.source(), Vector::Ones(1), 100'000, [&](OwnedChain& chain) {
      if (!chain.get().is_draw) return;
      draws += 1;
      left += chain.theta()(0) < 0 ? 1 : 0;
    });
    return left / draws;
  };
  EXPECT_EQ(left_share("sgld", 0.002), 0.0);
  EXPECT_NEAR(left_share("csgld", 0.12), 0.5, 0.35);
}

TEST(RmspropSgld, is_biased_less_the_slower_its_preconditioner_moves) {
  const OwnedEstimates e{Matrix::Identity(1, 1), Matrix::Identity(1, 1), 100, 10};
  double error[2];
  for (int i = 0; i < 2; ++i) {
    SamplerConfig config;
    config.smoothing = i == 0 ? 0.5 : 0.9999;
    const double variance = 100 * walked_covariance("psgld", config, e, 1'500'000)(0, 0);
    error[i] = std::abs(variance - 1.0);
  }
  EXPECT_LT(error[1], kStepBias + 0.03);
  EXPECT_GT(error[0], 2 * error[1]);
}

TEST(RiemannianSgld, without_a_metric_is_preconditioned_sgld) {
  const OwnedEstimates e = random_estimates(8, 5);
  Vector ends[2];
  for (int i = 0; i < 2; ++i) {
    NoisyGradient gradient(e);
    walk(i == 0 ? "rsgld" : "sgld-p", SamplerConfig{}, e, gradient.source(), Vector::Ones(5), 500,
         [&](OwnedChain& chain) { ends[i] = chain.theta(); });
  }
  EXPECT_LT(relative_difference(ends[0], ends[1]), 1e-11);
}

// Neal's funnel, v ~ N(0, 1), x ~ N(0, e^v), with a metric that depends on both of them through v.
class FunnelMetric final : public Metric {
 public:
  explicit FunnelMetric(bool with_divergence) : with_divergence_(with_divergence) {}
  void evaluate(const double* theta, double* root, double* divergence) const noexcept override {
    const double slope = std::tanh(theta[0]);
    root[0] = std::sqrt(1.0 + 0.9 * slope);
    root[1] = root[2] = 0;
    root[3] = std::exp(0.5 * theta[0]);
    divergence[0] = with_divergence_ ? 0.9 * (1.0 - slope * slope) : 0.0;
    divergence[1] = 0;
  }

 private:
  bool with_divergence_;
};

TEST(RiemannianSgld, samples_the_funnel_and_needs_the_divergence_for_it) {
  const OwnedEstimates e{Matrix::Identity(2, 2), Matrix::Zero(2, 2), 1, 1};
  for (const bool with_divergence : {true, false}) {
    const FunnelMetric metric(with_divergence);
    SamplerConfig config;
    config.metric = &metric;
    config.step_size = 0.01;
    FunctionGradient gradient(2, [](const double* theta, double* g) {
      const double inverse = std::exp(-theta[0]);
      g[0] = theta[0] + 0.5 - 0.5 * theta[1] * theta[1] * inverse;
      g[1] = theta[1] * inverse;
    });
    constexpr int kSteps = 2'000'000;
    double v = 0;
    double v2 = 0;
    double x2 = 0;
    walk("rsgld", config, e, gradient.source(), Vector::Zero(2), kSteps, [&](OwnedChain& chain) {
      const Vector& at = chain.theta();
      v += at(0) / kSteps;
      v2 += at(0) * at(0) / kSteps;
      x2 += at(1) * at(1) * std::exp(-at(0)) / kSteps;
    });
    if (!with_divergence) {
      EXPECT_LT(v, -0.3);
      continue;
    }
    // 20,000 time units, relaxation about 2: standard errors 0.015 and 0.02; the bias of the step
    // is of the order of h.
    EXPECT_NEAR(v, 0.0, 0.07);
    EXPECT_NEAR(v2, 1.0, 0.1);
    EXPECT_NEAR(x2, 1.0, 0.05);
  }
}

TEST(RiemannianSgld, own_metric_asks_for_a_step) {
  const FunnelMetric metric(true);
  SamplerConfig config;
  config.metric = &metric;
  EXPECT_FALSE(find_sampler("rsgld")->check(config).ok());
}

}  // namespace
}  // namespace windhover::langevin_test
