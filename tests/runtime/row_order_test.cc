// Rows in an order of their features: alone, and what an engine says of few of them.
#include "windhover/runtime/diagnostics/row_order.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::row_order_test {
namespace {

constexpr std::uint32_t kFeatures = 4;

// One pass over rows of four features.
class Order {
 public:
  Order() : block_(1 << 16), arena_(block_.bytes()), layout_(config()) {
    order_ = arena_.make<RowOrder>(arena_, layout_);
    order_->reset();
  }

  bool over(const RowMatrix& x) {
    const auto rows = static_cast<std::size_t>(x.rows());
    std::vector<double> numbers(rows * layout_.stride());
    for (std::size_t i = 0; i < rows; ++i) {
      for (Index j = 0; j < x.cols(); ++j) {
        numbers[i * layout_.stride() + static_cast<std::size_t>(j)] = x(static_cast<Index>(i), j);
      }
    }
    std::vector<std::uint32_t> slots(rows);
    std::iota(slots.begin(), slots.end(), 0U);
    order_->begin_pass();
    for (std::size_t i = 0; i < rows; i += 37) {
      order_->add({numbers.data(), slots.data() + i, std::min<std::size_t>(37, rows - i)});
    }
    order_->conclude();
    return order_->in_order();
  }

 private:
  static ModelConfig config() {
    ModelConfig model;
    model.features = kFeatures;
    return model;
  }

  MappedBlock block_;
  Arena arena_;
  RowLayout layout_;
  RowOrder* order_;
};

// Four independent columns, the last of them changed.
RowMatrix rows_with(Index rows, std::uint64_t seed, const std::function<double(Index, double)>& x) {
  RowMatrix all = VectorXd(normals(seed, rows * kFeatures)).reshaped<Eigen::RowMajor>(rows, 4);
  for (Index i = 0; i < rows; ++i) all(i, 3) = x(i, all(i, 3));
  return all;
}

// Four sd of what 1 in 1,000 of 4,000 passes are: 12 in all.
TEST(RowOrder, IsSeldomSeenWhereThereIsNone) {
  Order order;
  const auto kinds = {
      +[](Index, double z) { return 1e6 + z; },
      +[](Index, double z) { return std::exp(z); },
      +[](Index, double z) { return z * z * z; },
      +[](Index, double z) { return z > 2 ? 1.0 : 0.0; },
      +[](Index, double) { return 7.0; },
  };
  for (const auto& kind : kinds) {
    int seen = 0;
    for (std::uint64_t seed = 0; seed < 4'000; ++seed) {
      seen += order.over(rows_with(100, 100 + seed, kind)) ? 1 : 0;
    }
    EXPECT_LE(seen, 12);
  }
}

TEST(RowOrder, IsSeen) {
  Order order;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto seen = [&](const std::function<double(Index, double)>& x) {
      return order.over(rows_with(100, 9'000 + seed, x));
    };
    double walk = 0;
    EXPECT_TRUE(seen([](Index i, double) { return 1e5 + static_cast<double>(i); })) << "time";
    EXPECT_TRUE(seen([](Index i, double) { return std::exp(0.03 * static_cast<double>(i)); }));
    EXPECT_TRUE(seen([](Index i, double) { return i < 50 ? 0.0 : 1.0; })) << "sorted";
    EXPECT_TRUE(seen([](Index i, double) { return std::sin(0.3 * static_cast<double>(i)); }));
    EXPECT_TRUE(seen([&](Index, double z) { return walk += z; })) << "a walk";
  }
}

// Rows of a right model, ten at a time: `timed`, their first feature is when they came.
Data stream(bool timed) {
  Data data = linear_data(400, kFeatures, 1, 5);
  for (Index i = 0; i < data.rows() && timed; ++i) {
    const double time = 0.01 * static_cast<double>(i);
    data.y[i] += data.truth[0] * (time - data.x(i, 0));
    data.x(i, 0) = time;
  }
  return data;
}

// How many rows were in when the first answer was ok.
Index first_ok(bool timed, bool scored) {
  const Data data = stream(timed);
  EngineConfig config = small_config("linear", kFeatures, 1'000);
  config.model.noise_variance = 0;
  config.model.prior_precision = config.model.intercept_precision = 0;
  config.score_predictions = scored;
  ManualClock clock(1);
  TestEngine engine(config, &clock);
  for (Index row = 0; row < data.rows(); row += 10) {
    engine.feed(data, row, row + 10);
    clock.advance_ns(1'000'000'000);
    engine.poll_until_idle();
    const Provenance p = engine.provenance();
    if (p.status == PosteriorStatus::kOk) return row + 10;
    EXPECT_EQ(p.reason, row < 90 ? StatusReason::kFewDraws : StatusReason::kDependentRows) << row;
  }
  return data.rows() + 1;
}

TEST(RowOrder, FewRowsInAnOrderAreOkOnceTheirPredictionsAreBorneOut) {
  EXPECT_EQ(first_ok(false, true), 100);
  EXPECT_EQ(first_ok(true, true), 120) << "20 outcomes later";
  EXPECT_EQ(first_ok(true, false), 100) << "nobody compares";
}

// Nothing is compared with what was predicted, and nothing is ok before 384 rows are there.
TEST(RowOrder, ManyRowsAreNotAskedForIt) {
  const Data data = stream(true);
  EngineConfig config = small_config("linear", kFeatures, 1'000);
  config.model.noise_variance = 0;
  config.model.prior_precision = config.model.intercept_precision = 0;
  config.score_predictions = true;
  const auto status = [&](Index rows) {
    TestEngine engine(config);
    engine.feed(data, 0, rows);
    engine.poll_until_idle();
    return engine.provenance().status;
  };
  EXPECT_EQ(status(383), PosteriorStatus::kDegraded);
  EXPECT_EQ(status(384), PosteriorStatus::kOk);
}

}  // namespace
}  // namespace windhover::test::row_order_test
