// Long questions in a conversation: in pieces, one at a time, and short ones between them.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "windhover/tests/io/conversation_fixture.h"

namespace windhover::long_predict_test {
namespace {

using testing::observe_of;
using testing::Peer;
using testing::predict_of;
using testing::Shared;

constexpr std::uint32_t kRows = 32;

v1::Request status_of() {
  v1::Request request;
  request.mutable_status();
  return request;
}

// An endpoint's turns without sockets: whoever has asked waits, and whoever is next has one.
class Turns {
 public:
  Turns(Shared& shared, std::size_t peers) : shared_(shared) {
    for (std::size_t i = 0; i < peers; ++i) {
      all_.push_back(std::make_unique<Peer>(shared));
      shared.queue.begin(static_cast<std::uint32_t>(i));
    }
  }
  Peer& operator[](std::size_t who) { return *all_[who]; }

  void send(std::uint32_t who, const v1::Request& request) {
    all_[who]->add(request);
    if (all_[who]->end != TurnEnd::kNeedInput) return;  // it waits already
    EXPECT_TRUE(all_[who]->take_turn(0).empty());
    wait(who);
  }
  // The order in which answers came, until so many turns have been or nobody waits.
  std::vector<std::uint32_t> run(int turns) {
    std::vector<std::uint32_t> answered;
    for (; turns > 0 && !shared_.queue.empty(); --turns) {
      const std::uint32_t who = shared_.queue.next(shared_.long_predict.asker() == nullptr);
      EXPECT_NE(who, FairQueue::kNobody);
      const std::vector<v1::Response> responses = all_[who]->take_turn(kTurnNs);
      shared_.queue.charge(who, all_[who]->cost);
      longest = std::max(longest, all_[who]->cost);
      for (const v1::Response& response : responses) {
        EXPECT_FALSE(response.has_refusal()) << response.ShortDebugString();
        answered.push_back(who);
      }
      wait(who);
    }
    return answered;
  }

  std::int64_t longest = 0;

 private:
  void wait(std::uint32_t who) {
    const TurnEnd end = all_[who]->end;
    const bool goes_on = end == TurnEnd::kQuestion || end == TurnEnd::kNeedRoom;
    if (goes_on) shared_.queue.wait(who, FairQueue::Line::kAny);
    if (end == TurnEnd::kPlace) shared_.queue.wait(who, FairQueue::Line::kForPlace);
  }

  Shared& shared_;
  std::vector<std::unique_ptr<Peer>> all_;
};

TEST(LongPredict, InPiecesItIsTheSameAnswer) {
  Shared shared(8, EndpointKind::kQuery);
  Peer peer(shared);
  const v1::Request question = predict_of(kRows, true);
  std::vector<v1::Response> answer = peer.ask_all({question});
  int turns = 1;
  for (; answer.empty() && turns < 100; ++turns) answer = peer.take_turn(kTurnNs);
  ASSERT_EQ(answer.size(), 1U);
  EXPECT_GT(turns, 3);
  EXPECT_EQ(peer.end, TurnEnd::kNeedInput);
  shared.context.long_predict = nullptr;  // at once
  Peer other(shared);
  v1::Response at_once = other.ask(question);
  at_once.set_id(answer[0].id());
  EXPECT_EQ(at_once.SerializeAsString(), answer[0].SerializeAsString());
  EXPECT_EQ(shared.count(IoCounter::kQueries), 2U);
}

TEST(LongPredict, EveryPieceIsFromTheSnapshotOfTheFirst) {
  Shared shared;
  Peer sender(shared);
  Peer asker(shared);
  std::vector<v1::Response> answer = asker.ask_all({predict_of(kRows, true)});
  ASSERT_TRUE(answer.empty());
  ASSERT_EQ(sender.send(1, 0, 100).observe_ack().accepted(), 100U);
  while (shared.engine->poll(10) > 0) {
  }
  const v1::Response newest = sender.ask(predict_of(1, false));
  EXPECT_EQ(newest.predict_result().provenance().n_seen(), 100U);
  while (answer.empty()) answer = asker.take_turn(kTurnNs);
  EXPECT_EQ(answer[0].predict_result().provenance().n_seen(), 0U);
  EXPECT_EQ(answer[0].predict_result().predictions_size(), static_cast<int>(kRows));
}

TEST(LongPredict, ShortQuestionsAreAnsweredBetweenItsPieces) {
  Shared shared(8, EndpointKind::kQuery);
  Turns turns(shared, 2);
  turns.send(0, predict_of(kRows, true));
  EXPECT_TRUE(turns.run(1).empty());
  turns.send(1, predict_of(1, true));
  EXPECT_EQ(turns.run(100), (std::vector<std::uint32_t>{1, 0}));
}

// Found from outside: sixteen such connections took another client's median from 0.1 to 144 ms.
TEST(LongPredict, CrowdOfThemDelaysAShortQuestionByOneTurn) {
  Shared shared(8, EndpointKind::kQuery);
  Turns turns(shared, 17);
  for (std::uint32_t who = 0; who < 16; ++who) {
    turns.send(who, predict_of(kRows, true));
    turns.send(who, predict_of(kRows, true));
  }
  (void)turns.run(40);
  for (int i = 0; i < 40; ++i) {
    (void)turns.run(1);
    turns.send(16, predict_of(1, false));
    EXPECT_EQ(turns.run(1), std::vector<std::uint32_t>{16}) << i;
  }
  EXPECT_LE(turns.longest, kTurnNs + kTurnNs / 4);
}

TEST(LongPredict, WhoHasHadMuchWaitsBehindWhoHasHadLittle) {
  Shared shared(8, EndpointKind::kQuery);
  Turns turns(shared, 3);
  turns.send(0, predict_of(kRows, true));
  EXPECT_TRUE(turns.run(1).empty());
  turns.send(0, predict_of(kRows, true));  // behind the first
  turns.send(1, predict_of(kRows, true));
  turns.send(2, predict_of(kRows, true));
  EXPECT_EQ(turns.run(1000), (std::vector<std::uint32_t>{0, 1, 2, 0}));
}

TEST(LongPredict, PlaceIsFreeWhenItsAskerLeaves) {
  Shared shared(8, EndpointKind::kQuery);
  auto leaves = std::make_unique<Peer>(shared);
  EXPECT_TRUE(leaves->ask_all({predict_of(kRows, true)}).empty());
  EXPECT_EQ(leaves->end, TurnEnd::kQuestion);
  Peer waits(shared);
  EXPECT_TRUE(waits.ask_all({predict_of(kRows, true)}).empty());
  EXPECT_EQ(waits.end, TurnEnd::kPlace);
  leaves.reset();
  EXPECT_EQ(shared.long_predict.asker(), nullptr);
  std::vector<v1::Response> answer;
  while (answer.empty()) answer = waits.take_turn(kTurnNs);
  EXPECT_TRUE(answer[0].has_predict_result());
}

// Afterwards nobody may touch what the model has, a reader for its pieces among it.
TEST(LongPredict, PlaceIsFreeWhenItsModelGoes) {
  Shared shared(8, EndpointKind::kQuery);
  Peer asks(shared);
  EXPECT_TRUE(asks.ask_all({predict_of(kRows, true)}).empty());
  ASSERT_NE(shared.long_predict.asker(), nullptr);
  const ModelContext another;
  EXPECT_FALSE(asks.leave(another));
  EXPECT_NE(shared.long_predict.asker(), nullptr);
  EXPECT_TRUE(asks.leave(shared.about));
  EXPECT_EQ(shared.long_predict.asker(), nullptr);
}

TEST(LongPredict, RefusedOneTakesNoPlace) {
  Shared shared(8, EndpointKind::kQuery);
  Peer peer(shared);
  v1::Request wrong = predict_of(kRows, true);
  wrong.mutable_predict()->set_quantile_probabilities(0, 2.0);
  const std::vector<v1::Response> answer = peer.ask_all({wrong});
  ASSERT_EQ(answer.size(), 1U);
  EXPECT_EQ(answer[0].refusal().reason(), v1::REASON_INVALID_ARGUMENT);
  EXPECT_EQ(shared.long_predict.asker(), nullptr);
}

TEST(LongPredict, RowsAreJudgedWhereNoQuestionMayBeAnswered) {
  Shared shared;
  Peer peer(shared);
  const std::vector<v1::Response> answers =
      peer.ask_all({observe_of(1, 0, 10), observe_of(1, 10, 10), status_of()}, 0);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].observe_ack().accepted(), 20U);
  EXPECT_EQ(peer.end, TurnEnd::kQuestion);
  EXPECT_EQ(peer.cost, 0);
  ASSERT_EQ(peer.take_turn(kTurnNs).size(), 1U);
  EXPECT_EQ(peer.end, TurnEnd::kNeedInput);
  EXPECT_GT(peer.cost, 0);
}

TEST(LongPredict, TurnEndsWhenItsQuestionsHaveCostEnough) {
  Shared shared(8, EndpointKind::kQuery);
  Peer peer(shared);
  const std::vector<v1::Request> many(100, status_of());
  std::size_t answered = peer.ask_all(many).size();
  EXPECT_GT(answered, 1U);
  EXPECT_LT(answered, 20U);
  for (int turn = 0; turn < 100 && peer.end == TurnEnd::kQuestion; ++turn) {
    answered += peer.take_turn(kTurnNs).size();
  }
  EXPECT_EQ(answered, many.size());
}

}  // namespace
}  // namespace windhover::long_predict_test
