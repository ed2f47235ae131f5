// Who may send rows, and from where on: producers that were given and drawn.
#include "windhover/tests/io/conversation_fixture.h"

namespace windhover::testing::conversation_producers_test {
namespace {

TEST(Conversation, UnknownProducerBeginsAtZeroOrSaysThatItDoesNot) {
  Shared shared;
  Peer peer(shared);
  EXPECT_EQ(peer.send_reason(9, 1000, 5), v1::REASON_UNKNOWN_PRODUCER);
  EXPECT_EQ(shared.producers.size(), 0U);
  EXPECT_EQ(shared.count(IoCounter::kFramesRefusedProducer), 1U);
  EXPECT_EQ(shared.count(IoCounter::kRowsRefused), 5U);
  const v1::Response begun = peer.begin_at(9, 1000, 5);
  EXPECT_EQ(begun.observe_ack().accepted(), 5U);
  EXPECT_EQ(begun.observe_ack().producer_next(), 1005U);
  // For a known producer begins_here means nothing: a gap stays a gap.
  const v1::Response gap = peer.begin_at(9, 1006, 5);
  EXPECT_EQ(gap.refusal().reason(), v1::REASON_SEQUENCE_GAP);
  EXPECT_EQ(gap.refusal().number(), 1005U);
}

TEST(Conversation, SequenceNumbersThatWouldOverflowAreRefused) {
  Shared shared;
  Peer peer(shared);
  EXPECT_EQ(peer.begin_at(9, UINT64_MAX - 4, 5).refusal().reason(), v1::REASON_INVALID_ARGUMENT);
  EXPECT_EQ(shared.producers.size(), 0U);
  const v1::Response last = peer.begin_at(9, UINT64_MAX - 5, 5);
  EXPECT_EQ(last.observe_ack().producer_next(), UINT64_MAX);
  EXPECT_EQ(peer.send_reason(9, UINT64_MAX, 1), v1::REASON_INVALID_ARGUMENT);
  EXPECT_EQ(peer.send(9, UINT64_MAX - 5, 5).observe_ack().duplicate(), 5U);
}

// Found from outside: one connection could take every place of the table and leave.
TEST(Conversation, ConnectionSpeaksForSixteenProducersAtATime) {
  Shared shared(100);
  auto crowd = std::make_unique<Peer>(shared);
  EXPECT_EQ(crowd->welcome.welcome().max_producers(), 16U);
  for (std::uint64_t p = 1; p <= 16; ++p) {
    ASSERT_EQ(crowd->send(p, 0, 1).observe_ack().accepted(), 1U);
  }
  const v1::Response refused = crowd->send(17, 0, 1);
  EXPECT_EQ(refused.refusal().reason(), v1::REASON_TOO_MANY_PRODUCERS);
  EXPECT_EQ(refused.refusal().number(), 16U);
  EXPECT_EQ(shared.producers.size(), 16U);
  Peer other(shared);
  EXPECT_EQ(other.send(17, 0, 1).observe_ack().accepted(), 1U);
  EXPECT_EQ(other.send_reason(16, 1, 1), v1::REASON_PRODUCER_BUSY);
  crowd.reset();
  EXPECT_EQ(other.send(16, 1, 1).observe_ack().accepted(), 1U);  // and goes on where it was
}

TEST(Conversation, OnlyProducersWhoseRowsWereJudgedTakeUpRoom) {
  Shared shared(2);
  Peer peer(shared);
  EXPECT_EQ(peer.send_reason(1, 3, 1), v1::REASON_UNKNOWN_PRODUCER);
  EXPECT_EQ(peer.where(2).known(), false);
  (void)peer.send(3, 0, 0);
  EXPECT_EQ(peer.send(4, 0, 1).observe_ack().accepted(), 1U);
  EXPECT_EQ(peer.send(5, 0, 1).observe_ack().accepted(), 1U);
  const v1::Response full = peer.send(6, 0, 1);
  EXPECT_EQ(full.refusal().reason(), v1::REASON_TABLE_FULL);
  EXPECT_EQ(full.refusal().number(), 2U);
  EXPECT_EQ(shared.count(IoCounter::kFramesRefusedTableFull), 1U);
  EXPECT_EQ(peer.send(5, 1, 1).observe_ack().accepted(), 1U);
}

TEST(Conversation, FrameThatWaitsForTheWindowClaimsNothing) {
  Shared shared;
  Peer first(shared);
  std::uint64_t sent = 0;
  while (first.end != TurnEnd::kWindowFull) {  // nobody learns
    (void)first.ask_all({observe_of(1, sent, 500)});
    sent += 500;
  }
  Peer second(shared);
  EXPECT_TRUE(second.ask_all({observe_of(2, 0, 1)}).empty());
  EXPECT_EQ(second.end, TurnEnd::kWindowFull);
  EXPECT_EQ(shared.producers.size(), 1U);
}

TEST(Conversation, SilentProducerMayBeTakenOverAndKeepsItsSequence) {
  Shared shared;
  Peer first(shared);
  Peer second(shared);
  ASSERT_EQ(first.send(7, 0, 10).observe_ack().accepted(), 10U);
  shared.clock.advance_ns(59 * kSecond);
  EXPECT_TRUE(second.where(7).live());
  EXPECT_EQ(second.send_reason(7, 10, 1), v1::REASON_PRODUCER_BUSY);
  shared.clock.advance_ns(kSecond);
  EXPECT_FALSE(second.where(7).live());
  EXPECT_EQ(second.send(7, 5, 10).observe_ack().duplicate(), 5U);
  EXPECT_EQ(shared.count(IoCounter::kProducersTakenOver), 1U);
  EXPECT_EQ(first.send_reason(7, 15, 1), v1::REASON_PRODUCER_BUSY);
  EXPECT_EQ(shared.engine->head(), 15U);
}

TEST(Conversation, OnlyADrawnProducerGoesOverAGapWhereItSaysThatItBeginsThere) {
  const std::uint64_t drawn = kFirstPassingProducer + 1;
  Shared shared;
  Peer peer(shared);
  ASSERT_EQ(peer.send(drawn, 0, 10).observe_ack().producer_next(), 10U);
  EXPECT_EQ(peer.send_reason(drawn, 15, 5), v1::REASON_SEQUENCE_GAP);
  const v1::Response over = peer.begin_at(drawn, 15, 5);
  EXPECT_EQ(over.observe_ack().accepted(), 5U);
  EXPECT_EQ(over.observe_ack().duplicate(), 0U);
  EXPECT_EQ(over.observe_ack().producer_next(), 20U);
  EXPECT_EQ(peer.begin_at(drawn, 12, 10).observe_ack().duplicate(), 8U);
  ASSERT_EQ(peer.send(7, 0, 10).observe_ack().accepted(), 10U);
  EXPECT_EQ(peer.begin_at(7, 15, 5).refusal().reason(), v1::REASON_SEQUENCE_GAP);
}

// The old connection of a client that has come again may still be read.
TEST(Conversation, ADrawnProducerIsItsNewestConnectionsThatBringsRows) {
  const std::uint64_t drawn = kFirstPassingProducer + 1;
  Shared shared(1);
  Peer before(shared);
  auto after = std::make_unique<Peer>(shared);
  ASSERT_EQ(before.send(drawn, 0, 10).observe_ack().accepted(), 10U);
  ASSERT_EQ(after->send(drawn, 5, 10).observe_ack().accepted(), 5U);
  EXPECT_EQ(shared.count(IoCounter::kProducersTakenOver), 0U);
  const v1::Response late = before.send(drawn, 10, 5);
  EXPECT_EQ(late.observe_ack().duplicate(), 5U);
  EXPECT_EQ(late.observe_ack().producer_next(), 15U);
  // It is still the newer one's: the place is not free while that one lives.
  EXPECT_EQ(before.send_reason(drawn + 1, 0, 1), v1::REASON_TABLE_FULL);
  after.reset();
  EXPECT_EQ(before.send(drawn + 1, 0, 1).observe_ack().accepted(), 1U);
}

TEST(Conversation, TheNumberThatIsNobodysIsRefused) {
  Shared shared;
  Peer peer(shared);
  EXPECT_EQ(peer.send_reason(kNoProducer, 0, 1), v1::REASON_INVALID_ARGUMENT);
  EXPECT_EQ(shared.producers.size(), 0U);
}

TEST(Conversation, DrawnProducersMakeRoomAndThatIsTold) {
  Shared shared(2);
  Peer stays(shared);
  EXPECT_EQ(stays.welcome.welcome().forgotten(), 0U);
  EXPECT_TRUE(stays.welcome.welcome().forgets_drawn());
  ASSERT_EQ(stays.send(7, 0, 10).observe_ack().accepted(), 10U);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    Peer peer(shared);
    ASSERT_EQ(peer.send(kFirstPassingProducer + i, 0, 1).observe_ack().accepted(), 1U);
    const v1::ProducerStatusResult known = peer.where(kFirstPassingProducer + i);
    EXPECT_TRUE(known.known());
    EXPECT_EQ(known.forgotten(), i - 1);
    EXPECT_EQ(Peer(shared).welcome.welcome().forgotten(), i - 1);
  }
  EXPECT_EQ(shared.count(IoCounter::kProducersForgotten), 2U);
  EXPECT_FALSE(stays.where(kFirstPassingProducer + 1).known());
  // Two that somebody speaks for, and no room for a third.
  Peer speaks(shared);
  ASSERT_EQ(speaks.send(kFirstPassingProducer + 4, 0, 1).observe_ack().accepted(), 1U);
  EXPECT_EQ(Peer(shared).send_reason(kFirstPassingProducer + 5, 0, 1), v1::REASON_TABLE_FULL);
}

TEST(Conversation, ProducerStatusTellsAndClaimsNothing) {
  Shared shared;
  Peer peer(shared);
  Peer asker(shared);
  EXPECT_FALSE(asker.where(7).known());
  EXPECT_EQ(shared.producers.size(), 0U);
  (void)peer.send(7, 0, 10);
  const v1::ProducerStatusResult known = asker.where(7);
  EXPECT_EQ(known.producer(), 7U);
  EXPECT_TRUE(known.known());
  EXPECT_TRUE(known.live());
  EXPECT_EQ(known.next(), 10U);
  EXPECT_EQ(known.durable_next(), 0U);  // there is no log
  EXPECT_EQ(peer.send(7, 10, 1).observe_ack().accepted(), 1U);
  v1::Request nobody;
  nobody.mutable_producer_status();
  EXPECT_EQ(asker.ask(nobody).refusal().reason(), v1::REASON_INVALID_ARGUMENT);
  Shared questions(1, EndpointKind::kQuery);
  Peer elsewhere(questions);
  nobody.mutable_producer_status()->set_producer(7);
  EXPECT_EQ(elsewhere.ask(nobody).refusal().reason(), v1::REASON_UNSUPPORTED);
  EXPECT_EQ(elsewhere.welcome.welcome().max_producers(), 0U);
}

}  // namespace
}  // namespace windhover::testing::conversation_producers_test
