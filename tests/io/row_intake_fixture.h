// What the tests of a connection's rows share: a connection's rows without the connection.
#ifndef WINDHOVER_TESTS_IO_ROW_INTAKE_FIXTURE_H_
#define WINDHOVER_TESTS_IO_ROW_INTAKE_FIXTURE_H_

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/io/codec.h"
#include "windhover/io/row_intake.h"
#include "windhover/tests/io/labels_fixture.h"

namespace windhover::testing::row_intake_test {

using labels_test::with_labels;

inline EngineConfig short_window() {
  EngineConfig config = with_labels();
  config.window_slack = 64;
  config.max_frame_rows = 32;
  return config;
}

// A number of rows of a producer; those from `bad` on are refused.
struct Rows {
  Rows(std::uint64_t producer, std::uint64_t first, std::size_t rows, std::size_t bad = SIZE_MAX)
      : x(rows * kFeatures, 0.5), y(rows, 1.0) {
    for (std::size_t i = bad; i < rows; ++i) y[i] = std::numeric_limits<double>::quiet_NaN();
    request.producer = producer;
    request.first_sequence = first;
    request.batch.rows = rows;
    request.batch.features = reinterpret_cast<const std::byte*>(x.data());
    request.batch.feature_values = x.size();
    request.batch.targets = reinterpret_cast<const std::byte*>(y.data());
  }

  std::vector<double> x;
  std::vector<double> y;
  ObserveRequest request;
};

// One connection's rows, and what it is told.
class Intake {
 public:
  explicit Intake(Shared& shared, Durability durability = Durability::kMemory)
      : room_(shared.limits.reply_buffer), replies_(room_), rows_(shared.context, rights_) {
    rights_.begin(nullptr, {});
    rows_.begin();
    rows_.enter(shared.about, durability);
  }
  ~Intake() { rows_.end(); }

  RowIntake* operator->() { return &rows_; }
  ReplyBuffer& replies() { return replies_; }
  TurnEnd observe(const Rows& rows) {
    rows_.begin_turn();
    return rows_.observe(++id_, rows.request, replies_);
  }
  TurnEnd outcome(const std::vector<std::string>& keys) {
    v1::Request request;
    for (const std::string& key : keys) {
      request.mutable_outcome()->add_keys(key);
      request.mutable_outcome()->add_targets(1);
    }
    request.mutable_outcome();
    const std::string bytes = request.SerializeAsString();
    RequestView view;
    EXPECT_EQ(decode_request(std::as_bytes(std::span(bytes)), view), Status::kOk);
    rows_.begin_turn();
    return rows_.outcome(++id_, view.outcome, replies_);
  }
  // What it is told, acknowledgements that are due included.
  std::vector<v1::Response> told() {
    rows_.acks().flush(replies_);
    return taken_from(replies_);
  }
  v1::Response told_once() {
    const std::vector<v1::Response> all = told();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? v1::Response() : all.front();
  }

 private:
  std::vector<std::byte> room_;
  ReplyBuffer replies_;
  PeerRights rights_;
  RowIntake rows_;
  std::uint64_t id_ = 0;
};

class RowIntakeTest : public ::testing::Test {
 protected:
  explicit RowIntakeTest(std::size_t known = 8)
      : shared_(known, EndpointKind::kObserve, short_window()) {}
  ~RowIntakeTest() override {
    const std::uint64_t judged = count(IoCounter::kRowsAccepted) + count(IoCounter::kRowsRefused) +
                                 count(IoCounter::kRowsDuplicate);
    EXPECT_EQ(count(IoCounter::kRowsReceived), judged);
    EXPECT_EQ(count(IoCounter::kRowsAccepted), shared_.engine->head());
  }
  std::uint64_t count(IoCounter id) { return shared_.count(id); }
  void expect_rows(std::uint64_t accepted, std::uint64_t refused, std::uint64_t duplicate) {
    EXPECT_EQ(count(IoCounter::kRowsAccepted), accepted);
    EXPECT_EQ(count(IoCounter::kRowsRefused), refused);
    EXPECT_EQ(count(IoCounter::kRowsDuplicate), duplicate);
  }
  void fill(Intake& intake) {
    EXPECT_EQ(intake.observe(Rows(0, 0, 32)), TurnEnd::kNeedInput);
    EXPECT_EQ(intake.observe(Rows(0, 0, 32)), TurnEnd::kNeedInput);
    (void)intake.told();
  }
  void learn() {
    while (shared_.engine->poll(100) > 0) {
    }
  }
  std::uint64_t next(std::uint64_t producer) { return shared_.producers.at(producer).next; }
  bool claimed(std::uint64_t producer) { return shared_.producers.at(producer).owner != nullptr; }

  Shared shared_;
};

}  // namespace windhover::testing::row_intake_test

#endif  // WINDHOVER_TESTS_IO_ROW_INTAKE_FIXTURE_H_
