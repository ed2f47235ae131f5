// Rows with a weight: the posterior is that of so many equal rows, in every horizon; what is known
// of the noise, and sd_robust, likewise.
#include "windhover/tests/runtime/weight_fixture.h"

namespace windhover::test::weight_test {
namespace {

TEST(Weight, PosteriorOfAWindowIsThatOfSoManyEqualRows) {
  for (const std::string model : kModels) {
    Data data = weighted_rows(model, 400, 11);
    EngineConfig config = default_prior(model, 2'000);
    config.model.offset = model != "softmax" && model != "binomial";
    if (config.model.offset) data.offset = 0.3 * normals(15, data.rows());
    TestEngine weighted(with_weight(config));
    TestEngine equal(config);
    units_test::fit_all(weighted, data);
    units_test::fit_all(equal, equal_rows(data));
    Provenance found_of;
    Provenance expected_of;
    const auto found = weighted.parameters(&found_of);
    const auto expected = equal.parameters(&expected_of);
    for (std::size_t j = 0; j < expected.size(); ++j) {
      EXPECT_NEAR(found[j].mode, expected[j].mode, 1e-4 * expected[j].sd) << model << j;
      EXPECT_NEAR(found[j].mean, expected[j].mean, 1e-4 * expected[j].sd) << model << j;
      EXPECT_NEAR(found[j].sd, expected[j].sd, 1e-5 * expected[j].sd) << model << j;
    }
    EXPECT_NEAR(found_of.noise_variance, expected_of.noise_variance,
                1e-5 * expected_of.noise_variance)
        << model;
    EXPECT_NEAR(found_of.noise_variance_sd, expected_of.noise_variance_sd,
                1e-5 * expected_of.noise_variance_sd)
        << model;
    EXPECT_EQ(found_of.n_eff, 400U) << model;  // rows
    EXPECT_EQ(weighted->counters().get(RuntimeCounter::kDivergences), 0U) << model;
  }
}

// A and the gradient, sum by sum.
TEST(Weight, SumsOfAWindowAreThoseOfEqualRows) {
  const Data data = weighted_rows("linear", 300, 21);
  const EngineConfig config = small_config("linear", 3, 2'000);
  TestEngine weighted(with_weight(config));
  TestEngine equal(config);
  units_test::fit_all(weighted, data);
  units_test::fit_all(equal, equal_rows(data));
  const Estimator& found = weighted->learner().view().estimator();
  const Estimator& expected = equal->learner().view().estimator();
  EXPECT_EQ(found.done().weight(), expected.done().rows());
  EXPECT_EQ(found.done().rows(), 300);
  EXPECT_EQ(found.laplace().weight(), data.weight.sum());
  for (std::uint32_t j = 0; j < 4; ++j) {
    for (std::uint32_t i = 0; i < 4 - j; ++i) {
      const double sum = expected.done().curvature_below(j)[i];
      EXPECT_NEAR(found.done().curvature_below(j)[i], sum, 1e-12 * std::abs(sum) + 1e-9);
    }
  }
}

// Thresholds as in PoissonPosterior's test of the same. Weights of 50 make the chains' noise 50
// times what the curvature says, from the first move on.
TEST(Weight, SpreadOfTheDrawsIsThePosteriors) {
  for (const char* sampler : {"calibrated", "sgfs-f", "sgld"}) {
    for (const double scale : {1.0, 50.0}) {
      if (sampler == std::string("sgld") && scale != 1) continue;  // its step is given
      Data data = weighted_rows("linear", 500, 31);
      data.weight *= scale;
      EngineConfig config = with_weight(small_config("linear", 3, 500));
      config.sampler.name = sampler;
      config.sampler.step_size = sampler == std::string("sgld") ? 0.002 : 0;
      config.draws_per_observation = 0;
      TestEngine engine(config);
      const Gaussian drawn = drawn_of(engine, data, scale > 1 ? 200'000 : 30'000);
      MatrixXd precision = data.design().transpose() * data.weight.asDiagonal() * data.design() /
                           config.model.noise_variance;
      precision.diagonal() += prior_precisions(4, config.model);
      const MatrixXd covariance = precision.inverse();
      const VectorXd mean = covariance *
                            (data.design().transpose() * data.weight.cwiseProduct(data.y)) /
                            config.model.noise_variance;
      for (Index j = 0; j < 4; ++j) {
        const double sd = std::sqrt(covariance(j, j));
        EXPECT_NEAR(drawn.mean[j], mean[j], 0.15 * sd) << sampler << scale << j;
        EXPECT_NEAR(std::sqrt(drawn.covariance(j, j)) / sd, 1.0, 0.08) << sampler << scale << j;
      }
      EXPECT_EQ(engine->counters().get(RuntimeCounter::kDivergences), 0U) << sampler << scale;
    }
  }
}

// What is left of a window through which all rows have gone, a few at a time, is what the last of
// them alone come to; how much that weighs.
double expect_last_rows_alone(const EngineConfig& config, const Data& data, Index together) {
  const auto window = static_cast<Index>(config.window_size);
  TestEngine engine(config);
  for (Index i = 0; i < data.rows(); i += together) {
    engine.feed(data, i, i + together);
    engine->poll(64);
  }
  engine.poll_until_idle();
  TestEngine newest(config);
  newest.feed(data, data.rows() - window, data.rows());
  newest.poll_until_idle();
  const auto found = engine.parameters();
  const auto expected = newest.parameters();
  for (std::size_t j = 0; j < expected.size(); ++j) {
    EXPECT_NEAR(found[j].mode, expected[j].mode, 0.01 * expected[j].sd) << j;
    EXPECT_NEAR(found[j].sd, expected[j].sd, 0.01 * expected[j].sd) << j;
  }
  return engine->learner().view().estimator().done().weight();
}

TEST(Weight, RowsThatLeaveAWindowTakeTheirWeightAlong) {
  for (const char* model : {"linear", "poisson"}) {
    SCOPED_TRACE(model);
    const Data data = weighted_rows(model, 900, 41);
    const double left = expect_last_rows_alone(with_weight(small_config(model, 3, 300)), data, 30);
    EXPECT_NEAR(left, data.weight.tail(300).sum(), 1e-9);
  }
}

// Without a window rows are linearised where they are first seen, but for a linear model.
TEST(Weight, PosteriorOfAllRowsIsThatOfSoManyEqualRows) {
  for (const std::string model : kModels) {
    const Data data = weighted_rows(model, 1'000, 51);
    EngineConfig config = small_config(model.c_str(), 3, 4'000);
    config.model.classes = 3;
    config.model.noise_variance = 0;
    TestEngine equal(config);
    units_test::fit_all(equal, equal_rows(data));
    config.horizon = Horizon::kAll;
    config.sampler.chains = 0;
    TestEngine weighted(with_weight(config));
    weighted.feed(data);
    weighted.poll_until_idle();
    const auto found = weighted.parameters();
    const auto expected = equal.parameters();
    const bool exact = model == "linear" || model == "log-normal";
    // Where variances, or structural zeros, were taken from rows when the mean was less well known,
    // the first rows keep it so: of 5 streams the worst is off by 0.9.
    const bool joint = model == "heteroscedastic" || model == "zero-inflated-poisson";
    const double off = exact ? 1e-3 : joint ? 1.0 : 0.5;
    for (std::size_t j = 0; j < expected.size(); ++j) {
      EXPECT_NEAR(found[j].mode, expected[j].mode, off * expected[j].sd) << model << j;
      EXPECT_NEAR(found[j].sd, expected[j].sd, (exact ? 1e-3 : 0.1) * expected[j].sd) << model << j;
    }
    EXPECT_EQ(weighted->counters().get(RuntimeCounter::kRowsSetAside), 0U) << model;
  }
}

// Variances of 512 draws over those of the sandwich, or with noise of covariance A the posterior's:
// of 4 parameters and 5 streams their mean has a standard error of 0.014. Rows without weights come
// to 1.01, and where they are forgotten to 1.03, within 0.006.
TEST(Weight, ChainsThatSeeRowsOnceSpreadAsOfSoManyEqualRows) {
  for (const SinglePassNoise noise : {SinglePassNoise::kWeights, SinglePassNoise::kNoiseCovariance,
                                      SinglePassNoise::kCurvature}) {
    for (const Horizon horizon : {Horizon::kAll, Horizon::kFading}) {
      for (const double scale : {1.0, 30.0, 0.05}) {
        double mean = 0;
        double index = 0;
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
          Data data = weighted_rows("linear", 3'000, 100 * seed);
          data.weight *= scale;
          EngineConfig config = with_weight(small_config("linear", 3, 1'000));
          config.horizon = horizon;
          config.single_pass_noise = noise;
          config.seed = seed;
          config.sampler.chains = 0;
          config.retained_draws = 512;
          config.model.noise_variance = 0;
          TestEngine engine(config);
          engine.feed(data);
          engine.poll_until_idle();
          const RowMatrix draws = engine.draws();
          Provenance provenance;
          const auto parameters = engine.parameters(&provenance);
          for (Index j = 0; j < 4; ++j) {
            const ParameterSummary& p = parameters[static_cast<std::size_t>(j)];
            const double sd = noise == SinglePassNoise::kCurvature ? p.sd : p.sd_robust;
            const double centre = draws.col(j).mean();
            mean += (draws.col(j).array() - centre).square().mean() / (sd * sd) / 20;
          }
          index += provenance.misspecification_index / 5;
          EXPECT_EQ(provenance.status, PosteriorStatus::kOk)
              << to_string(provenance.reason) << scale;
        }
        const double usual = horizon == Horizon::kAll ? 1.01 : 1.03;
        EXPECT_NEAR(mean, usual, 4 * 0.014 + 0.006)
            << static_cast<int>(noise) << static_cast<int>(horizon) << scale;
        // Tr(A^-1 C) / 4 of 1,000 effective rows, or 600 where weights differ: variance 2 / 600 / 4
        // a stream, and as much again for fading.
        EXPECT_NEAR(index, 1, 4 * std::sqrt(2 * 2 / 600.0 / 4 / 5)) << scale;
      }
    }
  }
}

// Weights that are all the same change how wide the posterior is, not how long its memory is.
TEST(Weight, OfAnAdaptiveHorizonChooseNoOtherMemory) {
  Data data = weighted_rows("linear", 3'000, 71);
  data.y.tail(1'500).array() += 3;
  for (const double noise : {1.0, 0.0}) {
    EngineConfig config = small_config("linear", 3, 1'024);
    config.horizon = Horizon::kAdaptive;
    config.model.noise_variance = noise;
    config.model.prior_precision = config.model.intercept_precision = 1e-6;
    Data plain = data;
    plain.weight = {};
    data.weight.setConstant(3);
    TestEngine once(config);
    TestEngine thrice(with_weight(config));
    for (Index i = 0; i < 3'000; i += 50) {
      once.feed(plain, i, i + 50);
      thrice.feed(data, i, i + 50);
      once.poll_until_idle();
      thrice.poll_until_idle();
    }
    const auto resizes = [](TestEngine& engine) {
      return engine->counters().get(RuntimeCounter::kResizes);
    };
    EXPECT_GT(resizes(once), 0U);
    EXPECT_EQ(resizes(thrice), resizes(once));
    const auto found = thrice.parameters();
    const auto expected = once.parameters();
    for (std::size_t j = 0; j < 4; ++j) {
      EXPECT_NEAR(found[j].mode, expected[j].mode, 1e-3 * expected[j].sd) << j;
      EXPECT_NEAR(found[j].sd, expected[j].sd / std::sqrt(3.0), 0.01 * found[j].sd) << j;
    }
  }
}

// Noise in proportion to a feature: sd is too small by a factor that is the same of weighted rows
// and of equal ones. Weights say nothing about the noise, so that the two sandwiches agree up to
// chance: of 4,000 rows sum w_i r_i^2 x_i^2 has a standard error of some 4 %.
TEST(Weight, RobustSdIsThatOfSoManyEqualRows) {
  Data data = weighted_rows("linear", 4'000, 81);
  const VectorXd eta = data.design() * data.truth;
  data.y = eta + data.x.col(0).cwiseProduct(normals(85, 4'000));
  for (const bool all_the_same : {true, false}) {
    if (all_the_same) data.weight.setConstant(2);
    EngineConfig config = small_config("linear", 3, 20'000);
    config.window_slack = 20'000;
    config.model.noise_variance = 0;
    TestEngine weighted(with_weight(config));
    TestEngine equal(config);
    units_test::fit_all(weighted, data);
    units_test::fit_all(equal, equal_rows(data));
    Provenance found_of;
    Provenance expected_of;
    const auto found = weighted.parameters(&found_of);
    const auto expected = equal.parameters(&expected_of);
    const double tolerance = all_the_same ? 0.03 : 0.1;
    for (std::size_t j = 0; j < 4; ++j) {
      EXPECT_NEAR(found[j].sd_robust / expected[j].sd_robust, 1, tolerance) << j;
    }
    EXPECT_GT(found[0].sd_robust, 1.4 * found[0].sd);
    EXPECT_NEAR(found_of.misspecification_index / expected_of.misspecification_index, 1, tolerance);
    // The sandwich itself, of w_i^2 g_i g_i', times sum w / sum w^2.
    const Estimator& estimator = weighted->learner().view().estimator();
    const VectorXd mode = Eigen::Map<const VectorXd>(estimator.laplace().mode(), 4);
    const VectorXd g =
        data.weight.cwiseProduct(data.design() * mode - data.y) / found_of.noise_variance;
    const MatrixXd p = Eigen::Map<const MatrixXd>(estimator.laplace().covariance(), 4, 4);
    const MatrixXd meat = data.design().transpose() * g.cwiseAbs2().asDiagonal() * data.design() *
                          (data.weight.sum() / data.weight.squaredNorm());
    const MatrixXd sandwich = p * meat * p;
    VectorXd sd(4);
    estimator.checks().sandwich_sd(sd.data());
    for (Index j = 0; j < 4; ++j) {
      // C is averaged along the chains, which stray from the mode by 4 / 4000 of it.
      EXPECT_NEAR(sd[j], std::sqrt(sandwich(j, j)), 0.01 * sd[j]) << j;
    }
    data.weight = (4 * uniforms(84, 4'000)).array().floor() + 1;
  }
}

// The largest and the smallest weight side by side: what is left of a window of both is worth what
// a window of the latter is.
TEST(Weight, OfEverySizeInOneWindow) {
  Data data = weighted_rows("linear", 800, 91);
  data.weight.head(400).setConstant(kLargestWeight);
  data.weight.tail(400).setConstant(kLeastWeight);
  (void)expect_last_rows_alone(with_weight(small_config("linear", 3, 400)), data, 20);
}

// Where few rows weigh nearly all, the curvature of student-t, an expectation over y, may be far
// from that of the rows that are there: sds were up to a quarter too small. Nothing says that all
// is well.
TEST(Weight, OfStudentTTooUnevenIsNotOk) {
  for (const double spread : {0.0, 2.0}) {
    Data data = weighted_rows("student-t", 400, 41);
    data.weight = (spread * normals(44, 400)).array().exp();
    TestEngine engine(with_weight(default_prior("student-t", 400)));
    for (Index i = 0; i < 400; i += 20) {
      engine.feed(data, i, i + 20);
      engine->poll(64);
    }
    engine.poll_until_idle();
    Provenance p;
    (void)engine.parameters(&p);
    const double equal = std::pow(data.weight.sum(), 2) / data.weight.squaredNorm();
    EXPECT_EQ(equal<100, spread> 0) << equal;
    EXPECT_EQ(p.reason, spread > 0 ? StatusReason::kLawUnknown : StatusReason::kNone)
        << to_string(p.reason);
    EXPECT_EQ(std::isnan(p.law_ratio), spread > 0);
  }
}

// When the weights of all rows change their scale, the gradients' covariance goes with its square:
// a model that holds has an index of 1, also while the sums of before are still looked at. The
// index is a mean over four parameters of the variance of 3,000 gradients: 1 +- 0.02.
TEST(Weight, WeightsThatChangeTheirScaleAreNoMisfit) {
  Data data = weighted_rows("logistic", 9'000, 31);
  data.weight.setOnes();
  data.weight.head(3'000).setConstant(100);
  TestEngine engine(with_weight(default_prior("logistic", 3'000)));
  for (Index row = 0; row < data.rows(); row += 100) {
    engine.feed(data, row, row + 100);
    engine.poll_until_idle();
  }
  Provenance provenance;
  ASSERT_EQ(engine.reader().provenance(provenance), Status::kOk);
  EXPECT_NEAR(provenance.misspecification_index, 1, 0.1);
  EXPECT_EQ(provenance.status, PosteriorStatus::kOk) << to_string(provenance.reason);
}

}  // namespace
}  // namespace windhover::test::weight_test
