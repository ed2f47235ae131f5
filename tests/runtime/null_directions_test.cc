// An indicator of every category beside an intercept: nothing tells how the two share a constant.
#include "windhover/runtime/learning/null_directions.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "windhover/runtime/learning/noise_estimate.h"
#include "windhover/samplers/registry.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::null_directions_test {
namespace {

constexpr Index kNumbers = 2;
constexpr Index kCategories = 4;
constexpr Index kFeatures = kNumbers + 2 * kCategories;
constexpr Index kDimension = kFeatures + 1;

// Two numbers, the second in large units, and the indicators of two texts. `skew`: how much more
// often the first category of each is.
Data categories(Index rows, double skew, std::uint64_t seed) {
  Data data{RowMatrix::Zero(rows, kFeatures), VectorXd(rows), {}};
  const VectorXd z = normals(seed, rows * (kNumbers + 1));
  const VectorXd u = uniforms(seed, 2 * rows);
  for (Index i = 0; i < rows; ++i) {
    const auto own = z.segment(i * (kNumbers + 1), kNumbers + 1);
    data.x(i, 0) = own[0];
    data.x(i, 1) = 1000 * own[1];
    const auto chosen = [&](double uniform) {
      return uniform < skew ? 0
                            : std::min(static_cast<Index>(uniform * kCategories), kCategories - 1);
    };
    const Index first = chosen(u[2 * i]);
    const Index second = chosen(u[2 * i + 1]);
    data.x(i, kNumbers + first) = 1;
    data.x(i, kNumbers + kCategories + second) = 1;
    data.y[i] = own[0] + static_cast<double>(first) - static_cast<double>(second) + own[kNumbers];
  }
  return data;
}

// theta -> the same predictions.
std::vector<VectorXd> truly_null() {
  std::vector<VectorXd> all;
  for (const Index text : {0, 1}) {
    VectorXd v = VectorXd::Zero(kDimension);
    v.segment(kNumbers + text * kCategories, kCategories).setOnes();
    v[kDimension - 1] = -1;
    all.push_back(v);
  }
  return all;
}

class NullDirectionsTest : public ::testing::Test {
 protected:
  NullDirectionsTest()
      : config(with_defaults(small_config("linear", kFeatures, 2000))),
        block(4 << 20),
        arena(block.bytes()),
        layout(config.model),
        directions(arena, kDimension),
        room(kDimension * kDimension) {
    const ModelEntry& entry = *find_model("linear");
    model = entry.make(arena, config.model);
    entry.reset(*model);
  }
  RowBatch pack(const Data& data) {
    packed.resize(static_cast<std::size_t>(data.rows()) * layout.stride());
    slots.resize(static_cast<std::size_t>(data.rows()));
    std::iota(slots.begin(), slots.end(), 0U);
    for (Index i = 0; i < data.rows(); ++i) {
      double* row = packed.data() + static_cast<std::size_t>(i) * layout.stride();
      for (Index j = 0; j < kFeatures; ++j) row[j] = data.x(i, j);
      row[kFeatures] = data.y[i];
    }
    return {packed.data(), slots.data(), slots.size()};
  }
  void sum(const Data& data, AnchorSums& sums) {
    const VectorXd anchor = VectorXd::Zero(kDimension);
    sums.begin(anchor.data());
    sums.add(*model, pack(data), nullptr);
  }

  EngineConfig config;
  MappedBlock block;
  Arena arena;
  RowLayout layout;
  Model* model;
  NullDirections directions;
  std::vector<double> room;
  std::vector<double> packed;
  std::vector<std::uint32_t> slots;
};

TEST_F(NullDirectionsTest, AreThoseOfEveryIndicatorBesideAnIntercept) {
  AnchorSums sums(arena, kDimension);
  sum(categories(500, 0.3, 1), sums);
  directions.find(sums, room.data(), nullptr);
  EXPECT_EQ(directions.count(), 2u);
}

TEST_F(NullDirectionsTest, AreNoneWhereColumnsOnlyResembleOneAnother) {
  Data data = categories(500, 0.3, 1);
  data.x.col(kNumbers + kCategories - 1).setZero();  // a category that never comes: 0 by itself
  data.x.col(kFeatures - 1) += 1e-3 * data.x.col(0).cwiseAbs2();
  AnchorSums sums(arena, kDimension);
  sum(data, sums);
  directions.find(sums, room.data(), nullptr);
  EXPECT_EQ(directions.count(), 0u);
}

TEST_F(NullDirectionsTest, AreAllTakenOutAndNothingElseIs) {
  AnchorSums sums(arena, kDimension);
  const Data data = categories(500, 0.3, 1);
  sum(data, sums);
  directions.find(sums, room.data(), nullptr);
  const MatrixXd design = data.design();
  const MatrixXd gram = design.transpose() * design;
  MatrixXd covariance = gram;
  directions.remove_from(covariance.data(), nullptr);
  const VectorXd scale = gram.diagonal().cwiseSqrt();
  const auto scaled = [&](const MatrixXd& m) {
    return MatrixXd(scale.cwiseInverse().asDiagonal() * m * scale.cwiseInverse().asDiagonal());
  };
  // What has none of them is left as it was, to rounding and what the ridge leaves of a direction.
  EXPECT_LT((scaled(covariance) - scaled(gram)).norm(), 1e-9);

  covariance = MatrixXd(scale.cwiseAbs2().asDiagonal());
  directions.remove_from(covariance.data(), nullptr);
  for (const VectorXd& v : truly_null()) {
    EXPECT_LT(v.dot(covariance * v), 1e-9 * v.dot(scale.cwiseAbs2().cwiseProduct(v)));
  }
  // Two of so many directions have gone.
  EXPECT_NEAR(scaled(covariance).trace(), kDimension - 2.0, 1e-9);
  EXPECT_LT((covariance - covariance.transpose()).norm(), 1e-12 * covariance.norm());
}

// The categories' shares have moved since C was measured.
TEST_F(NullDirectionsTest, HaveNoNoiseThoughColumnsWereScaledApart) {
  NoiseEstimate noise(arena, config.sampler, config.model);
  noise.start_over();
  AnchorSums sums(arena, kDimension);
  const VectorXd theta = VectorXd::Zero(kDimension);
  const Data before = categories(500, 0.1, 1);
  sum(before, sums);
  noise.measured().add_rows(*model, pack(before), theta.data());
  ASSERT_TRUE(noise.end_pass(sums, 0, nullptr));
  sum(categories(500, 0.5, 2), sums);
  noise.refresh(sums, 1.0, nullptr);
  const Eigen::Map<const MatrixXd> c(noise.values().data(), kDimension, kDimension);
  for (const VectorXd& v : truly_null()) {
    EXPECT_LT(v.dot(c * v), 1e-9 * v.cwiseAbs2().dot(c.diagonal()));
  }
}

// Rows come in pieces of any size, with any number of rounds between them: the draws spread as the
// law says all along.
TEST(DependentColumns, AreNoReasonToDoubtTheSpread) {
  constexpr Index kRows = 6000;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Data data = categories(kRows, 0.3, seed);
    EngineConfig config = small_config("linear", kFeatures, 65536);
    config.model.prior_precision = 0;
    config.model.intercept_precision = 0;
    config.model.noise_variance = 0;
    config.seed = seed;
    TestEngine engine(config);
    const VectorXd u = uniforms(1000 + seed, 2 * kRows);
    Index next = 0;
    for (Index at = 0; at < kRows;) {
      const auto rows = static_cast<Index>(std::exp(std::log(10.0) + u[next] * std::log(300.0)));
      const Index end = std::min(kRows, at + rows);
      engine.feed(data, at, end);
      engine.poll_rounds(static_cast<std::uint64_t>(1 + 300 * u[next + 1]));
      at = end;
      next += 2;
      EXPECT_NE(engine.provenance().reason, StatusReason::kSpread)
          << "seed " << seed << ", row " << at << ", " << engine.provenance().ou_ratio;
    }
    engine.poll_rounds(3000);
    EXPECT_NE(engine.provenance().reason, StatusReason::kSpread) << "seed " << seed;
  }
}

}  // namespace
}  // namespace windhover::test::null_directions_test
