// Transport of chains to a new posterior.
#include "windhover/runtime/learning/chain_set.h"

#include <gtest/gtest.h>

#include <numeric>

#include "windhover/samplers/registry.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::chain_set_test {
namespace {

class ChainSetTest : public testing::Test {
 protected:
  ChainSetTest()
      : config(with_defaults(configuration())),
        block(4 << 20),
        arena(block.bytes()),
        estimator(arena, config),
        chains(arena, config, 0) {
    const ModelEntry& entry = *find_model("linear");
    model = entry.make(arena, config.model);
    entry.reset(*model);
    estimator.reset(config);
    chains.reset();
    add_rows(1, 30);
  }
  static EngineConfig configuration() {
    EngineConfig c = small_config("linear", 3, 400);
    c.sampler.chains = 6;
    c.retained_draws = 8;
    return c;
  }
  // The posterior becomes another one.
  void add_rows(std::uint64_t seed, Index count) {
    const Data data = linear_data(count, 3, 1.0, seed);
    const RowLayout layout(config.model);
    std::vector<double> rows(static_cast<std::size_t>(count) * layout.stride());
    std::vector<std::uint32_t> slots(static_cast<std::size_t>(count));
    std::iota(slots.begin(), slots.end(), 0U);
    for (Index i = 0; i < count; ++i) {
      double* row = rows.data() + static_cast<std::size_t>(i) * layout.stride();
      for (Index j = 0; j < 3; ++j) row[j] = data.x(i, j);
      row[3] = data.y[i];
    }
    estimator.sums().done().add(*model, {rows.data(), slots.data(), slots.size()}, nullptr);
    ASSERT_EQ(estimator.refresh(estimator.done().rows(), 1.0), Status::kOk);
  }
  VectorXd mean() const { return Eigen::Map<const VectorXd>(estimator.laplace().mean(), 4); }
  MatrixXd precision() const {
    return Eigen::Map<const MatrixXd>(estimator.laplace().covariance(), 4, 4).inverse();
  }
  // The Gram matrix of the chains' deviations from `centre`, in units of the posterior: a column a
  // chain.
  MatrixXd gram(const VectorXd& centre) const {
    const Eigen::Map<const MatrixXd> thetas(chains.iterates().data(), 4, 6);
    const MatrixXd off = thetas.colwise() - centre;
    return off.transpose() * precision() * off;
  }

  EngineConfig config;
  MappedBlock block;
  Arena arena;
  Estimator estimator;
  ChainSet chains;
  Model* model = nullptr;
};

// Lengths and angles in units of the posterior stay, so the one Gaussian becomes the other.
TEST_F(ChainSetTest, transport_takes_one_gaussian_to_the_other) {
  for (Chain& chain : chains.all()) chains.place(chain, estimator, chain.index);
  const MatrixXd before = gram(mean());
  add_rows(2, 200);
  ASSERT_GT((gram(mean()) - before).norm(), 1.0) << "the posterior is the same";
  chains.transport(estimator, 0, nullptr);
  EXPECT_LT((gram(mean()) - before).norm(), 1e-9 * before.norm());
}

TEST_F(ChainSetTest, transport_counts_the_way_that_chains_have_gone) {
  const VectorXd old_mean = mean();
  add_rows(2, 200);
  for (const double followed : {0.0, 0.25, 1.0}) {
    const VectorXd centre = old_mean + followed * (mean() - old_mean);
    for (Chain& chain : chains.all()) std::copy_n(centre.data(), 4, chain.theta);
    chains.transport(estimator, followed, nullptr);
    for (const Chain& chain : chains.all()) {
      EXPECT_LT((Eigen::Map<const VectorXd>(chain.theta, 4) - mean()).norm(), 1e-12) << followed;
    }
  }
}

TEST_F(ChainSetTest, retained_draws_are_transported_with_the_chains) {
  for (Chain& chain : chains.all()) {
    chains.place(chain, estimator, chain.index);
    chains.retain(chain, estimator);
  }
  add_rows(2, 200);
  chains.transport(estimator, 0, nullptr);
  MatrixXd deviations(8, 4);
  chains.draws().copy_to(deviations.data(), estimator.laplace().n());
  for (const Chain& chain : chains.all()) {
    const VectorXd off = Eigen::Map<const VectorXd>(chain.theta, 4) - mean();
    EXPECT_LT((deviations.row(chain.index).transpose() - off).norm(), 1e-9 * off.norm());
  }
}

TEST_F(ChainSetTest, chain_has_diverged_a_thousand_deviations_off_or_where_it_is_no_number) {
  Chain& chain = chains.all()[0];
  std::copy_n(estimator.laplace().mean(), 4, chain.theta);
  const double sd = std::sqrt(estimator.laplace().covariance()[5]);
  chain.theta[1] = estimator.laplace().mean()[1] + 999 * sd;
  EXPECT_FALSE(chains.diverged(chain, estimator));
  chain.theta[1] = estimator.laplace().mean()[1] - 1001 * sd;
  EXPECT_TRUE(chains.diverged(chain, estimator));
  chain.theta[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(chains.diverged(chain, estimator));
}

}  // namespace
}  // namespace windhover::test::chain_set_test
