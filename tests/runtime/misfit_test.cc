#include "windhover/runtime/diagnostics/misfit.h"

#include <cmath>
#include <limits>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::misfit_test {
namespace {

Provenance fit(const EngineConfig& config, const Data& data) {
  TestEngine engine(config);
  engine.feed(data);
  engine.poll_until_idle();
  return engine.provenance();
}

TEST(Misfit, KnowsNothingOfWhatIsUnknown) {
  EXPECT_FALSE(misfits(0, 1e6));
  EXPECT_FALSE(misfits(std::numeric_limits<double>::quiet_NaN(), 1e6));
  EXPECT_FALSE(misfits(1, 1));
}

TEST(Misfit, NoiseVarianceThatIsGivenFarTooSmallOrTooLargeIsNotOk) {
  const Data data = linear_data(4'000, 3, 1.0, 21);
  EngineConfig config = small_config("linear", 3, 4'000);
  for (const double variance : {1.0, 1.0 / 20, 20.0}) {
    config.model.noise_variance = variance;
    const Provenance p = fit(config, data);
    EXPECT_NEAR(p.misspecification_index * variance, 1, 0.15);
    EXPECT_EQ(p.reason, variance == 1 ? StatusReason::kNone : StatusReason::kMisfit)
        << variance << " " << to_string(p.reason);
  }
}

// sd is too small by a fifth for the parameter that the noise depends on; sd_robust is not.
TEST(Misfit, NoiseInProportionToAFeatureIsWhatSdRobustIsFor) {
  Data data = linear_data(4'000, 3, 0.0, 22);
  data.y += data.x.col(0).cwiseProduct(normals(23, 4'000));
  EngineConfig config = small_config("linear", 3, 4'000);
  config.model.noise_variance = 0;
  const Provenance p = fit(config, data);
  EXPECT_GT(p.misspecification_index, 1.3);
  EXPECT_EQ(p.reason, StatusReason::kNone) << to_string(p.reason);
}

// Counts of twice the variance of Poisson's go on being ok, those of twenty times it do not.
TEST(Misfit, CountsThatScatterMoreThanPoissonsAreNotOkWhereSdIsFarTooSmall) {
  for (const double overdispersion : {2.0, 20.0}) {
    Data data = linear_data(4'000, 2, 0.0, 24);
    const VectorXd z = normals(25, data.rows());
    for (Index i = 0; i < data.rows(); ++i) {
      const double mean = 400 * std::exp(0.2 * data.x(i, 0));
      data.y[i] = std::max(0.0, std::round(mean + std::sqrt(overdispersion * mean) * z[i]));
    }
    EngineConfig config = small_config("poisson", 2, 4'000);
    config.model.prior_precision = config.model.intercept_precision = 0;
    const Provenance p = fit(config, data);
    EXPECT_NEAR(p.misspecification_index / overdispersion, 1, 0.15);
    EXPECT_EQ(p.reason, overdispersion < 4 ? StatusReason::kNone : StatusReason::kMisfit)
        << to_string(p.reason);
  }
}

}  // namespace
}  // namespace windhover::test::misfit_test
