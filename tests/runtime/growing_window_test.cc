// A window that grows: what the first few rows said of the draws must not be said of all later
// ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::growing_window_test {
namespace {

constexpr Index kChunk = 100;
constexpr Index kRows = 3000;

// One row of numbers and a category, of which the k-th has about 1 / k^2 of the rows; minutes of
// delay, so to speak: most of them near 0, some far above.
Data skewed_rows(Index numbers, Index categories, std::uint64_t seed) {
  Data data{RowMatrix::Zero(kRows, numbers + categories), VectorXd(kRows), {}};
  const VectorXd z = normals(seed, kRows * (numbers + 1));
  const VectorXd u = uniforms(seed, 2 * kRows);
  for (Index i = 0; i < kRows; ++i) {
    data.x.row(i).head(numbers) = z.segment(i * (numbers + 1), numbers).transpose();
    const auto category = static_cast<Index>(1 / u[2 * i]);
    if (category <= categories) data.x(i, numbers + category - 1) = 1;
    const double far = u[2 * i + 1] < 0.3 ? 40 * -std::log(u[2 * i + 1] / 0.3) : 0;
    data.y[i] = std::round(5 * z[i * (numbers + 1) + numbers] + 3 * data.x(i, 0) + far);
  }
  return data;
}

EngineConfig config_of(const char* model, const Data& data) {
  EngineConfig config = small_config(model, static_cast<std::uint32_t>(data.x.cols()), 100'000);
  config.model = {};  // the prior and the noise of who gives none
  config.model.name = model;
  config.model.features = static_cast<std::uint32_t>(data.x.cols());
  return config;
}

// Chunk by chunk, each learned from until the learner rests.
template <class F>
void stream(TestEngine& engine, const Data& data, F&& after_chunk) {
  for (Index i = 0; i < data.rows(); i += kChunk) {
    engine.feed(data, i, std::min(i + kChunk, data.rows()));
    engine.poll_until_idle();
    after_chunk(i + kChunk);
  }
}

// 60 D^3 is more than the moves of some thousand rows pay for, at 4 draws a row.
TEST(GrowingWindow, SpreadIsComparedAnewAsRowsCome) {
  const Data data = linear_data(kRows, 29, 1.0, 71);
  TestEngine engine(config_of("linear", data));
  std::set<double> ratios;
  stream(engine, data, [&](Index) { ratios.insert(engine.provenance().ou_ratio); });
  // The window grows from 100 to 3,000 rows in quarters: 15 times. A chunk may be more than a
  // quarter.
  EXPECT_GE(ratios.size(), 10u);
}

// Minibatches grow with the window, before the law of the chains does.
TEST(GrowingWindow, LawThatIsOnItsWayIsNotCompared) {
  for (std::uint64_t seed = 73; seed < 78; ++seed) {
    Data data = linear_data(kChunk * 4, 3, 1.0, seed);
    data.x = data.x.array().exp();
    data.y = data.design() * data.truth + normals(seed, data.rows());
    TestEngine engine(config_of("linear", data));
    stream(engine, data, [&](Index rows) {
      EXPECT_NE(engine.provenance().reason, StatusReason::kSamplersLaw)
          << "seed " << seed << ", row " << rows;
    });
  }
}

// The first few hundred rows of a skewed y make many a posterior that no Gaussian is.
TEST(GrowingWindow, SpreadThatWasOffOfFewRowsIsNotSaidOfMany) {
  int off_at_first = 0;
  for (std::uint64_t seed = 72; seed < 77; ++seed) {
    const Data data = skewed_rows(8, 20, seed);
    TestEngine engine(config_of("student-t", data));
    bool off = false;
    stream(engine, data, [&](Index rows) {
      off = engine.provenance().reason == StatusReason::kSpread;
      if (off && rows == 3 * kChunk) ++off_at_first;
    });
    EXPECT_FALSE(off) << "seed " << seed;
  }
  EXPECT_GT(off_at_first, 0);  // otherwise nothing was tested
}

}  // namespace
}  // namespace windhover::test::growing_window_test
