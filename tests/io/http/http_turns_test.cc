// Which request over HTTP is answered next.
#include "windhover/io/http/http_turns.h"

#include <deque>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/platform/memory.h"

namespace windhover::http_turns_test {
namespace {

// A connection as its turns see it.
struct Connection {
  void take_turn() {
    taken->push_back(number);
    if (then != nullptr) then(context);
  }

  int number = 0;
  std::vector<int>* taken = nullptr;
  void (*then)(void*) = nullptr;  // in its turn
  void* context = nullptr;
};

class HttpTurnsTest : public ::testing::Test {
 public:
  HttpTurnsTest() {
    EXPECT_FALSE(arena_.exhausted());
    for (int i = 0; i < kConnections; ++i) connections_.push_back({i, &taken_});
    for (const Connection& connection : connections_) turns_.begin(connection);
  }
  ~HttpTurnsTest() override { EXPECT_EQ(counters_.get(IoCounter::kHandlerHeapFallbacks), 0U); }
  Connection& at(std::size_t i) { return connections_[i]; }
  std::size_t go_on() {
    io_.restart();
    return io_.poll();
  }

  static constexpr int kConnections = 4;
  std::vector<int> taken_;
  std::deque<Connection> connections_;
  MappedBlock block_{1 << 16};
  Arena arena_{block_.bytes()};
  FairQueue queue_{arena_, kConnections};
  IoContext io_{1};
  Counters<IoCounter> counters_;
  HttpTurns<std::deque<Connection>> turns_{io_, queue_, connections_, counters_};
};

TEST_F(HttpTurnsTest, NobodyWaitsNothingIsOnItsWay) {
  EXPECT_EQ(go_on(), 0U);
  EXPECT_TRUE(taken_.empty());
}

TEST_F(HttpTurnsTest, EachIsAnsweredOnceInTheOrderInWhichTheyCame) {
  for (const std::size_t i : {3U, 0U, 2U}) turns_.wait(at(i));
  EXPECT_TRUE(taken_.empty()) << "never from within wait()";
  EXPECT_EQ(go_on(), 3U);
  EXPECT_EQ(taken_, (std::vector<int>{3, 0, 2}));
  EXPECT_EQ(go_on(), 0U);
}

TEST_F(HttpTurnsTest, BetweenTwoAnswersTheSocketsAreLookedAt) {
  int looks = 0;
  turns_.wait(at(0));
  turns_.wait(at(1));
  asio::post(io_, [&] {
    ++looks;
    EXPECT_EQ(taken_.size(), 1U);
  });
  go_on();
  EXPECT_EQ(looks, 1);
  EXPECT_EQ(taken_.size(), 2U);
}

TEST_F(HttpTurnsTest, WhoHasHadMuchGoesBehindWhoHasHadLittle) {
  turns_.charge(at(0), 10'000'000);
  turns_.charge(at(1), 1'000);
  for (const std::size_t i : {0U, 1U, 2U}) turns_.wait(at(i));
  go_on();
  ASSERT_EQ(taken_.size(), 3U);
  EXPECT_EQ(taken_.back(), 0);
}

TEST_F(HttpTurnsTest, ANewConnectionDoesNotPayForTheOneBefore) {
  turns_.charge(at(0), 10'000'000);
  turns_.charge(at(1), 1'000'000);
  turns_.begin(at(0));
  turns_.wait(at(1));
  turns_.wait(at(0));
  go_on();
  EXPECT_EQ(taken_, (std::vector<int>{0, 1}));
}

TEST_F(HttpTurnsTest, WhoHasLeftHasNoTurnAndTheOthersHaveTheirs) {
  for (const std::size_t i : {0U, 1U, 2U}) turns_.wait(at(i));
  turns_.leave(at(0));
  turns_.leave(at(3));  // it did not wait
  go_on();
  EXPECT_EQ(taken_, (std::vector<int>{1, 2}));
}

TEST_F(HttpTurnsTest, WhereAllHaveLeftTheNextOneIsAnsweredAllTheSame) {
  turns_.wait(at(1));
  turns_.leave(at(1));
  EXPECT_EQ(go_on(), 1U) << "the turn that was on its way finds nobody";
  EXPECT_TRUE(taken_.empty());
  turns_.wait(at(1));
  EXPECT_EQ(go_on(), 1U);
  EXPECT_EQ(taken_, (std::vector<int>{1}));
}

// Its next request may have come whole with the one that is answered.
TEST_F(HttpTurnsTest, WhoWaitsAgainInItsTurnGoesBehindTheOthers) {
  struct Again {
    HttpTurnsTest* test;
    int left = 2;
  } again{this};
  at(0).context = &again;
  at(0).then = [](void* context) {
    auto& more = *static_cast<Again*>(context);
    more.test->turns_.charge(more.test->at(0), 1'000'000);
    if (more.left-- > 0) more.test->turns_.wait(more.test->at(0));
  };
  turns_.wait(at(0));
  turns_.wait(at(1));
  EXPECT_EQ(go_on(), 4U);
  EXPECT_EQ(taken_, (std::vector<int>{0, 1, 0, 0}));
}

TEST_F(HttpTurnsTest, AllOfThemMayWaitAtOnce) {
  for (const Connection& connection : connections_) turns_.wait(connection);
  EXPECT_EQ(go_on(), std::size_t{kConnections});
  EXPECT_EQ(taken_, (std::vector<int>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace windhover::http_turns_test
