// Contract tests: every sampler of the registry. That of a chain's state is in chain_state_test.cc.
#include "windhover/samplers/registry.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "windhover/samplers/linear_algebra/linear_algebra.h"
#include "windhover/tests/samplers/heap_calls.h"
#include "windhover/tests/samplers/sampler_contract.h"

namespace windhover {

INSTANTIATE_TEST_SUITE_P(Registry, SamplerContract, testing::ValuesIn(sampler_names()),
                         [](const auto& name) { return test_name(name.param); });

namespace {

TEST(SamplerRegistry, names_are_unique_and_every_field_is_filled) {
  ASSERT_FALSE(sampler_registry().empty());
  for (const SamplerEntry& entry : sampler_registry()) {
    EXPECT_FALSE(entry.name.empty());
    EXPECT_EQ(find_sampler(entry.name), &entry) << "a second entry of the name " << entry.name;
    EXPECT_FALSE(entry.approximates.empty()) << entry.name;
    EXPECT_FALSE(entry.cost_per_step.empty()) << entry.name;
    EXPECT_FALSE(entry.memory.empty()) << entry.name;
    EXPECT_FALSE(entry.source.empty()) << entry.name;
  }
  EXPECT_EQ(find_sampler("no such sampler"), nullptr);
  EXPECT_NE(find_sampler(SamplerConfig{}.name), nullptr) << "the default must exist";
}

TEST_P(SamplerContract, default_configuration_is_accepted) {
  EXPECT_TRUE(entry.check(SamplerConfig{}).ok());
  EXPECT_TRUE(entry.check(noiseless()).ok());
}

// A value that makes no sense is refused by whoever reads the field; for the others nothing may
// depend on it.
TEST_P(SamplerContract, nonsense_is_refused_or_not_read) {
  const Vector usual = path(SamplerConfig{});
  for (const double bad : {-1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    for (double SamplerConfig::*field :
         {&SamplerConfig::injected_noise, &SamplerConfig::noise_scale,
          &SamplerConfig::step_size_max, &SamplerConfig::step_size, &SamplerConfig::step_decay,
          &SamplerConfig::step_offset, &SamplerConfig::temperature,
          &SamplerConfig::initial_temperature, &SamplerConfig::annealing_steps,
          &SamplerConfig::annealing_exponent, &SamplerConfig::friction, &SamplerConfig::smoothing,
          &SamplerConfig::preconditioner_floor, &SamplerConfig::exploration,
          &SamplerConfig::momentum}) {
      SamplerConfig config;
      config.*field = bad;
      const auto checked = entry.check(config);
      if (!checked.ok()) {
        EXPECT_EQ(checked.status(), Status::kInvalidConfig);
        EXPECT_STRNE(checked.error().sentence, "");
        continue;
      }
      EXPECT_EQ(path(config), usual) << "reads a field that its check let pass";
    }
  }
}

// The variances alone give the law that the whole of C gives, or the configuration is refused by
// the name of the field.
TEST_P(SamplerContract, diagonal_noise_is_enough_or_refused) {
  SamplerConfig config;
  config.noise_structure = NoiseStructure::kDiagonal;
  const auto checked = entry.check(config);
  if (!checked.ok()) {
    EXPECT_EQ(checked.status(), Status::kInvalidConfig);
    EXPECT_NE(std::string_view(checked.error().sentence).find("noise_structure"),
              std::string_view::npos);
    return;
  }
  for (const std::uint64_t seed : {1, 2, 3}) {
    OwnedEstimates owned = ordinary_estimates();
    owned.noise = random_covariance(10 + seed, kDimension);
    const Vector variances = owned.noise.diagonal();
    Estimates diagonal = owned.view();
    diagonal.noise_covariance = nullptr;
    diagonal.noise_variances = variances.data();
    AnySampler& sampler = make(config);
    ASSERT_EQ(sampler.refresh(diagonal), Status::kOk);
    if (!entry.has_law) continue;
    const Law law = law_of(sampler, kDimension);
    const Law full = *law_of(entry.name, SamplerConfig{}, owned);
    EXPECT_EQ(law.h, full.h);
    EXPECT_EQ(law.injected, full.injected);
  }
}

TEST_P(SamplerContract, measured_memory_is_what_is_taken_and_what_is_said) {
  constexpr std::uint32_t d = 64;
  Arena measuring = Arena::measuring();
  EXPECT_EQ(entry.make(measuring, SamplerConfig{}, d), nullptr);
  Memory exact(measuring.used());
  EXPECT_NE(entry.make(exact.arena(), SamplerConfig{}, d), nullptr);
  EXPECT_FALSE(exact.arena().exhausted());
  // "4 D^2", "4 D" or "2 D b + 1 D r" doubles, up to terms of lower order.
  double said = 0;
  std::istringstream terms{std::string(entry.memory)};
  for (std::string term; std::getline(terms, term, '+');) {
    const auto times = [&term](const char* factor, double number) {
      return term.find(factor) != std::string::npos ? number : 1.0;
    };
    ASSERT_NE(term.find(" D"), std::string::npos) << entry.memory;
    said += 8 * std::stod(term) * d * times("D^2", d) * times("D b", SamplerConfig{}.block_size) *
            times("D r", SamplerConfig{}.rank);
  }
  const bool linear = entry.memory.ends_with(" D");
  const double lower_order = linear ? 512 : 8.0 * 4 * d + 512;
  EXPECT_LE(static_cast<double>(measuring.used()), said + lower_order);
  EXPECT_GE(static_cast<double>(measuring.used()), said);
}

TEST_P(SamplerContract, make_refresh_step_and_law_do_not_allocate) {
  if (!test_heap_calls()) GTEST_SKIP() << "sanitizers own the heap";
  for (const Index d : {Index{1}, Index{5}, Index{40}, Index{100}}) {
    const OwnedEstimates estimates = ordinary_estimates(d);
    Law law{Matrix(d, d), Matrix(d, d)};
    FixedGradient gradient(normals(3, d, 1));
    OwnedChain chain(entry, SamplerConfig{}, Vector::Zero(d));
    Rng rng(1);
    const auto before = test_heap_calls();
    AnySampler& sampler = make(SamplerConfig{}, d);
    const Status refreshed = sampler.refresh(estimates.view());
    sampler.start(chain.get(), rng);
    const Status stepped = sampler.step(chain.get(), gradient.source, rng);
    sampler.law(law.h.data(), law.injected.data());
    EXPECT_EQ(test_heap_calls(), before) << d;
    EXPECT_EQ(refreshed, Status::kOk);
    EXPECT_EQ(stepped, Status::kOk);
  }
}

// The dimension is so large that Eigen's products of matrices no longer do with the stack.
TEST_P(SamplerContract, many_parameters_do_not_allocate) {
  if (!test_heap_calls()) GTEST_SKIP() << "sanitizers own the heap";
  constexpr Index kMany = 1000;
  static const OwnedEstimates estimates = ordinary_estimates(kMany);
  SamplerConfig config;
  config.rank = 16;
  FixedGradient gradient(normals(3, kMany, 1));
  OwnedChain chain(entry, config, Vector::Zero(kMany));
  Rng rng(1);
  Arena measuring = Arena::measuring();
  EXPECT_EQ(entry.make(measuring, config, kMany), nullptr);
  Memory own(measuring.used());
  const auto before = test_heap_calls();
  AnySampler& sampler = *entry.make(own.arena(), config, kMany);
  const Status refreshed = sampler.refresh(estimates.view());
  sampler.start(chain.get(), rng);
  const Status stepped = sampler.step(chain.get(), gradient.source, rng);
  EXPECT_EQ(test_heap_calls(), before);
  EXPECT_EQ(refreshed, Status::kOk);
  EXPECT_EQ(stepped, Status::kOk);
}

TEST_P(SamplerContract, no_gradient_and_no_noise_leave_theta_unmoved) {
  SamplerConfig cold;
  cold.temperature = 0.5;
  if (entry.check(cold).ok() && noiseless().temperature != 0) {
    GTEST_SKIP() << "its noise belongs to it";  // no thermostat without heat
  }
  AnySampler& sampler = make(noiseless());
  ASSERT_EQ(sampler.refresh(ordinary_estimates().view()), Status::kOk);
  if (entry.has_law && !law_of(sampler, kDimension).injected.isZero(0)) {
    GTEST_SKIP() << "its noise belongs to it";
  }
  FixedGradient gradient(Vector::Zero(kDimension));
  const Vector start = normals(4, kDimension, 1);
  OwnedChain chain(entry, noiseless(), start);
  Rng rng(1);
  sampler.start(chain.get(), rng);
  for (int step = 0; step < 10; ++step) {
    ASSERT_EQ(sampler.step(chain.get(), gradient.source, rng), Status::kOk);
  }
  EXPECT_EQ(chain.theta(), start);
}

// relaxation() and n / S are how long the slowest direction takes to forget, within a factor that
// no diagnostic notices: from the moves' own matrix, whose eigenvalues tell.
TEST_P(SamplerContract, slowest_direction_forgets_as_fast_as_it_says) {
  if (!entry.has_law) GTEST_SKIP() << "its coefficients are not constant";
  constexpr Index d = 6;
  for (const double condition : {1.0, 100.0, 1e4}) {
    OwnedEstimates estimates{random_covariance(1, d), random_covariance(1, d), 20'000, 100};
    const Vector scale = Vector::NullaryExpr(d, [&](Index j) {
      return std::pow(condition, -0.5 * static_cast<double>(j) / static_cast<double>(d - 1));
    });
    for (Matrix* m : {&estimates.curvature, &estimates.noise}) {
      *m = scale.asDiagonal() * *m * scale.asDiagonal();
    }
    AnySampler& sampler = make(SamplerConfig{}, d);
    ASSERT_EQ(sampler.refresh(estimates.view()), Status::kOk);
    const double beta = sampler.momentum();
    Matrix moves = Matrix::Zero(2 * d, 2 * d);
    moves.topLeftCorner(d, d) =
        (1 + beta) * Matrix::Identity(d, d) - law_of(sampler, d).h * estimates.curvature;
    moves.topRightCorner(d, d) = -beta * Matrix::Identity(d, d);
    moves.bottomLeftCorner(d, d).setIdentity();
    const double radius = spectral_radius(moves);
    ASSERT_LT(radius, 1.0);
    const double exact = -1 / std::log(radius);
    const double window = estimates.n / estimates.minibatch_size;
    const double said = std::max(window, sampler.relaxation());
    EXPECT_GE(said, 0.9 * exact) << condition;
    EXPECT_LE(said, 3 * std::max(exact, window)) << condition;
  }
}

// Without a matrix it is the same law, and memory that is not a number does no harm.
TEST_P(SamplerContract, applies_its_law_as_it_says_it) {
  if (!entry.has_law) GTEST_SKIP() << "its coefficients are not constant";
  for (const Index d : {Index{1}, Index{7}, Index{40}}) {
    AnySampler& sampler = make(SamplerConfig{}, d);
    ASSERT_EQ(sampler.refresh(ordinary_estimates(d).view()), Status::kOk);
    const Law law = law_of(sampler, d);
    const Vector direction = normals(5, d, 1);
    const Vector expected = law.h * direction;
    const Vector covered = law.injected * expected;
    Vector vector = direction;
    Vector noise = Vector::Constant(d, std::numeric_limits<double>::quiet_NaN());
    Vector room = noise;
    const auto before = test_heap_calls();
    sampler.apply_law(vector.data(), noise.data(), room.data());
    EXPECT_EQ(test_heap_calls(), before) << d;
    EXPECT_LT((vector - expected).norm(), 1e-10 * expected.norm()) << d;
    EXPECT_LE((noise - covered).norm(), 1e-10 * covered.norm()) << d;
  }
}

// The mean of many moves is -H g and their covariance H E H: law() is what step() does.
TEST_P(SamplerContract, moves_by_its_law) {
  if (!entry.has_law) GTEST_SKIP() << "its coefficients are not constant";
  AnySampler& sampler = make(SamplerConfig{});
  ASSERT_EQ(sampler.refresh(ordinary_estimates().view()), Status::kOk);
  const Law law = law_of(sampler, kDimension);
  const Vector g = normals(5, kDimension, 1);
  FixedGradient gradient(g);
  constexpr int kMoves = 20'000;
  OwnedChain chain(entry, SamplerConfig{}, Vector::Zero(kDimension));
  Vector& theta = chain.theta();
  Vector mean = Vector::Zero(kDimension);
  Matrix second = Matrix::Zero(kDimension, kDimension);
  const Vector expected = -law.h * g;
  for (int move = 0; move < kMoves; ++move) {
    Rng rng(9, {.step = static_cast<std::uint64_t>(move), .purpose = Purpose::kInjectedNoise});
    theta.setZero();
    sampler.start(chain.get(), rng);
    ASSERT_EQ(sampler.step(chain.get(), gradient.source, rng), Status::kOk);
    mean += (theta - expected) / kMoves;
    second += (theta - expected) * (theta - expected).transpose() / kMoves;
  }
  const Matrix covariance = law.h * law.injected * law.h.transpose();
  const Vector deviation = covariance.diagonal().cwiseSqrt();
  for (Index j = 0; j < kDimension; ++j) {
    // Five standard errors of a mean and of a covariance, 1 / sqrt(n) and at most sqrt(2 / n).
    EXPECT_NEAR(mean(j), 0.0, 5 * deviation(j) / std::sqrt(kMoves) + 1e-14);
    for (Index i = 0; i < kDimension; ++i) {
      EXPECT_NEAR(second(i, j), covariance(i, j),
                  5 * deviation(i) * deviation(j) * std::sqrt(2.0 / kMoves) + 1e-28);
    }
  }
}

TEST_P(SamplerContract, same_random_numbers_give_the_same_path) {
  AnySampler& sampler = make(SamplerConfig{});
  ASSERT_EQ(sampler.refresh(ordinary_estimates().view()), Status::kOk);
  FixedGradient gradient(normals(5, kDimension, 1));
  OwnedChain first(entry, SamplerConfig{}, Vector::Zero(kDimension));
  OwnedChain second(entry, SamplerConfig{}, Vector::Zero(kDimension));
  for (OwnedChain* chain : {&first, &second}) {
    Rng rng(7);
    sampler.start(chain->get(), rng);
    for (int step = 0; step < 20; ++step) {
      ASSERT_EQ(sampler.step(chain->get(), gradient.source, rng), Status::kOk);
    }
  }
  EXPECT_EQ(first.theta(), second.theta());
  EXPECT_EQ(first.state(), second.state());
}

TEST_P(SamplerContract, theta_that_is_not_finite_is_reported) {
  AnySampler& sampler = make(SamplerConfig{});
  ASSERT_EQ(sampler.refresh(ordinary_estimates().view()), Status::kOk);
  for (const double bad : {static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    FixedGradient gradient(bad * Vector::Unit(kDimension, 3));
    OwnedChain chain(entry, SamplerConfig{}, Vector::Zero(kDimension));
    Rng rng(1);
    sampler.start(chain.get(), rng);
    EXPECT_EQ(sampler.step(chain.get(), gradient.source, rng), Status::kDiverged) << bad;
  }
}

TEST_P(SamplerContract, impossible_estimates_are_refused_and_change_nothing) {
  AnySampler& sampler = make(SamplerConfig{});
  ASSERT_EQ(sampler.refresh(ordinary_estimates().view()), Status::kOk);
  const Vector before = path(sampler, SamplerConfig{});
  for (const double bad : {-1.0, static_cast<double>(NAN)}) {
    OwnedEstimates curvature = ordinary_estimates();
    curvature.curvature(2, 2) = bad;
    OwnedEstimates noise = ordinary_estimates();
    noise.noise(2, 2) = bad;
    for (const OwnedEstimates& estimates : {curvature, noise}) {
      const Status status = sampler.refresh(estimates.view());
      const Vector after = path(sampler, SamplerConfig{});
      if (ok(status)) {
        // It does not need that number, then its law must make sense.
        EXPECT_TRUE(after.allFinite()) << bad;
        if (entry.has_law) {
          const Law law = law_of(sampler, kDimension);
          EXPECT_TRUE(law.h.allFinite() && law.injected.allFinite()) << bad;
          EXPECT_EQ(law.h.llt().info(), Eigen::Success) << bad;
        }
        ASSERT_EQ(sampler.refresh(ordinary_estimates().view()), Status::kOk);
      } else {
        EXPECT_EQ(status, Status::kNotPositiveDefinite);
        EXPECT_EQ(after, before) << bad;
      }
    }
  }
}

// Directions without gradient noise: an unseen category, a collinear column, separable data. With
// correlated features, so that a diagonal cap has to look beyond the diagonal.
TEST_P(SamplerContract, missing_noise_never_makes_it_unstable) {
  constexpr Index d = 8;
  Matrix correlated = Matrix::Constant(d, d, 0.9);
  correlated.diagonal().setOnes();
  std::vector<Matrix> degenerate = {Matrix::Zero(d, d), 1e-12 * random_covariance(3, d)};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    degenerate.push_back(random_singular(10 + seed, d, 1 + static_cast<Index>(seed) % (d - 1)));
  }
  Matrix unseen = random_covariance(4, d);
  unseen.row(2).setZero();
  unseen.col(2).setZero();
  degenerate.push_back(unseen);
  SamplerConfig bounded;
  bounded.step_size_max = 0.5;
  for (const SamplerConfig& config : {SamplerConfig{}, noiseless(), bounded}) {
    if (!entry.check(config).ok()) continue;
    for (std::size_t i = 0; i < degenerate.size(); ++i) {
      if (!entry.has_law) {
        stays_near_the_mode(config, {correlated, degenerate[i], 1000, 50});
        continue;
      }
      const auto law = law_of(entry.name, config, {correlated, degenerate[i], 1000, 50});
      ASSERT_TRUE(law.has_value()) << i;
      const Matrix root = correlated.llt().matrixL();
      const Vector rates = symmetric_eigen(root.transpose() * law->h * root).eigenvalues();
      EXPECT_GT(rates(0), 0.0) << i;
      // eig(HA) = 2 (1 + momentum) exactly is the bare optimum where nothing makes noise.
      const double momentum = make(config).momentum();
      EXPECT_LE(rates(d - 1), 2.0 * (1 + momentum) + 1e-9) << i;
    }
  }
}

}  // namespace
}  // namespace windhover
