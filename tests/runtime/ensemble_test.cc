// The chains alone, without a learner: their moves, their losses, and the phases of a run.
#include "windhover/runtime/learning/ensemble.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "windhover/runtime/learning/sampling_run.h"
#include "windhover/samplers/registry.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::ensemble_test {
namespace {

constexpr std::uint32_t kFeatures = 3;
constexpr Index kDimension = kFeatures + 1;
constexpr std::size_t kChains = 6;
constexpr std::uint64_t kRows = 300;

// Chains over a full window, and the exact estimates of its rows.
class Chains {
 public:
  // `place`: of all parameters, where C is measured.
  explicit Chains(std::size_t threads = 1, const char* model = "linear", double place = 0)
      : config(with_defaults(configuration(model))),
        block_(8 << 20),
        arena_(block_.bytes()),
        window_(arena_, RowLayout(config.model), kRows, 64),
        cursor(window_),
        estimator(arena_, config),
        workers(arena_.make_array<LearnerWorker>(threads, arena_, config)),
        ensemble(arena_, config, cursor, estimator, workers,
                 find_sampler(config.sampler.name)
                     ->make(arena_, config.sampler, config.model.dimension()),
                 counters),
        run(arena_, config, cursor, estimator, ensemble, counters) {
    const ModelEntry& entry = *find_model(model);
    for (LearnerWorker& worker : workers) {
      worker.model = entry.make(arena_, config.model);
      entry.reset(*worker.model);
    }
    window_.reset();
    estimator.reset(config);
    for (LearnerWorker& worker : workers) {
      worker.gradient =
          GradientSource(worker.model, config.model.dimension(), estimator.prior().values());
    }
    ensemble.reset();
    run.reset();
    const bool linear = config.model.name == std::string("linear");
    const Data data =
        linear ? linear_data(kRows, kFeatures, 1.0, 5) : logistic_data(kRows, kFeatures, 0.0, 5);
    for (Index i = 0; i < data.x.rows(); ++i) write(data.x.row(i).transpose(), data.y[i]);
    sum(0, kRows, place);
  }

  // Rows of the window join the sums, and the sums become estimates.
  void sum(std::uint64_t first, std::uint64_t last, double place = 0) {
    std::vector<std::uint32_t> slots(last - first);
    const RowBatch rows = cursor.between(first, last, slots);
    estimator.sums().done().add(*workers[0].model, rows, nullptr);
    const std::vector<double> theta(static_cast<std::size_t>(kDimension), place);
    estimator.noise().measured().add_rows(*workers[0].model, rows, theta.data());
    ASSERT_TRUE(estimator.noise().end_pass(estimator.done(), 1.0, nullptr));
    ASSERT_EQ(estimator.refresh(estimator.done().rows(), 1.0), Status::kOk);
  }
  // One round, group by group; workers take turns.
  bool move(std::uint64_t round) {
    ensemble.mover().begin_round(round);
    for (std::size_t g = 0; g < ensemble.groups(); ++g) {
      ensemble.move(g, workers[g % workers.size()]);
    }
    return run.end_move();
  }
  Eigen::Map<const MatrixXd> thetas() const {
    return {ensemble.chains().iterates().data(), kDimension, static_cast<Index>(kChains)};
  }
  // Every chain's deviation from the mean, in units of the posterior: a column a chain.
  MatrixXd deviations() const {
    const Eigen::Map<const MatrixXd> p(estimator.laplace().covariance(), kDimension, kDimension);
    const MatrixXd root = p.llt().matrixL();
    const Eigen::Map<const VectorXd> mean(estimator.laplace().mean(), kDimension);
    return root.triangularView<Eigen::Lower>().solve(MatrixXd(thetas().colwise() - mean));
  }

  EngineConfig config;

 private:
  static EngineConfig configuration(const char* model) {
    EngineConfig c = small_config(model, kFeatures, kRows);
    c.sampler.chains = kChains;
    c.sampler.minibatch_size = 20;
    c.retained_draws = 8;
    return c;
  }
  void write(const VectorXd& x, double y) {
    const std::uint64_t head = window_.head();
    ASSERT_GT(window_.room(head, 1), 0U);
    double* row = window_.slot_of(head);
    std::copy_n(x.data(), x.size(), row);
    row[kFeatures] = y;
    window_.publish(head + 1);
    cursor.advance(head + 1);
  }

  MappedBlock block_;
  Arena arena_;
  Window window_;

 public:
  Counters<RuntimeCounter> counters;
  WindowCursor cursor;
  Estimator estimator;
  std::span<LearnerWorker> workers;
  Ensemble ensemble;
  SamplingRun run;
};

TEST(EnsembleAlone, StartsAsDrawsOfTheLaplaceApproximation) {
  Chains c;
  ASSERT_TRUE(c.ensemble.start());
  // 24 squares of standard normals: chi-square beyond its 1e-6 quantiles on either side.
  const double squares = c.deviations().squaredNorm();
  EXPECT_GT(squares, 3.8);
  EXPECT_LT(squares, 72.6);
  for (Index i = 1; i < static_cast<Index>(kChains); ++i) {
    EXPECT_NE(c.thetas().col(i), c.thetas().col(0)) << i;
  }
}

TEST(EnsembleAlone, MovesEveryChainByTheSameBitsWhateverTheThreads) {
  Chains one(1);
  Chains three(3);
  ASSERT_TRUE(one.ensemble.start());
  ASSERT_TRUE(three.ensemble.start());
  ASSERT_EQ(one.ensemble.groups(), 1U);
  ASSERT_GE(three.ensemble.groups(), 3U);
  MatrixXd before = one.thetas();
  for (std::uint64_t round = 1; round < 20; ++round) {
    (void)one.move(round);
    (void)three.move(round);
    EXPECT_EQ(one.thetas(), three.thetas());
    for (Index i = 0; i < static_cast<Index>(kChains); ++i) {
      EXPECT_NE(one.thetas().col(i), before.col(i)) << "chain " << i << " stood still";
    }
    before = one.thetas();
  }
  EXPECT_EQ(one.counters.get(RuntimeCounter::kSteps), 19 * kChains);
  EXPECT_EQ(one.counters.get(RuntimeCounter::kExamples), 19 * kChains * 20);
}

TEST(EnsembleAlone, MovesOneChainAsideInTurn) {
  Chains c;
  ASSERT_TRUE(c.ensemble.start());
  c.ensemble.mover().begin_round(1);
  std::vector<int> moves(kChains, 0);
  for (std::size_t i = 0; i < 2 * kChains; ++i) {
    const MatrixXd before = c.thetas();
    const auto moved = static_cast<Index>(c.ensemble.move_aside());
    ++moves[static_cast<std::size_t>(moved)];
    for (Index j = 0; j < static_cast<Index>(kChains); ++j) {
      EXPECT_EQ(c.thetas().col(j) != before.col(j), j == moved);
    }
  }
  EXPECT_EQ(moves, std::vector<int>(kChains, 2));
}

TEST(EnsembleAlone, FollowsNewEstimatesToWhereEachChainStood) {
  Chains c;
  ASSERT_TRUE(c.ensemble.start());
  const MatrixXd before = c.deviations();
  c.sum(0, kRows / 3);  // rows that count twice from here on
  c.ensemble.follow(0, true, false, nullptr);
  // Whitened by another root, which a rotation leaves free: lengths and angles stay.
  const MatrixXd after = c.deviations();
  EXPECT_LT((after.transpose() * after - before.transpose() * before).norm(), 1e-8 * before.norm());
  EXPECT_EQ(c.ensemble.moves(), 0);
}

TEST(EnsembleAlone, ALostChainStartsAgainAndAllStepsAreHalved) {
  Chains c;
  ASSERT_TRUE(c.ensemble.start());
  EXPECT_FALSE(c.ensemble.recover(ChainMover::Lost::kTooFar, true));
  const MatrixXd before = c.thetas();
  c.ensemble.chains().all()[2].theta[1] = 1e12;
  EXPECT_EQ(c.ensemble.noise_anchor(2), c.estimator.laplace().mean());
  EXPECT_EQ(c.ensemble.noise_anchor(3), c.ensemble.chains().all()[3].theta);
  EXPECT_TRUE(c.ensemble.recover(ChainMover::Lost::kTooFar, true));
  EXPECT_EQ(c.counters.get(RuntimeCounter::kDivergences), 1U);
  EXPECT_TRUE(c.ensemble.mover().damping().active());
  EXPECT_LT(c.deviations().col(2).norm(), 6.5);  // chi-square of 4, beyond its 1e-8 quantile
  for (const Index other : {0, 1, 3, 4, 5}) EXPECT_EQ(c.thetas().col(other), before.col(other));

  c.ensemble.mover().damping().end_pass();  // the pass in which it was lost
  EXPECT_TRUE(c.ensemble.mover().damping().active());
  c.ensemble.mover().damping().begin_pass();
  c.ensemble.mover().damping().end_pass();
  EXPECT_FALSE(c.ensemble.mover().damping().active());
}

TEST(EnsembleAlone, OnlyChainsThatAreFarOffStartAgain) {
  Chains c;
  ASSERT_TRUE(c.ensemble.start());
  EXPECT_FALSE(c.ensemble.restart_far());
  const MatrixXd before = c.thetas();
  c.ensemble.chains().all()[4].theta[0] += 100 * std::sqrt(c.estimator.laplace().covariance()[0]);
  EXPECT_TRUE(c.ensemble.restart_far());
  EXPECT_EQ(c.thetas().leftCols(4), before.leftCols(4));
  EXPECT_LT(c.deviations().col(4).norm(), 6.5);
  EXPECT_NE(c.thetas().col(4), before.col(4));
}

TEST(SamplingRunAlone, GoesThroughItsPhasesAndRests) {
  using Phase = Learner::Phase;
  Chains c;
  EXPECT_EQ(c.run.phase(), Phase::kWarmingUp);
  ASSERT_TRUE(c.run.start());
  EXPECT_EQ(c.run.phase(), Phase::kApproach);
  EXPECT_FALSE(c.run.phases().noise_known());
  EXPECT_EQ(c.run.background_moves(), nullptr);

  // A pass that measured nothing does not count.
  for (const bool noise_known : {true, false, true}) {
    c.run.follow_pass(c.run.end_pass(noise_known), true, false);
    EXPECT_EQ(c.run.phase(), Phase::kApproach);
  }
  EXPECT_EQ(c.run.phases().passes(), 1U);
  c.run.follow_pass(c.run.end_pass(true), true, false);
  EXPECT_EQ(c.run.phase(), Phase::kBurnIn);
  EXPECT_TRUE(c.run.phases().noise_known());

  // Two relaxations.
  c.ensemble.follow(0, true, false, nullptr);
  const double relaxation = c.ensemble.mover().relaxation();
  std::uint64_t round = 1;
  while (c.run.phase() == Phase::kBurnIn && round < 10'000) (void)c.move(round++);
  EXPECT_EQ(static_cast<double>(round - 1), std::ceil(2 * relaxation));
  EXPECT_EQ(c.run.phase(), Phase::kSampling);
  EXPECT_FALSE(c.run.rests());
  EXPECT_NE(c.run.background_moves(), nullptr);

  // Draws come, all that rows grant are made, and nothing goes on after that.
  int new_draws = 0;
  while (!c.run.rests() && round < 100'000) new_draws += c.move(round++) ? 1 : 0;
  ASSERT_TRUE(c.run.rests());
  EXPECT_GE(new_draws, 8);
  EXPECT_EQ(c.run.background_moves(), nullptr);

  // 100 rows grant each chain 100 R of them: so many minibatches of 20.
  c.run.before_rows(100);
  c.run.after_rows(100);
  const std::uint64_t rested = round;
  while (!c.run.rests() && round < 100'000) (void)c.move(round++);
  const double granted = 100 * c.config.draws_per_observation / 20;
  EXPECT_GE(static_cast<double>(round - rested), std::floor(granted));
  EXPECT_LE(static_cast<double>(round - rested), std::ceil(granted) + 1);

  c.run.start_over(false);
  EXPECT_EQ(c.run.phase(), Phase::kWarmingUp);
}

// Chains that forget slowly move by the C of where they began: until they are draws each pass
// replaces it, where the loss is not quadratic.
TEST(SamplingRunAlone, NoiseFollowsChainsThatForgetSlowly) {
  for (const char* model : {"linear", "poisson"}) {
    Chains c(1, model, 3);
    ASSERT_TRUE(c.run.start());
    c.run.follow_pass(c.run.end_pass(true), false, false);
    c.ensemble.follow(0, true, false, nullptr);
    const double window = static_cast<double>(kRows) / c.ensemble.mover().minibatch_size();
    ASSERT_GT(c.ensemble.mover().relaxation(), 2 * window) << model;
    c.run.follow_pass(c.run.end_pass(true), false, false);
    ASSERT_EQ(c.run.phase(), Learner::Phase::kBurnIn);
    EXPECT_TRUE(c.run.law_moved());
    c.run.follow_pass(c.run.end_pass(true), false, false);
    EXPECT_EQ(c.run.law_moved(), model == std::string("poisson"));
  }
}

// Chains that forget for ever rest in their burn-in, and then no pass asks for another.
TEST(SamplingRunAlone, ChainsThatForgetForEverAskForNoPassAtRest) {
  Chains c(1, "poisson", 30);
  ASSERT_TRUE(c.run.start());
  c.run.follow_pass(c.run.end_pass(true), false, false);
  c.ensemble.follow(0, true, false, nullptr);
  c.run.follow_pass(c.run.end_pass(true), false, false);
  ASSERT_EQ(c.run.phase(), Learner::Phase::kBurnIn);
  for (std::uint64_t round = 1; !c.run.rests(); ++round) {
    ASSERT_LT(round, 200'000U);
    (void)c.move(round);
  }
  ASSERT_EQ(c.run.phase(), Learner::Phase::kBurnIn);
  c.run.follow_pass(c.run.end_pass(true), false, false);
  EXPECT_FALSE(c.run.law_moved());
}

TEST(SamplingRunAlone, ALossAsksForNewDrawsButNotForEver) {
  Chains c;
  ASSERT_TRUE(c.run.start());
  for (int i = 0; i < 2; ++i) c.run.follow_pass(c.run.end_pass(true), true, false);
  std::uint64_t round = 1;
  while (!c.run.rests() && round < 100'000) (void)c.move(round++);
  ASSERT_TRUE(c.run.rests());
  int times = 0;
  for (; times < 20; ++times) {
    c.ensemble.chains().all()[0].theta[0] = 1e12;
    c.run.follow_pass(c.run.end_pass(true), true, false);
    if (c.run.rests()) break;
    while (!c.run.rests() && round < 1'000'000) (void)c.move(round++);
  }
  EXPECT_GE(times, 1);
  EXPECT_LE(times, 8);  // four for the loss, four for the steps that become whole again
  EXPECT_EQ(c.run.phase(), Learner::Phase::kSampling);
}

}  // namespace
}  // namespace windhover::test::ensemble_test
