// Whose question an endpoint answers next, and when: EndpointTurns without an endpoint.
#include "windhover/io/endpoint_turns.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/endpoint_rig.h"

namespace windhover::endpoint_turns_test {
namespace {

using testing::EndpointRig;

constexpr std::int64_t kRowsBeforeAQuestion = 9 * kTurnNs;

std::uint64_t g_stops = 0;  // what the turns are told of the thread
std::uint64_t stops() noexcept { return g_stops; }

// Sessions that nobody has: a turn of one does nothing, and is seen by its having left the queue.
class Turns : public ::testing::Test {
 protected:
  explicit Turns(EndpointKind kind)
      : rig_(kind, 4), turns_(kind, rig_.io, memory(), state(), stops) {
    g_stops = 0;
    for (const Session& session : memory().sessions) turns_.begin(session);
  }
  EndpointMemory& memory() { return rig_.memory; }
  ServerState& state() { return rig_.shared.state; }
  const Session& at(std::size_t i) { return memory().sessions[i]; }
  void wait(std::size_t i, bool needs_place = false) { turns_.wait(at(i), needs_place); }
  // One thing that is to be done now; false: there is none.
  bool step() {
    rig_.io.restart();
    return rig_.io.poll_one() == 1;
  }
  bool all_answered() { return memory().queue.empty(); }
  // Gives the place of a long question to whoever this is.
  void take_place(const void* asker) {
    PredictQuery query;
    query.rows = 1;
    query.features = {reinterpret_cast<const std::byte*>(x_.data()), x_.size()};
    Reader& reader = reader_.emplace(rig_.shared.engine->reader().value());
    ASSERT_EQ(memory().long_predict.begin(reader, query, nullptr, asker, 0), Status::kOk);
  }

  EndpointRig rig_;
  EndpointTurns turns_;
  std::array<double, testing::kFeatures> x_{};
  std::optional<Reader> reader_;
};

class QueryTurns : public Turns {
 protected:
  QueryTurns() : Turns(EndpointKind::kQuery) {}
  // From here on the session is one that asks little.
  void make_light(std::size_t light, std::size_t other) {
    turns_.charge(at(other), 5'000'000);
    wait(other);
    while (step()) {
    }
    turns_.charge(at(other), 5'000'000);
    turns_.charge(at(light), 0);
  }
  // Session 0 asks little and has been answered; `much` does not, and waits for a pause to end.
  void pause_for(std::size_t much) {
    make_light(0, much);
    wait(0);
    EXPECT_TRUE(step());
    g_stops = 1;
    wait(much);
    EXPECT_TRUE(step());
    ASSERT_EQ(pauses(), 1U);
  }
  std::uint64_t pauses() { return rig_.count(IoCounter::kTurnPauses); }
};

class ObserveTurns : public Turns {
 protected:
  ObserveTurns() : Turns(EndpointKind::kObserve) {}
  void rows_come() { state().counters.add(IoCounter::kRowsReceived, 5); }
};

TEST_F(QueryTurns, AQuestionIsAnsweredAtOnceUnlessSomebodyWaits) {
  EXPECT_EQ(turns_.budget(), kTurnNs);
  wait(0);
  EXPECT_EQ(turns_.budget(), 0);
  EXPECT_TRUE(step());
  EXPECT_EQ(turns_.budget(), kTurnNs);
  wait(1, true);
  EXPECT_EQ(turns_.budget(), 0) << "one who waits for the place waits too";
}

TEST_F(QueryTurns, EachTurnIsAPieceOfItsOwn) {
  for (std::size_t i = 0; i < memory().sessions.size(); ++i) wait(i);
  for (std::size_t i = 0; i < memory().sessions.size(); ++i) {
    EXPECT_FALSE(all_answered());
    EXPECT_TRUE(step()) << i;
  }
  EXPECT_TRUE(all_answered());
  EXPECT_FALSE(step()) << "nothing is on its way where nobody waits";
}

TEST_F(QueryTurns, WhoLeavesHasNoTurnAndTheOthersHaveTheirs) {
  wait(0);
  wait(1, true);
  turns_.leave(at(0));
  turns_.leave(at(2));  // it did not wait
  EXPECT_TRUE(step());
  EXPECT_TRUE(all_answered());
  EXPECT_FALSE(step());
  wait(0);
  turns_.leave(at(0));
  EXPECT_TRUE(step()) << "finds nobody";
  wait(0);
  EXPECT_TRUE(step());
  EXPECT_TRUE(all_answered());
}

TEST_F(QueryTurns, WhileThePlaceIsTakenThoseForItWaitAndOthersDoNot) {
  take_place(this);
  wait(0, true);
  wait(1);
  EXPECT_TRUE(step());
  EXPECT_TRUE(step());
  EXPECT_FALSE(step()) << "whoever has the place goes on, or goes";
  EXPECT_FALSE(all_answered());
  turns_.look();
  EXPECT_TRUE(step());
  EXPECT_FALSE(all_answered()) << "it is still taken";
  memory().long_predict.abandon(this);
  turns_.look();
  EXPECT_TRUE(step());
  EXPECT_TRUE(all_answered());
}

TEST_F(QueryTurns, WhoGoesMakesRoomForWhoWaitsForThePlace) {
  take_place(this);
  wait(0, true);
  EXPECT_TRUE(step());
  EXPECT_FALSE(all_answered());
  memory().long_predict.abandon(this);
  turns_.leave(at(3));
  EXPECT_TRUE(step());
  EXPECT_TRUE(all_answered());
}

TEST_F(QueryTurns, LookingWhereNobodyWaitsBringsNothing) {
  turns_.look();
  EXPECT_FALSE(step());
}

TEST_F(QueryTurns, WhoAsksMuchPausesOnceBeforeEachTurnWhileTheThreadIsStopped) {
  make_light(0, 1);
  wait(0);
  EXPECT_TRUE(step());
  EXPECT_EQ(pauses(), 0U);
  g_stops = 1;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    wait(1);
    EXPECT_TRUE(step());
    EXPECT_EQ(pauses(), i);
    EXPECT_FALSE(all_answered());
    rig_.io.restart();
    EXPECT_EQ(rig_.io.run_one(), 1U) << "the end of the pause";
    EXPECT_TRUE(step());
    EXPECT_TRUE(all_answered());
    turns_.charge(at(1), 1'000'000);
    EXPECT_EQ(pauses(), i) << "one a turn";
  }
}

TEST_F(QueryTurns, WhoAsksLittleDoesNotWaitForThePauseOfOthers) {
  pause_for(1);
  wait(0);
  EXPECT_TRUE(step());
  turns_.leave(at(1));
  EXPECT_TRUE(all_answered()) << "only the one that pauses was left";
}

TEST_F(QueryTurns, WithoutStopsOrWithNobodyWhoAsksLittleNobodyPauses) {
  g_stops = 7;
  wait(1);
  EXPECT_TRUE(step());
  EXPECT_TRUE(all_answered());
  EXPECT_EQ(pauses(), 0U) << "all ask much";
}

TEST_F(QueryTurns, CooledDownAPauseEndsAndBringsNoTurn) {
  pause_for(1);
  turns_.cool_down();
  rig_.io.restart();
  EXPECT_EQ(rig_.io.run(), 1U);
  EXPECT_FALSE(all_answered());
  turns_.look();
  EXPECT_TRUE(step());
  EXPECT_TRUE(all_answered()) << "the pause counts as over";
}

TEST_F(ObserveTurns, NoQuestionIsAnsweredBeforeItsTurn) {
  EXPECT_EQ(turns_.budget(), 0);
  wait(0);
  EXPECT_EQ(turns_.budget(), 0);
  EXPECT_TRUE(step());
  EXPECT_TRUE(all_answered());
}

TEST_F(ObserveTurns, RowsComeFirstUntilAQuestionIsDue) {
  rows_come();
  wait(0);
  EXPECT_TRUE(step());
  EXPECT_TRUE(all_answered()) << "the first one is due";
  wait(0);
  for (int i = 0; i < 5; ++i) {
    rows_come();
    EXPECT_TRUE(step());
    EXPECT_FALSE(all_answered()) << i;
  }
  rig_.shared.clock.advance_ns(kRowsBeforeAQuestion - 1);
  rows_come();
  EXPECT_TRUE(step());
  EXPECT_FALSE(all_answered());
  rig_.shared.clock.advance_ns(1);
  rows_come();
  EXPECT_TRUE(step());
  EXPECT_TRUE(all_answered());
}

TEST_F(ObserveTurns, WhereNoRowsComeAQuestionIsAnsweredAtOnce) {
  wait(0);
  EXPECT_TRUE(step());
  wait(0);
  EXPECT_TRUE(step());
  EXPECT_TRUE(all_answered());
  rows_come();
  wait(0);
  EXPECT_TRUE(step());
  EXPECT_FALSE(all_answered());
  EXPECT_TRUE(step()) << "it is looked again by itself";
  EXPECT_TRUE(all_answered());
}

TEST_F(ObserveTurns, NobodyPauses) {
  g_stops = 50;
  for (int i = 0; i < 3; ++i) {
    g_stops += 50;
    wait(0);
    EXPECT_TRUE(step());
    EXPECT_TRUE(all_answered());
  }
  EXPECT_EQ(rig_.count(IoCounter::kTurnPauses), 0U);
}

}  // namespace
}  // namespace windhover::endpoint_turns_test
