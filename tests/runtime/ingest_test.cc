#include "windhover/runtime/window/ingest.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::ingest_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A window with its writer; no learner, so that every slot can be looked at.
class IngestTest : public testing::Test {
 protected:
  void make(const char* name, std::uint32_t features, std::uint32_t max_nonzeros = 0,
            std::uint64_t slack = 64, std::uint32_t max_frame_rows = 4096) {
    ModelConfig config;
    config.name = name;
    config.features = features;
    config.max_nonzeros = max_nonzeros;
    block_ = std::make_unique<MappedBlock>(1 << 22);
    arena_ = std::make_unique<Arena>(block_->bytes());
    Model* model = find_model(name)->make(*arena_, config);
    find_model(name)->reset(*model);
    window_ = std::make_unique<Window>(*arena_, RowLayout(config), 100, slack);
    window_->reset();
    ingest_ =
        std::make_unique<Ingest>(*window_, model, max_frame_rows, MissingFeatures({}), counters_);
  }
  template <class T>
  static const std::byte* bytes(const std::vector<T>& v) {
    return reinterpret_cast<const std::byte*>(v.data());
  }
  ObservationBatch dense(const std::vector<double>& x, const std::vector<double>& y) {
    ObservationBatch b;
    b.rows = y.size();
    b.features = bytes(x);
    b.feature_values = x.size();
    b.targets = bytes(y);
    return b;
  }
  ObservationBatch sparse(const std::vector<double>& x, const std::vector<std::uint32_t>& indices,
                          const std::vector<std::uint32_t>& ends, const std::vector<double>& y) {
    ObservationBatch b = dense(x, y);
    b.indices = bytes(indices);
    b.row_ends = bytes(ends);
    return b;
  }
  // The status of the one row of a batch.
  Status one(const ObservationBatch& b) {
    RefusedRow refused;
    const ObserveResult r = ingest_->observe(b, {&refused, 1});
    if (!ok(r.status)) return r.status;
    EXPECT_EQ(r.accepted + r.refused, b.rows - b.first_row);
    return r.refused > 0 ? refused.reason : Status::kOk;
  }
  std::uint64_t count(RuntimeCounter c) const { return counters_.get(c); }

  std::unique_ptr<MappedBlock> block_;
  std::unique_ptr<Arena> arena_;
  std::unique_ptr<Window> window_;
  Counters<RuntimeCounter> counters_;
  std::unique_ptr<Ingest> ingest_;
};

TEST_F(IngestTest, DoublesLieInTheWindowAsTheyCame) {
  make("linear", 2);
  const std::vector<double> x = {1.5, -2.5, 3.5, -4.5};
  const std::vector<double> y = {10, 20};
  const ObserveResult r = ingest_->observe(dense(x, y), {});
  EXPECT_EQ(r.status, Status::kOk);
  EXPECT_EQ(r.accepted, 2u);
  EXPECT_EQ(window_->head(), 2u);
  for (std::uint64_t s = 0; s < 2; ++s) {
    const double* row = window_->slot_of(s);
    EXPECT_EQ(row[0], x[2 * s]);
    EXPECT_EQ(row[1], x[2 * s + 1]);
    EXPECT_EQ(row[2], y[s]);
    EXPECT_EQ(row[3], 0.0);  // padding that kernels multiply
  }
}

TEST_F(IngestTest, FloatsAtAnOddAddressAreWidened) {
  make("linear", 3);
  const std::array<float, 3> x = {0.1F, -7.25F, 1e30F};
  const float y = 2.5F;
  std::vector<std::byte> buffer(64);
  std::memcpy(buffer.data() + 1, x.data(), sizeof(x));
  std::memcpy(buffer.data() + 35, &y, sizeof(y));
  ObservationBatch b;
  b.rows = 1;
  b.scalar = Scalar::kFloat32;
  b.features = buffer.data() + 1;
  b.feature_values = 3;
  b.targets = buffer.data() + 35;
  EXPECT_EQ(one(b), Status::kOk);
  const double* row = window_->slot_of(0);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(row[j], static_cast<double>(x[j]));
  EXPECT_EQ(row[3], 2.5);
}

TEST_F(IngestTest, RowsBeforeTheFirstArePassedOver) {
  make("linear", 1);
  const std::vector<double> x = {kNan, 2, 3};
  const std::vector<double> y = {1, 2, 3};
  ObservationBatch b = dense(x, y);
  b.first_row = 1;
  const ObserveResult r = ingest_->observe(b, {});
  EXPECT_EQ(r.accepted, 2u);
  EXPECT_EQ(r.refused, 0u);
  EXPECT_EQ(window_->slot_of(0)[0], 2.0);
  b.first_row = 3;
  EXPECT_EQ(ingest_->observe(b, {}).accepted, 0u);
  b.first_row = 4;
  EXPECT_EQ(ingest_->observe(b, {}).status, Status::kMalformed);
}

TEST_F(IngestTest, BadRowLeavesItsNeighboursIntact) {
  make("linear", 2);
  for (const double bad : {kNan, kInfinity, -kInfinity, 1e300, -1e101}) {
    const std::uint64_t head = window_->head();
    const std::vector<double> x = {1, 2, 3, bad, 5, 6};
    const std::vector<double> y = {7, 8, 9};
    std::array<RefusedRow, 3> refused{};
    const ObserveResult r = ingest_->observe(dense(x, y), refused);
    EXPECT_EQ(r.accepted, 2u);
    ASSERT_EQ(r.refused, 1u);
    EXPECT_EQ(refused[0].row, 1u);
    EXPECT_EQ(refused[0].reason, Status::kNotFinite);
    EXPECT_EQ(window_->head(), head + 2);
    EXPECT_EQ(window_->slot_of(head)[1], 2.0);
    EXPECT_EQ(window_->slot_of(head + 1)[0], 5.0);
    EXPECT_EQ(window_->slot_of(head + 1)[2], 9.0);
  }
  EXPECT_EQ(count(RuntimeCounter::kRowsRefusedNotFinite), 5u);
  EXPECT_EQ(count(RuntimeCounter::kRowsAccepted), 10u);
}

TEST_F(IngestTest, TargetsOutsideTheDomainAreRefused) {
  make("logistic", 1);
  EXPECT_EQ(one(dense({1}, {0})), Status::kOk);
  EXPECT_EQ(one(dense({1}, {1})), Status::kOk);
  EXPECT_EQ(one(dense({1}, {-0.0})), Status::kOk);
  for (const double y : {0.5, 2.0, -1.0, 1.0000001}) {
    EXPECT_EQ(one(dense({1}, {y})), Status::kTargetOutOfDomain) << y;
  }
  EXPECT_EQ(one(dense({1}, {kNan})), Status::kNotFinite);
  EXPECT_EQ(count(RuntimeCounter::kRowsRefusedTarget), 4u);
  EXPECT_EQ(count(RuntimeCounter::kRowsRefusedNotFinite), 1u);
}

TEST_F(IngestTest, WrongDimensionTakesNothingAndCountsItsRows) {
  make("linear", 3);
  const std::vector<double> x = {1, 2, 3, 4};
  EXPECT_EQ(ingest_->observe(dense(x, {1, 2}), {}).status, Status::kWrongDimension);
  EXPECT_EQ(window_->head(), 0u);
  EXPECT_EQ(count(RuntimeCounter::kRowsRefusedDimension), 2u);
  EXPECT_EQ(count(RuntimeCounter::kBatchesRefused), 0u);
}

TEST_F(IngestTest, MalformedBatchesTakeNothing) {
  make("linear", 2);
  const std::vector<double> x = {1, 2};
  const std::vector<double> y = {1};
  const std::vector<std::uint32_t> ends = {2};
  ObservationBatch b = dense(x, y);
  b.features = nullptr;
  EXPECT_EQ(ingest_->observe(b, {}).status, Status::kMalformed);
  b = dense(x, y);
  b.targets = nullptr;
  EXPECT_EQ(ingest_->observe(b, {}).status, Status::kMalformed);
  b = dense(x, y);
  b.row_ends = bytes(ends);
  EXPECT_EQ(ingest_->observe(b, {}).status, Status::kMalformed);
  EXPECT_EQ(count(RuntimeCounter::kBatchesRefused), 3u);
  EXPECT_EQ(ingest_->observe(ObservationBatch{}, {}).status, Status::kOk);
  EXPECT_EQ(window_->head(), 0u);
}

TEST_F(IngestTest, SparseRowsLieInTheWindow) {
  make("linear", 10, 3);
  const std::vector<double> x = {1, 2, 3, 4};
  const std::vector<std::uint32_t> indices = {0, 4, 9, 5};
  const std::vector<std::uint32_t> ends = {3, 3, 4};
  const std::vector<double> y = {7, 8, 9};
  EXPECT_EQ(ingest_->observe(sparse(x, indices, ends, y), {}).accepted, 3u);
  const SparseRow first(window_->layout(), window_->slot_of(0));
  ASSERT_EQ(first.count, 3u);
  EXPECT_EQ(first.indices[2], 9u);
  EXPECT_EQ(first.values[2], 3.0);
  EXPECT_EQ(first.target, 7.0);
  EXPECT_EQ(SparseRow(window_->layout(), window_->slot_of(1)).count, 0u);
  const SparseRow last(window_->layout(), window_->slot_of(2));
  ASSERT_EQ(last.count, 1u);
  EXPECT_EQ(last.indices[0], 5u);
  EXPECT_EQ(last.values[0], 4.0);
}

TEST_F(IngestTest, EachSparseErrorHasItsReason) {
  make("logistic", 10, 2);
  EXPECT_EQ(one(sparse({1, 1, 1}, {1, 2, 3}, {3}, {1})), Status::kTooManyNonzeros);
  EXPECT_EQ(one(sparse({1}, {10}, {1}, {1})), Status::kIndexOutOfRange);
  EXPECT_EQ(one(sparse({1}, {0xFFFFFFFFu}, {1}, {1})), Status::kIndexOutOfRange);
  EXPECT_EQ(one(sparse({1, 1}, {4, 4}, {2}, {1})), Status::kIndicesNotIncreasing);
  EXPECT_EQ(one(sparse({1, 1}, {4, 3}, {2}, {1})), Status::kIndicesNotIncreasing);
  EXPECT_EQ(one(sparse({1, kNan}, {3, 4}, {2}, {1})), Status::kNotFinite);
  EXPECT_EQ(one(sparse({1, 1}, {3, 4}, {2}, {3})), Status::kTargetOutOfDomain);
  EXPECT_EQ(count(RuntimeCounter::kRowsRefusedSparse), 5u);
  EXPECT_EQ(count(RuntimeCounter::kRowsRefusedNotFinite), 1u);
  EXPECT_EQ(count(RuntimeCounter::kRowsRefusedTarget), 1u);
  // Row ends that go back, or that do not end with the values, spoil the batch.
  EXPECT_EQ(one(sparse({1, 1}, {3, 4}, {2, 1}, {1, 1})), Status::kMalformed);
  EXPECT_EQ(one(sparse({1, 1}, {3, 4}, {1}, {1})), Status::kMalformed);
  EXPECT_EQ(one(sparse({1, 1}, {3, 4}, {3}, {1})), Status::kMalformed);
  EXPECT_EQ(window_->head(), 0u);
}

TEST_F(IngestTest, ListOfRefusedRowsIsCutButAllAreCounted) {
  make("linear", 1);
  const std::vector<double> x = {kNan, 1, kNan, kNan, kNan, 2};
  std::array<RefusedRow, 2> refused{};
  const ObserveResult r = ingest_->observe(dense(x, std::vector<double>(6, 1.0)), refused);
  EXPECT_EQ(r.accepted, 2u);
  EXPECT_EQ(r.refused, 4u);
  EXPECT_EQ(refused[0].row, 0u);
  EXPECT_EQ(refused[1].row, 2u);
  EXPECT_EQ(count(RuntimeCounter::kRowsRefusedNotFinite), 4u);
}

TEST_F(IngestTest, FullWindowTakesNothingUntilTheLeaseAdvances) {
  make("linear", 1, 0, 8);
  const std::vector<double> x = {1, 2, 3, 4};
  EXPECT_EQ(ingest_->observe(dense(x, x), {}).accepted, 4u);
  EXPECT_EQ(ingest_->observe(dense(x, x), {}).accepted, 4u);
  EXPECT_EQ(ingest_->observe(dense(x, x), {}).status, Status::kWindowFull);
  EXPECT_EQ(window_->head(), 8u);
  EXPECT_EQ(count(RuntimeCounter::kWindowFull), 1u);
  window_->advance_lease(8);
  EXPECT_EQ(ingest_->observe(dense(x, x), {}).accepted, 4u);
}

TEST_F(IngestTest, BatchOfMoreThanMaxFrameRowsIsTooLarge) {
  make("linear", 1, 0, 16, 4);
  const std::vector<double> x(5, 1.0);
  EXPECT_EQ(ingest_->observe(dense(x, x), {}).status, Status::kTooLarge);
  EXPECT_EQ(count(RuntimeCounter::kBatchesRefused), 1u);
  EXPECT_EQ(window_->head(), 0u);
  ObservationBatch resent = dense(x, x);
  resent.first_row = 1;
  EXPECT_EQ(ingest_->observe(resent, {}).accepted, 4u);
}

TEST_F(IngestTest, EveryRowIsAcceptedOrRefused) {
  make("logistic", 2, 0, 4096);
  std::uint64_t sent = 0;
  for (std::uint64_t batch = 0; batch < 100; ++batch) {
    const VectorXd u = uniforms(batch, 60);
    std::vector<double> x(40);
    std::vector<double> y(20);
    for (std::size_t i = 0; i < 20; ++i) {
      x[2 * i] = u[static_cast<Index>(i)] < 0.1 ? kNan : 1.0;
      x[2 * i + 1] = 2;
      y[i] = u[static_cast<Index>(20 + i)] < 0.1 ? 0.5 : 1.0;
    }
    const ObserveResult r = ingest_->observe(dense(x, y), {});
    ASSERT_EQ(r.status, Status::kOk);
    EXPECT_EQ(r.accepted + r.refused, 20u);
    sent += 20;
  }
  EXPECT_EQ(count(RuntimeCounter::kRowsAccepted), window_->head());
  EXPECT_EQ(sent, count(RuntimeCounter::kRowsAccepted) +
                      count(RuntimeCounter::kRowsRefusedNotFinite) +
                      count(RuntimeCounter::kRowsRefusedTarget));
}

TEST(Engine, SingleRowSaysWhyItWasRefused) {
  TestEngine engine(small_config("logistic", 2, 100));
  const std::array<double, 2> x = {1, 2};
  const std::array<double, 2> bad = {1, kNan};
  EXPECT_EQ(engine->observe(x, 1.0), Status::kOk);
  EXPECT_EQ(engine->observe(bad, 1.0), Status::kNotFinite);
  EXPECT_EQ(engine->observe(x, 3.0), Status::kTargetOutOfDomain);
  EXPECT_EQ(engine->observe(std::span(x).first(1), 1.0), Status::kWrongDimension);
  EXPECT_EQ(engine->observe({}, 1.0), Status::kWrongDimension);
  EXPECT_EQ(engine->head(), 1u);
}

}  // namespace
}  // namespace windhover::test::ingest_test
