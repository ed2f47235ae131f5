// Classes that lie apart and come one after the other: with every new one the mode moves further
// than a Newton step may be trusted.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::separable_stream_test {
namespace {

constexpr Index kFeatures = 8;
constexpr Index kClasses = 5;
constexpr Index kFrame = 10;
constexpr Index kFirst = 144;  // max(100, 4 D)

enum class Order { kSorted, kJoining };

// Centres 4 noise sd from the origin in each feature, so some 16 from one another: no row is in
// doubt. Either all rows of a class come together, or each class joins those before it.
Data separable_data(Index rows, Order order, std::uint64_t seed) {
  Data data;
  data.x.resize(rows, kFeatures);
  data.y.resize(rows);
  const VectorXd centres = 4 * normals(seed, kClasses * kFeatures);
  const VectorXd noise = normals(seed + 1, rows * kFeatures);
  const VectorXd u = uniforms(seed + 2, rows);
  const Index stretch = rows / kClasses;
  for (Index i = 0; i < rows; ++i) {
    const Index newest = std::min(i / stretch, kClasses - 1);
    const Index label =
        order == Order::kSorted
            ? newest
            : std::min(newest, static_cast<Index>(u[i] * static_cast<double>(newest + 1)));
    data.y[i] = static_cast<double>(label);
    data.x.row(i) =
        centres.segment(label * kFeatures, kFeatures) + noise.segment(i * kFeatures, kFeatures);
  }
  return data;
}

EngineConfig separable_config() {
  EngineConfig config = small_config("softmax", kFeatures, 4096);
  config.model.classes = kClasses;
  config.model.prior_precision = config.model.intercept_precision = 0;
  return config;
}

// 64 rounds a row; draws of classes that lie apart may take many more to rest.
void learn(TestEngine& engine, const Data& data, Index row) {
  engine.feed(data, row, row + kFrame);
  engine->poll(64 * kFrame);
  engine->poll(0);
}

// Answers that say `warming_up` after the first max(100, 4 D) rows, and how many there are.
struct Answers {
  Index warming_up = 0;
  Index all = 0;
};
Answers answers_of(Order order, std::uint64_t seed) {
  const Data data = separable_data(1000, order, seed);
  ManualClock clock;
  TestEngine engine(separable_config(), &clock);
  Answers answers;
  for (Index row = 0; row < data.rows(); row += kFrame) {
    clock.advance_ns(1'000'000);
    learn(engine, data, row);
    if (row + kFrame <= kFirst) continue;
    ++answers.all;
    answers.warming_up += engine.provenance().status == PosteriorStatus::kWarmingUp;
  }
  return answers;
}

TEST(SeparableStream, IsWarmedUpForAll) {
  for (const Order order : {Order::kSorted, Order::kJoining}) {
    for (const std::uint64_t seed : {11U, 21U}) {
      EXPECT_EQ(answers_of(order, seed).warming_up, 0) << static_cast<int>(order) << ", " << seed;
    }
  }
}

// A chain that forgets slowly is warming up for long: 0.2 % of the answers of 60 streams, and 1.0 %
// where C stays that of the Laplace draws where chains began.
TEST(SeparableStream, OfAnySeedIsWarmedUpNearlyAlways) {
  WINDHOVER_SKIP_UNLESS_LONG();
  Answers sum;
  for (const Order order : {Order::kSorted, Order::kJoining}) {
    for (std::uint64_t seed = 11; seed <= 301; seed += 10) {
      const Answers answers = answers_of(order, seed);
      sum.warming_up += answers.warming_up;
      sum.all += answers.all;
    }
  }
  EXPECT_LT(static_cast<double>(sum.warming_up), 0.005 * static_cast<double>(sum.all));
}

}  // namespace
}  // namespace windhover::test::separable_stream_test
