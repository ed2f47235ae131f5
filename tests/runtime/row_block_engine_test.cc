// An engine of a diagonal structure: what its snapshots share and a checkpoint holds, its memory,
// when it is chosen, and what it refuses.
#include <cmath>
#include <string_view>

#include "windhover/tests/runtime/row_block_fixture.h"

namespace windhover::test::row_block_test {
namespace {

// A reader that pages draws has one set of them however long it takes.
TEST(RowBlockLearner, HeldDrawsStayAsTheyAre) {
  constexpr std::uint32_t kFeatures = 50;
  const SparseRows data = rows_of(6'000, kFeatures, 4, truth_of(kFeatures, 0.5), 1);
  EngineConfig config = config_of(kFeatures, 4);
  config.window_size = 1'000;
  TestEngine engine(config);
  feed(engine, data, 0, 2'000);
  engine.poll_until_idle();
  Reader& reader = engine.reader();
  Provenance provenance;
  std::vector<double> before(64 * (kFeatures + 1));
  ASSERT_EQ(reader.draws(0, 0, 64, before, provenance), Status::kOk);
  const std::uint64_t held = provenance.snapshot_id;
  feed(engine, data, 2'000, 6'000);
  engine.poll_until_idle();
  std::vector<double> after(before.size());
  ASSERT_EQ(reader.draws(held, 0, 64, after, provenance), Status::kOk);
  EXPECT_EQ(provenance.snapshot_id, held);
  EXPECT_EQ(before, after);
  // Meanwhile others are answered from the newest rows.
  Reader other = engine->reader().value();
  ASSERT_EQ(other.provenance(provenance), Status::kOk);
  EXPECT_EQ(provenance.sequence, 6'000U);
  reader.release();
  ASSERT_EQ(reader.draws(0, 0, 64, after, provenance), Status::kOk);
  EXPECT_GT(provenance.snapshot_id, held);
  EXPECT_NE(before, after);
}

// The replay needs the heads alone: what is polled when, and who looks, changes no bit.
TEST(RowBlockLearner, ReplayGivesTheSameBits) {
  using Log = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  constexpr std::uint32_t kFeatures = 300;
  const SparseRows data = rows_of(3'000, kFeatures, 4, truth_of(kFeatures, 0.5), 1);
  for (const double replay : {0.0, 1.0, 4.0}) {
    EngineConfig config = config_of(kFeatures, 4);
    config.window_size = 1'000;
    config.draws_per_observation = replay;
    TestEngine live(config);
    Log log;
    live->learner().set_head_sink(
        [](void* to, std::uint64_t round, std::uint64_t head) noexcept {
          static_cast<Log*>(to)->emplace_back(round, head);
        },
        &log);
    std::size_t at = 0;
    for (std::uint64_t step = 0; at < 3'000; ++step) {
      const auto rows = static_cast<std::size_t>(1 + 90 * uniform(41, 2 * step));
      const std::size_t next = std::min<std::size_t>(at + rows, 3'000);
      feed(live, data, at, next);
      at = next;
      live->poll(static_cast<int>(40 * uniform(41, 2 * step + 1)));
    }
    while (live->learner().head() < 3'000) live->poll(1);
    live.poll_rounds(50);
    TestEngine again(config);
    std::size_t fed = 0;
    for (std::size_t i = 0; i < log.size(); ++i) {
      const auto [round, head] = log[i];
      ASSERT_EQ(again->learner().round(), round);
      feed(again, data, fed, head);
      fed = head;
      const std::uint64_t until = i + 1 < log.size() ? log[i + 1].first : live->learner().round();
      const auto rounds = static_cast<int>(until - round);
      ASSERT_EQ(again->learner().replay(head, rounds), rounds);
    }
    EXPECT_EQ(live.draws(), again.draws()) << "R = " << replay;
  }
}

// A million columns.
TEST(RowBlockLearner, MemoryGrowsWithTheColumns) {
  EngineConfig config = config_of(1U << 20, 64);
  config.window_size = 100'000;
  config.retained_draws = 32;
  const Result<std::size_t> all = Engine::footprint(config);
  ASSERT_TRUE(all.ok());
  EXPECT_LT(all.value(), std::size_t{1} << 30);
  config.model.features = 1U << 19;
  const Result<std::size_t> half = Engine::footprint(config);
  ASSERT_TRUE(half.ok());
  // 8 chains: theta and G 64 bytes, sums 32, the list of columns 4, the bound 12, ten groups of
  // draws of 4 bytes a chain.
  EXPECT_EQ((all.value() - half.value()) / (1U << 19), 64U + 32 + 4 + 12 + 10 * 8 * 4);
}

TEST(RowBlockLearner, IsChosenForManySparseColumns) {
  EngineConfig config = config_of(kMostFullColumns, 4);
  config.structure = Structure::kChosen;
  EXPECT_EQ(structure_of(config), Structure::kFull);
  config.model.features = kMostFullColumns + 1;
  EXPECT_EQ(structure_of(config), Structure::kDiagonal);
  config.model.name = "linear";
  EXPECT_EQ(structure_of(config), Structure::kDiagonal);
  config.model.name = "negative-binomial";
  EXPECT_EQ(structure_of(config), Structure::kFull);
  EXPECT_TRUE(check(config).ok());
  config.model.features = 100'000;  // too many for a full structure
  const Result<bool> refused = check(config);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(std::string_view(refused.error().sentence).find("logistic"), std::string_view::npos);
}

TEST(RowBlockLearner, ConfigurationsItCannotKeepAreRefused) {
  const auto refused = [](auto&& change) {
    EngineConfig config = config_of(3'000, 4);
    EXPECT_TRUE(check(config).ok());
    change(config);
    return !check(config).ok();
  };
  EXPECT_TRUE(refused([](EngineConfig& c) { c.model.name = "negative-binomial"; }));
  EXPECT_TRUE(refused([](EngineConfig& c) { c.model.name = "softmax"; }));
  EXPECT_TRUE(refused([](EngineConfig& c) {
    c.model.name = "linear";
    c.surprising_rows = SurprisingRows::kCount;
  }));
  EXPECT_TRUE(refused([](EngineConfig& c) { c.model.max_nonzeros = 0; }));
  EXPECT_TRUE(refused([](EngineConfig& c) { c.horizon = Horizon::kAll; }));
  EXPECT_TRUE(refused([](EngineConfig& c) { c.horizon = Horizon::kForgetting; }));
  EXPECT_TRUE(refused([](EngineConfig& c) {
    c.model.name = "linear";
    c.horizon = Horizon::kAdaptive;
  }));
  EXPECT_TRUE(refused([](EngineConfig& c) {
    c.model.weight = true;
    c.horizon = Horizon::kAdaptive;
  }));
  EXPECT_TRUE(refused([](EngineConfig& c) { c.sampler.name = "sgld"; }));
  EXPECT_TRUE(refused([](EngineConfig& c) { c.standardize = Standardize::kColdStart; }));
  EXPECT_TRUE(refused([](EngineConfig& c) { c.learner_threads = 2; }));
  EXPECT_TRUE(refused([](EngineConfig& c) { c.retained_draws = 60; }));
  EXPECT_TRUE(refused([](EngineConfig& c) {
    c.sampler.chains = 1;
    c.retained_draws = 64;
  }));
  EXPECT_TRUE(refused([](EngineConfig& c) {
    c.sampler.chains = 1;
    c.retained_draws = 128;
  }));
  EXPECT_TRUE(refused([](EngineConfig& c) { c.model.features = kMostColumns + 1; }));
}

}  // namespace
}  // namespace windhover::test::row_block_test
