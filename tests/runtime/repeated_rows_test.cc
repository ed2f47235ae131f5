#include "windhover/runtime/window/repeated_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <unordered_set>
#include <vector>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::repeated_rows_test {
namespace {

ModelConfig dense_config() {
  ModelConfig config;
  config.features = 2;
  return config;
}

// Rows of two features and a target that are functions of `ids`.
class Counted {
 public:
  explicit Counted(std::uint64_t window_size)
      : block_(1 << 20), arena_(block_.bytes()), rows_(arena_, window_size) {
    rows_.reset();
  }

  double share(const std::vector<std::uint64_t>& ids, std::size_t part = 64) {
    const RowLayout layout(dense_config());
    std::vector<double> data(ids.size() * layout.stride());
    std::vector<std::uint32_t> slots(ids.size());
    std::iota(slots.begin(), slots.end(), 0U);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      double* row = data.data() + i * layout.stride();
      row[0] = std::sin(static_cast<double>(ids[i]));
      row[1] = static_cast<double>(ids[i]);
      row[2] = 1.0;
    }
    rows_.begin_pass();
    for (std::size_t i = 0; i < ids.size(); i += part) {
      rows_.add(layout, {data.data(), slots.data() + i, std::min(part, ids.size() - i)});
    }
    rows_.end_pass();
    return rows_.share();
  }

 private:
  MappedBlock block_;
  Arena arena_;
  RepeatedRows rows_;
};

double offline(const std::vector<std::uint64_t>& ids) {
  const std::unordered_set<std::uint64_t> distinct(ids.begin(), ids.end());
  return static_cast<double>(ids.size() - distinct.size()) / static_cast<double>(ids.size());
}

// Ids of which about `share` repeat an earlier one.
std::vector<std::uint64_t> stream(std::size_t rows, double share, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::bernoulli_distribution repeats(share);
  std::vector<std::uint64_t> ids;
  for (std::size_t i = 0; i < rows; ++i) {
    ids.push_back(i > 0 && repeats(generator) ? ids[generator() % i] : i);
  }
  return ids;
}

TEST(RepeatedRows, KnowsNothingBeforeAPass) { EXPECT_TRUE(std::isnan(Counted(10).share({}))); }

TEST(RepeatedRows, IsExactWhileAllDistinctRowsFit) {
  for (const double share : {0.0, 0.01, 0.5, 0.99}) {
    const auto ids = stream(8000, share, 3);
    EXPECT_EQ(Counted(8000).share(ids), offline(ids));
    EXPECT_EQ(Counted(8000).share(ids, 7), offline(ids));
  }
}

TEST(RepeatedRows, LargeWindowsAreCountedToTheErrorThatIsSaid) {
  for (const double share : {0.02, 0.1, 0.5}) {
    double squares = 0;
    constexpr int kTries = 20;
    for (std::uint64_t seed = 0; seed < kTries; ++seed) {
      auto ids = stream(100'000, share, seed);
      for (auto& id : ids) id += seed << 32;
      const double error = Counted(100'000).share(ids) / offline(ids) - 1;
      squares += error * error;
    }
    // 20 tries leave a sixth of the root mean square open; repeats of a repeat come in clumps.
    const double said = std::sqrt((1 - share) / share / RepeatedRows::kMostKept);
    EXPECT_LT(std::sqrt(squares / kTries), 2 * said * 1.5) << share;
    if (share >= 0.1) {
      EXPECT_LT(std::sqrt(squares / kTries), 0.05) << share;
    }
  }
}

// What a pass could keep is where the next begins: the same share again, and exact again some
// passes after the distinct rows have become few. Until then an eighth of some 3000 hashes at least
// is kept, for a relative error of 5 to 10 % at a share of a half: 0.15 is three of them.
TEST(RepeatedRows, FollowsAWindowFromPassToPass) {
  Counted counted(100'000);
  const auto many = stream(100'000, 0.1, 5);
  const double first = counted.share(many);
  EXPECT_NEAR(first, 0.1, 0.015);
  EXPECT_EQ(counted.share(many), first);
  const auto few = stream(6000, 0.5, 6);
  double share = 0;
  for (int pass = 0; pass < 5; ++pass) {
    share = counted.share(few);
    EXPECT_NEAR(share, offline(few), 0.15) << pass;
  }
  EXPECT_EQ(share, offline(few));
}

TEST(RepeatedRows, OneRowOverAndOverIsSeenAsThat) {
  EXPECT_EQ(Counted(1000).share(std::vector<std::uint64_t>(1000, 5)), 0.999);
}

TEST(RepeatedRows, SparseRowsAreComparedAsFarAsTheyGo) {
  ModelConfig config;
  config.features = 10;
  config.max_nonzeros = 3;
  const RowLayout layout(config);
  std::vector<double> data(3 * layout.stride(), 0.0);
  const auto write = [&](std::size_t slot, double value, std::uint32_t index, double beyond) {
    double* row = data.data() + slot * layout.stride();
    row[0] = 1;
    row[RowLayout::kCountIndex] = 1;
    row[RowLayout::kValuesIndex] = value;
    row[RowLayout::kValuesIndex + 1] = beyond;
    reinterpret_cast<std::uint32_t*>(row + layout.indices_index())[0] = index;
  };
  write(0, 2.0, 4, 7.0);
  write(1, 2.0, 4, 8.0);  // equal but for what stands beyond its end
  write(2, 2.0, 5, 7.0);
  MappedBlock block(1 << 16);
  Arena arena(block.bytes());
  RepeatedRows rows(arena, 3);
  rows.reset();
  const std::uint32_t slots[] = {0, 1, 2};
  rows.add(layout, {data.data(), slots, 3});
  rows.end_pass();
  EXPECT_DOUBLE_EQ(rows.share(), 1.0 / 3.0);
}

double share_of_engine(bool resend) {
  Data data = linear_data(1000, 3, 1.0, 5);
  for (Index i = 1; resend && i < 1000; ++i) {
    if (i % 10 != 0) continue;
    data.x.row(i) = data.x.row(i - 1);
    data.y[i] = data.y[i - 1];
  }
  TestEngine engine(small_config("linear", 3, 1000));
  EXPECT_TRUE(std::isnan(engine.provenance().repeated_rows));
  engine.feed(data);
  engine.poll_until_idle();
  return engine.provenance().repeated_rows;
}

TEST(RepeatedRows, EngineSaysSoWhenRowsCameTwice) {
  EXPECT_EQ(share_of_engine(false), 0.0);
  EXPECT_DOUBLE_EQ(share_of_engine(true), 0.099);
}

}  // namespace
}  // namespace windhover::test::repeated_rows_test
