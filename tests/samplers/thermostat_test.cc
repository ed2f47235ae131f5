// SGNHT, mSGNHT and Santa: what the thermostat finds, what is left of the bias, and refinement.
#include <gtest/gtest.h>

#include <array>

#include "windhover/samplers/langevin/langevin.h"
#include "windhover/tests/samplers/walk.h"

namespace windhover::thermostat_test {
namespace {

// Two parameters with gradient noise of their own strengths.
OwnedEstimates two(double first, double second) {
  OwnedEstimates e{Matrix::Identity(2, 2), Matrix::Zero(2, 2), 1000, 10};
  e.noise.diagonal() << first, second;
  return e;
}

// n Var: 1 for the posterior. 1e6 moves at a relaxation of about 200: standard error 0.02.
Vector relative_variances(const char* name, const OwnedEstimates& e, const SamplerConfig& config,
                          int steps = 1'000'000) {
  return e.n * walked_covariance(name, config, e, steps).diagonal();
}

// A thermostat at alpha gives (1 - alpha / 2) times the posterior's variance, alpha = 2 kStepBias
// at the computed step.
TEST(Thermostat, absorbs_noise_of_one_strength) {
  for (const char* name : {"sgnht", "msgnht"}) {
    for (const double noise : {0.1, 1.0, 5.0}) {
      const Vector variances = relative_variances(name, two(noise, noise), SamplerConfig{});
      EXPECT_NEAR(variances.mean(), 1.0 - kStepBias, 0.05) << name << ' ' << noise;
    }
  }
}

TEST(Thermostat, finds_the_friction_that_the_noise_asks_for) {
  const OwnedEstimates e = two(1, 1);
  SamplerConfig config;
  config.step_size = 5e-4;
  double alpha = 0;
  NoisyGradient gradient(e);
  constexpr int kSteps = 300'000;
  walk("sgnht", config, e, gradient.source(), Vector::Zero(2), kSteps,
       [&](OwnedChain& chain) { alpha += chain.state()(2) / kSteps; });
  // a + (n / S) h c / 2, and the thermostat's own (1 + alpha / 2) or so.
  EXPECT_NEAR(alpha, kStepBias + 0.5 * 100 * 5e-4, 0.006);
}

// One thermostat averages over unequal noise: it overheats one parameter and cools the other, by
// (a + h k_j / 2) / alpha. One a parameter does not.
TEST(Thermostat, one_for_all_is_wrong_under_unequal_noise_and_one_each_is_right) {
  const OwnedEstimates e = two(1.8, 0.2);
  const Vector scalar = relative_variances("sgnht", e, SamplerConfig{});
  EXPECT_GT(scalar(0), 1.12);
  EXPECT_LT(scalar(1), 0.82);
  const Vector diagonal = relative_variances("msgnht", e, SamplerConfig{});
  EXPECT_NEAR(diagonal(0), 1.0 - kStepBias, 0.06);
  EXPECT_NEAR(diagonal(1), 1.0 - 0.5 * kStepBias, 0.06);
}

TEST(Thermostat, cold_posterior_has_the_temperature_in_its_variances) {
  SamplerConfig config;
  config.temperature = 0.25;
  for (const char* name : {"sgnht", "msgnht"}) {
    const Vector variances = relative_variances(name, two(1, 1), config);
    EXPECT_NEAR(variances.mean() / 0.25, 1.0 - kStepBias, 0.08) << name;
  }
}

// Santa at constant temperature 1 is a sampler of the posterior.
TEST(Santa, at_temperature_one_draws_from_the_posterior) {
  for (const char* name : {"santa", "santa-e"}) {
    const Vector variances = relative_variances(name, two(1, 2), SamplerConfig{}, 2'000'000);
    EXPECT_NEAR(variances(0), 1.0, 0.15) << name;
    EXPECT_NEAR(variances(1), 1.0, 0.15) << name;
  }
}

// Longer steps show the order: the symmetric scheme stays closer where Euler is far off.
TEST(Santa, symmetric_scheme_is_less_biased_than_euler) {
  OwnedEstimates e{Matrix::Identity(1, 1), Matrix::Identity(1, 1), 100, 10};
  SamplerConfig config;
  config.smoothing = 0.9999;  // a constant preconditioner: what is left is the scheme
  // g^2 = 1 / sqrt(0.11) = 3: a noise friction of 0.5 eta (n^2 / S) g^2 = 0.3.
  config.step_size = 2e-4;
  const double euler = 100 * walked_covariance("santa-e", config, e, 1'000'000)(0, 0);
  const double symmetric = 100 * walked_covariance("santa", config, e, 1'000'000)(0, 0);
  EXPECT_LT(std::abs(symmetric - 1), 0.5 * std::abs(euler - 1)) << symmetric << ' ' << euler;
}

// U = (t + 4)(t + 1)(t - 1)(t - 3) / 14 + 1/2 of the paper, its figure 1: global minimum at -2.94,
// local one at 2.22.
constexpr double kWells = 10;  // n: U = n L
FunctionModel::Gradient double_well() {
  return [](const double* theta, double* g) {
    const double t = theta[0];
    g[0] = (4 * t * t * t + 3 * t * t - 26 * t - 1) / 14 / kWells;
  };
}

TEST(Santa, annealing_leaves_the_wrong_well_and_refinement_settles_in_the_other) {
  const OwnedEstimates e{Matrix::Constant(1, 1, 0.3), Matrix::Constant(1, 1, 1e-4), kWells, 1};
  for (const char* name : {"santa", "santa-e"}) {
    int found = 0;
    for (const double start : {1.8, 1.9, 2.0, 2.1, 2.2}) {
      SamplerConfig config;
      config.step_size = 1e-3;
      config.smoothing = 0.999;
      config.preconditioner_floor = 1.0;
      config.initial_temperature = 20;
      config.temperature = 0;
      config.annealing_steps = 500;
      config.exploration_steps = 40'000;
      NoisyGradient gradient(e, double_well());
      double end = 0;
      bool draw = true;
      walk(name, config, e, gradient.source(), Vector::Constant(1, start), 60'000,
           [&](OwnedChain& chain) {
             end = chain.theta()(0);
             draw = chain.get().is_draw;
           });
      EXPECT_FALSE(draw) << "refined iterates are no draws";
      found += end < 0 ? 1 : 0;
      EXPECT_NEAR(end, end < 0 ? -2.94 : 2.22, 0.1) << name;
    }
    EXPECT_GE(found, 4) << name;
  }
}

TEST(Santa, refinement_alone_is_an_optimiser) {
  const OwnedEstimates e{Matrix::Constant(1, 1, 0.3), Matrix::Constant(1, 1, 1e-4), kWells, 1};
  NoisyGradient gradient(e, double_well());
  SamplerConfig config;
  config.step_size = 1e-3;
  config.preconditioner_floor = 1.0;
  config.initial_temperature = 1;  // what alpha holds u at; 0 in the end
  config.temperature = 0;
  double end = 0;
  walk("santa-r", config, e, gradient.source(), Vector::Constant(1, 1.5), 50'000,
       [&](OwnedChain& chain) {
         end = chain.theta()(0);
         EXPECT_FALSE(chain.get().is_draw);
       });
  EXPECT_NEAR(end, 2.22, 0.1);
}

// Networks need this, as their D x D numbers do not fit: with a step of its own nothing else is
// read of A and C.
TEST(GivenStep, diagonals_alone_do_the_same_as_matrices) {
  const OwnedEstimates full{Vector::LinSpaced(3, 1, 3).asDiagonal(),
                            Vector::LinSpaced(3, 2, 4).asDiagonal(), 500, 10};
  const Vector curvature = full.curvature.diagonal();
  const Vector noise = full.noise.diagonal();
  Estimates diagonals{.dimension = 3, .n = 500, .minibatch_size = 10};
  diagonals.curvature_diagonal = curvature.data();
  diagonals.noise_variances = noise.data();
  for (const char* name : {"sgld", "santa", "santa-e", "santa-r"}) {
    const SamplerEntry& entry = *find_sampler(name);
    std::array<Vector, 2> end;
    for (const bool matrices : {false, true}) {
      Memory memory;
      SamplerConfig config;
      config.step_size = 1e-4;
      AnySampler& sampler = *entry.make(memory.arena(), config, 3);
      ASSERT_EQ(sampler.refresh(matrices ? full.view() : diagonals), Status::kOk) << name;
      OwnedChain chain(entry, config, Vector::Ones(3));
      Rng rng(5, {.purpose = Purpose::kInitialState});
      sampler.start(chain.get(), rng);
      NoisyGradient gradient(full);
      for (int step = 0; step < 5; ++step) {
        ASSERT_EQ(sampler.step(chain.get(), gradient.source(), rng), Status::kOk) << name;
      }
      end[matrices ? 1 : 0] = chain.theta();
    }
    EXPECT_EQ(end[0], end[1]) << name;
    Memory memory;
    EXPECT_EQ(entry.make(memory.arena(), SamplerConfig{}, 3)->refresh(diagonals),
              Status::kInvalidConfig)
        << name << ": no step can be computed from diagonals";
  }
}

}  // namespace
}  // namespace windhover::thermostat_test
