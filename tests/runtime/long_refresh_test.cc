// Refreshes of so many parameters that the chains move on meanwhile.
#include <gtest/gtest.h>

#include <vector>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::long_refresh_test {
namespace {

constexpr std::uint32_t kFeatures = 199;
constexpr Index kDimension = kFeatures + 1;

struct Moves {
  explicit Moves(const Gaussian& posterior) : centre(posterior.mean), root(posterior.covariance) {}

  static void add(void* context, std::uint16_t chain, const double* theta) noexcept {
    Moves& moves = *static_cast<Moves*>(context);
    ++moves.of_chain[chain];
    moves.deviation = Eigen::Map<const VectorXd>(theta, kDimension) - moves.centre;
    moves.root.matrixL().solveInPlace(moves.deviation);
    moves.squares += moves.deviation.squaredNorm();
  }

  VectorXd centre;
  Eigen::LLT<MatrixXd> root;
  VectorXd deviation{kDimension};
  std::vector<std::uint64_t> of_chain = std::vector<std::uint64_t>(8);
  double squares = 0;  // of deviations in the posterior's own units, summed over all parameters
};

// Moments over all moves, those during refreshes among them, are the posterior's.
TEST(LongRefresh, ChainsMoveMeanwhileAndDrawFromThePosterior) {
  const Data data = linear_data(2000, kFeatures, 1.0, 21);
  EngineConfig config = small_config("linear", kFeatures, 2000);
  config.sampler.minibatch_size = 200;
  config.draws_per_observation = 0;
  TestEngine engine(config);
  engine.feed(data);
  ASSERT_TRUE(engine.poll_until_sampling());
  const double dispersion = engine->learner().view().estimator().dispersion().value();
  Moves moves(linear_posterior(data.design(), data.y, dispersion, config.model));
  engine->learner().set_trace(Moves::add, &moves);
  const std::uint64_t refreshes = engine->counters().get(RuntimeCounter::kRefreshes);
  const std::uint64_t rounds = 4000;
  engine.poll_rounds(rounds);
  const double refreshed =
      static_cast<double>(engine->counters().get(RuntimeCounter::kRefreshes) - refreshes);
  ASSERT_GE(refreshed, 3);
  std::uint64_t meanwhile = 0;
  for (const std::uint64_t n : moves.of_chain) {
    EXPECT_GE(n, rounds);
    meanwhile += n - rounds;
  }
  EXPECT_GE(static_cast<double>(meanwhile), 2 * refreshed);
  // A chain forgets in n / (2 S) = 5 rounds, its squares in half of that: some 5 moves a draw, of
  // D squares each of variance 2.
  const double total = static_cast<double>(rounds * 8 + meanwhile);
  const double sd = std::sqrt(2 * 5 / (total * kDimension));
  EXPECT_NEAR(moves.squares / total / kDimension, 1.0, 4 * sd);
}

// Moves of chains between the first look at new noise sums and their end.
struct MovesWithinAPassesEnd {
  static void add(void* context, std::uint16_t, const double*) noexcept {
    MovesWithinAPassesEnd& moves = *static_cast<MovesWithinAPassesEnd*>(context);
    const NoiseCovariance& noise = moves.learner.view().estimator().noise().measured();
    if (noise.updates() == moves.updates) return;
    ++moves.passes;
    moves.updates = noise.updates();
    // The refresh that follows begins with sums that have been cleared.
    if (noise.rows_in_pass() > 0) ++moves.within;
  }

  const Learner& learner;
  std::uint64_t updates = 0;
  int passes = 0;
  int within = 0;
};

TEST(LongRefresh, ChainsMoveWhileAPassEnds) {
  constexpr std::uint32_t kMany = 479;
  const Data data = linear_data(1000, kMany, 1.0, 23);
  EngineConfig config = small_config("linear", kMany, 1000);
  config.sampler.minibatch_size = 200;
  config.draws_per_observation = 0;
  TestEngine engine(config);
  engine.feed(data);
  ASSERT_TRUE(engine.poll_until_sampling());
  MovesWithinAPassesEnd moves{engine->learner(),
                              engine->learner().view().estimator().noise().measured().updates()};
  engine->learner().set_trace(MovesWithinAPassesEnd::add, &moves);
  for (int i = 0; i < 2000 && moves.passes < 4; ++i) engine.poll_rounds(1);
  ASSERT_GE(moves.passes, 4);
  EXPECT_EQ(moves.within, moves.passes);
}

// Fewer parameters are refreshed in one piece, however many refreshes a stream asks for.
TEST(LongRefresh, FewParametersTakeNoInterlude) {
  const Data data = linear_data(1000, 30, 1.0, 22);
  EngineConfig config = small_config("linear", 30, 1000);
  config.draws_per_observation = 0;
  TestEngine engine(config);
  engine.feed(data);
  ASSERT_TRUE(engine.poll_until_sampling());
  const std::uint64_t steps = engine->counters().get(RuntimeCounter::kSteps);
  engine.poll_rounds(1000);
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kSteps) - steps, 8 * 1000u);
  const std::uint64_t refreshes = engine->counters().get(RuntimeCounter::kRefreshes);
  for (int i = 0; i < 2000; ++i) {
    engine.feed(data, 0, 50);
    engine.poll_rounds(10);
  }
  const std::uint64_t refreshed = engine->counters().get(RuntimeCounter::kRefreshes) - refreshes;
  EXPECT_GE(static_cast<double>(refreshed) * 31 * 31 * 31, 2 * Interlude::kMost);
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kSteps) - steps, 8 * 21'000u);
}

}  // namespace
}  // namespace windhover::test::long_refresh_test
