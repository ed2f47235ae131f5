// The estimator alone: a refresh that fails leaves the estimates of the one before.
#include "windhover/runtime/learning/estimator.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "windhover/samplers/registry.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::estimator_test {
namespace {

constexpr std::uint32_t kFeatures = 3;
constexpr std::uint32_t kDimension = kFeatures + 1;

class FailedRefresh : public testing::TestWithParam<const char*> {
 protected:
  FailedRefresh()
      : config(with_defaults(configuration())),
        block(4 << 20),
        arena(block.bytes()),
        estimator(arena, config) {
    const ModelEntry& entry = *find_model(GetParam());
    model = entry.make(arena, config.model);
    entry.reset(*model);
    estimator.reset(config);
  }
  static EngineConfig configuration() {
    EngineConfig c = small_config(GetParam(), kFeatures, 400);
    c.model.prior_precision = 1;
    c.model.learn_prior_precision = true;
    return c;
  }
  void add_rows(std::uint64_t seed, std::size_t count, double size) {
    const RowLayout layout(config.model);
    std::vector<double> rows(count * layout.stride());
    std::vector<std::uint32_t> slots(count);
    std::iota(slots.begin(), slots.end(), 0U);
    for (std::size_t i = 0; i < count; ++i) {
      const VectorXd z = normals(1000 * seed + i, kDimension);
      double* row = rows.data() + i * layout.stride();
      for (Index j = 0; j < kFeatures; ++j) row[j] = size * z[j];
      row[kFeatures] = z[kFeatures] > 0 ? 1 : 0;
    }
    estimator.sums().done().add(*model, {rows.data(), slots.data(), slots.size()}, nullptr);
  }
  // All that samplers and snapshots read, but A.
  std::vector<double> numbers() const {
    const LaplaceApproximation& laplace = estimator.laplace();
    std::vector<double> all{laplace.n(),
                            laplace.newton_decrement(),
                            estimator.dispersion().value(),
                            estimator.dispersion().step(),
                            estimator.checks().prior_conflict(),
                            estimator.checks().misspecification_index()};
    const auto add = [&all](std::span<const double> of) {
      all.insert(all.end(), of.begin(), of.end());
    };
    for (const double* of_each : {laplace.mode(), laplace.mean(), estimator.prior().values()}) {
      add({of_each, kDimension});
    }
    add({laplace.covariance(), std::size_t{kDimension} * kDimension});
    add(estimator.noise().values());
    VectorXd solved = VectorXd::Ones(kDimension);
    laplace.factor().solve(solved.data());
    add({solved.data(), kDimension});
    VectorXd padded(static_cast<Index>(laplace.inverse_factor().stride()));
    const VectorXd one = VectorXd::Ones(padded.size());
    laplace.inverse_factor().whiten(one.data(), 1, padded.data());
    add({padded.data(), kDimension});
    return all;
  }

  EngineConfig config;
  MappedBlock block;
  Arena arena;
  Estimator estimator;
  Model* model;
};

TEST_P(FailedRefresh, leaves_what_was_before) {
  add_rows(1, 60, 1);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(estimator.refresh(60, 1.0), Status::kOk);
  const std::vector<double> before = numbers();
  const MatrixXd curvature =
      Eigen::Map<const MatrixXd>(estimator.laplace().curvature(), kDimension, kDimension);
  ASSERT_GT(curvature.norm(), 0);

  add_rows(2, 3, 1e200);  // squares overflow
  EXPECT_NE(estimator.refresh(63, 1.0), Status::kOk);
  EXPECT_TRUE(estimator.refresh_failed());
  EXPECT_EQ(numbers(), before);
  const Eigen::Map<const MatrixXd> restored(estimator.laplace().curvature(), kDimension,
                                            kDimension);
  EXPECT_LT((restored - curvature).norm(), 1e-13 * curvature.norm());
  EXPECT_EQ(restored, restored.transpose());

  // The next refresh is like that of an estimator that has seen no such rows.
  estimator.sums().done().begin(estimator.done().anchor(), estimator.done().dispersion());
  add_rows(1, 60, 1);
  ASSERT_EQ(estimator.refresh(60, 1.0), Status::kOk);
  EXPECT_FALSE(estimator.refresh_failed());
}

INSTANTIATE_TEST_SUITE_P(Models, FailedRefresh, testing::Values("linear", "student-t", "logistic"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace windhover::test::estimator_test
