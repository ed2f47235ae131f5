// The protocol of one connection, without connections: several of them share an engine, a table of
// producers and a clock that moves by hand.
#include "windhover/io/conversation.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/raw_peer.h"
#include "windhover/tests/io/server_fixture.h"

namespace windhover {
namespace {

using testing::kFeatures;
using testing::RawPeer;
using testing::small_engine;
using testing::small_server;

constexpr std::int64_t kSecond = 1'000'000'000;

// What the conversations of an endpoint share.
struct Shared {
  explicit Shared(std::size_t known = 8, EndpointKind kind = EndpointKind::kObserve)
      : engine_block(Engine::footprint(small_engine()).value()),
        engine(Engine::create(small_engine(), engine_block.bytes(), clock).value()),
        block(4 << 20),
        arena(block.bytes()),
        limits(limits_of(small_server(), with_defaults(small_engine()))),
        queries(arena, limits),
        producers(arena, known) {
    EXPECT_FALSE(arena.exhausted());
    state.limits = limits;
    state.engine = engine;
    state.clock = &clock;
    state.instance_id = 77;
    state.producers = &producers;
    producers.reset();
    queries.bind(state, kind, engine->reader().value(), engine->reader().value());
    context = {&state, &queries, kind == EndpointKind::kObserve ? &producers : nullptr};
    clock.advance_ns(kSecond);
  }

  std::uint64_t count(IoCounter id) const { return state.counters.get(id); }

  ManualClock clock;
  MappedBlock engine_block;
  Engine* engine;
  MappedBlock block;
  Arena arena;
  Limits limits;
  ServerState state;
  QueryHandler queries;
  ProducerTable producers;
  ConversationContext context;
};

v1::Request frame_of(std::uint64_t producer, std::uint64_t first, std::uint32_t rows) {
  v1::Request request;
  v1::Observe* observe = request.mutable_observe();
  observe->set_producer(producer);
  observe->set_first_sequence(first);
  observe->set_rows(rows);
  for (std::uint32_t i = 0; i < rows; ++i) {
    for (std::uint32_t j = 0; j < kFeatures; ++j) observe->add_features_f64(0.5);
    observe->add_targets_f64(1);
  }
  return request;
}

class Peer {
 public:
  explicit Peer(Shared& shared, v1::Durability durability = v1::DURABILITY_UNSPECIFIED)
      : room_(shared.limits.reply_buffer), replies_(room_), talk_(shared.context) {
    talk_.begin();
    v1::Request hello;
    hello.mutable_hello()->set_version_max(1);
    hello.mutable_hello()->set_durability(durability);
    welcome = ask(hello);
  }
  ~Peer() { talk_.end(); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // In one turn, acknowledged at its end.
  std::vector<v1::Response> ask_all(const std::vector<v1::Request>& requests) {
    std::string bytes;
    for (v1::Request request : requests) {
      request.set_id(++id_);
      bytes += RawPeer::framed(request);
    }
    end = talk_.handle(std::as_bytes(std::span(bytes)), replies_).end;
    talk_.flush_acknowledgements(replies_);
    std::vector<v1::Response> responses;
    while (!replies_.empty()) {
      const FrameScan scan = scan_frame(replies_.pending(), UINT32_MAX);
      EXPECT_EQ(scan.kind, FrameScan::kFrame);
      EXPECT_TRUE(responses.emplace_back().ParseFromArray(scan.frame.data(),
                                                          static_cast<int>(scan.frame.size())));
      replies_.consume(scan.consumed);
    }
    return responses;
  }
  v1::Response ask(const v1::Request& request) {
    const std::vector<v1::Response> responses = ask_all({request});
    EXPECT_EQ(responses.size(), 1U);
    return responses.empty() ? v1::Response() : responses.front();
  }

  v1::Response send(std::uint64_t producer, std::uint64_t first, std::uint32_t rows) {
    return ask(frame_of(producer, first, rows));
  }
  // The reason, or REASON_OK for rows that were judged.
  v1::Reason send_reason(std::uint64_t producer, std::uint64_t first, std::uint32_t rows) {
    return send(producer, first, rows).refusal().reason();
  }
  v1::Response begin_at(std::uint64_t producer, std::uint64_t first, std::uint32_t rows) {
    v1::Request request = frame_of(producer, first, rows);
    request.mutable_observe()->set_begins_here(true);
    return ask(request);
  }
  v1::ProducerStatusResult where(std::uint64_t producer) {
    v1::Request request;
    request.mutable_producer_status()->set_producer(producer);
    return ask(request).producer_status_result();
  }

  v1::Response welcome;
  TurnEnd end = TurnEnd::kNeedInput;

 private:
  std::vector<std::byte> room_;
  ReplyBuffer replies_;
  Conversation talk_;
  std::uint64_t id_ = 0;
};

// --- Producers

// Found from outside: this made every later row of the producer a duplicate, acknowledged and gone.
TEST(Conversation, ObserveWithoutRowsClaimsNothingAndChangesNothing) {
  Shared shared;
  Peer hostile(shared);
  const v1::Response nothing = hostile.send(42, std::uint64_t{1} << 63, 0);
  EXPECT_EQ(nothing.observe_ack().frames(), 1U);
  EXPECT_EQ(nothing.observe_ack().producer(), 42U);
  EXPECT_EQ(nothing.observe_ack().producer_next(), 0U);
  EXPECT_EQ(shared.producers.size(), 0U);
  Peer peer(shared);
  const v1::Response answer = peer.send(42, 0, 10);
  EXPECT_EQ(answer.observe_ack().accepted(), 10U);
  EXPECT_EQ(answer.observe_ack().duplicate(), 0U);
  EXPECT_EQ(hostile.send(42, 5, 0).observe_ack().producer_next(), 10U);
  EXPECT_EQ(shared.engine->head(), 10U);
}

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
  // Of a known one it means nothing: a gap stays a gap.
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
    (void)first.ask_all({frame_of(1, sent, 500)});
    sent += 500;
  }
  Peer second(shared);
  EXPECT_TRUE(second.ask_all({frame_of(2, 0, 1)}).empty());
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

// --- Checkpoints

TEST(Conversation, ACheckpointIsAskedForAtOnceAndAskedAfter) {
  for (const EndpointKind kind : {EndpointKind::kObserve, EndpointKind::kQuery}) {
    Shared shared(8, kind);
    CheckpointProgress& progress = shared.state.checkpoints;
    Peer peer(shared);
    const auto ask = [&](std::uint64_t number) {
      v1::Request request;
      request.mutable_take_checkpoint()->set_request(number);
      return peer.ask(request);
    };
    EXPECT_EQ(ask(0).refusal().reason(), v1::REASON_UNSUPPORTED);
    EXPECT_EQ(progress.requested.load(), 0U);

    shared.state.keeper = &progress;
    shared.state.request_checkpoint = [](void* keeper) noexcept {
      return static_cast<CheckpointProgress*>(keeper)->requested.fetch_add(1) + 1;
    };
    const v1::TakeCheckpointResult first = ask(0).take_checkpoint_result();
    EXPECT_EQ(first.request(), 1U);
    EXPECT_FALSE(first.answered());
    EXPECT_EQ(ask(0).take_checkpoint_result().request(), 2U);
    EXPECT_EQ(ask(3).refusal().reason(), v1::REASON_INVALID_ARGUMENT);

    progress.taken = 5;
    progress.status.store(Status::kIoError);
    progress.answered = 1;
    const v1::TakeCheckpointResult failed = ask(1).take_checkpoint_result();
    EXPECT_EQ(failed.request(), 1U);
    EXPECT_TRUE(failed.answered());
    EXPECT_EQ(failed.taken(), 5U);
    EXPECT_EQ(failed.status(), v1::REASON_IO_ERROR);
    EXPECT_FALSE(ask(2).take_checkpoint_result().answered());
    EXPECT_EQ(progress.requested.load(), 2U) << "asking after one asks for none";
  }
}

TEST(Conversation, StatusSaysWhatIsKept) {
  Shared shared;
  Peer peer(shared);
  v1::Request request;
  request.mutable_status();
  const v1::Durable none = peer.ask(request).status_result().durable();
  EXPECT_FALSE(none.keeps_folder());
  EXPECT_EQ(none.durability(), v1::DURABILITY_MEMORY);
  EXPECT_EQ(none.instance_id(), 77U);
  EXPECT_EQ(none.checkpoint_age_ns(), -1);
  EXPECT_EQ(none.producers_known(), 0U);

  (void)peer.send(7, 0, 10);
  ServerState& state = shared.state;
  state.request_checkpoint = [](void*) noexcept { return std::uint64_t{1}; };
  state.durability = Durability::kLogged;
  state.log.durable_head = 10;
  state.log.used_bytes = 4'096;
  state.log_capacity_bytes = 1 << 20;
  state.log.commits = 3;
  state.log.failures = 1;
  state.log.status.store(Status::kIoError);
  state.log.error_number = 5;
  state.checkpoints.taken = 2;
  state.checkpoints.failures = 4;
  state.checkpoints.head = 8;
  state.checkpoints.taken_ns = shared.clock.now_ns();
  state.checkpoints.lasted_ns = 6;
  state.checkpoints.status.store(Status::kTimeout);
  state.checkpoints.error_number = 28;
  shared.clock.advance_ns(12 * kSecond);
  const v1::Durable some = peer.ask(request).status_result().durable();
  EXPECT_TRUE(some.keeps_folder());
  EXPECT_EQ(some.durability(), v1::DURABILITY_LOGGED);
  EXPECT_EQ(some.durable_through(), 10U);
  EXPECT_EQ(some.recovering_through(), 0U);
  EXPECT_EQ(some.log_used_bytes(), 4'096U);
  EXPECT_EQ(some.log_capacity_bytes(), 1U << 20);
  EXPECT_EQ(some.commits(), 3U);
  EXPECT_EQ(some.log_failures(), 1U);
  EXPECT_EQ(some.log_status(), v1::REASON_IO_ERROR);
  EXPECT_EQ(some.log_errno(), 5);
  EXPECT_EQ(some.checkpoints_taken(), 2U);
  EXPECT_EQ(some.checkpoint_failures(), 4U);
  EXPECT_EQ(some.checkpoint_head(), 8U);
  EXPECT_EQ(some.checkpoint_age_ns(), 12 * kSecond);
  EXPECT_EQ(some.checkpoint_lasted_ns(), 6);
  EXPECT_EQ(some.checkpoint_status(), v1::REASON_TIMEOUT);
  EXPECT_EQ(some.checkpoint_errno(), 28);
  EXPECT_EQ(some.producers_known(), 1U);
}

// --- Acknowledgements

// Found from outside: merged, they named one producer for the rows of all.
TEST(Conversation, AcknowledgementCoversOneProducer) {
  Shared shared;
  Peer peer(shared);
  const std::vector<v1::Response> acks =
      peer.ask_all({frame_of(1, 0, 3), frame_of(1, 3, 4), frame_of(2, 0, 5), frame_of(0, 0, 6),
                    frame_of(1, 7, 1), frame_of(1, 8, 1)});
  ASSERT_EQ(acks.size(), 4U);
  const std::vector<std::vector<std::uint64_t>> expected = {
      {2 + 1, 1, 7, 2, 7}, {3 + 1, 2, 5, 1, 5}, {4 + 1, 0, 0, 1, 6}, {6 + 1, 1, 9, 2, 2}};
  for (std::size_t i = 0; i < acks.size(); ++i) {
    const v1::ObserveAck& ack = acks[i].observe_ack();
    EXPECT_EQ((std::vector<std::uint64_t>{acks[i].id(), ack.producer(), ack.producer_next(),
                                          ack.frames(), ack.accepted()}),
              expected[i]);
    EXPECT_EQ(ack.durable_through(), 0U);
  }
}

// The rows that it lists are those of its own frames.
TEST(Conversation, RefusedRowsAreListedWithTheirProducer) {
  Shared shared;
  Peer peer(shared);
  v1::Request bad = frame_of(2, 0, 2);
  bad.mutable_observe()->set_targets_f64(1, std::numeric_limits<double>::quiet_NaN());
  v1::Request wrong = frame_of(1, 0, 1);
  wrong.mutable_observe()->add_features_f64(1);
  const std::vector<v1::Response> acks = peer.ask_all({wrong, bad});
  ASSERT_EQ(acks.size(), 2U);
  ASSERT_EQ(acks[0].observe_ack().refused_row_size(), 1);
  EXPECT_EQ(acks[0].observe_ack().refused_row(0), UINT32_MAX);
  EXPECT_EQ(acks[0].observe_ack().producer_next(), 1U);
  ASSERT_EQ(acks[1].observe_ack().refused_row_size(), 1);
  EXPECT_EQ(acks[1].observe_ack().refused_request(0), acks[1].id());
  EXPECT_EQ(acks[1].observe_ack().refused_row(0), 1U);
}

// Many producers by turns, none of whose acknowledgements merge: the sender that does not read them
// is held back, and none is lost.
TEST(Conversation, AcknowledgementsOfManyProducersFindRoomOrWait) {
  Shared shared;
  Peer peer(shared);
  std::vector<v1::Request> frames;
  for (std::uint64_t i = 0; i < 2000; ++i) frames.push_back(frame_of(1 + i % 2, i / 2, 1));
  std::uint64_t acknowledged = 0;
  int turns = 0;
  for (; acknowledged < frames.size() && turns < 1000; ++turns) {
    const std::vector<v1::Request> rest(frames.begin() + static_cast<std::ptrdiff_t>(acknowledged),
                                        frames.end());
    for (const v1::Response& response : peer.ask_all(rest)) {
      acknowledged += response.observe_ack().frames();
    }
  }
  EXPECT_GT(turns, 1);
  EXPECT_EQ(acknowledged, frames.size());
  EXPECT_EQ(shared.engine->head(), frames.size());
}

// --- Identity and durability

TEST(Conversation, WelcomeNamesTheInstanceAndWhatAcknowledgementsStandFor) {
  Shared shared;
  const Peer any(shared);
  EXPECT_EQ(any.welcome.welcome().instance_id(), 77U);
  EXPECT_EQ(any.welcome.welcome().durability(), v1::DURABILITY_MEMORY);
  EXPECT_EQ(any.welcome.welcome().durable_through(), 0U);
  const Peer logged(shared, v1::DURABILITY_LOGGED);
  EXPECT_EQ(logged.welcome.refusal().reason(), v1::REASON_NOT_DURABLE);
  EXPECT_TRUE(logged.welcome.refusal().closing());
  const Peer later(shared, static_cast<v1::Durability>(3));
  EXPECT_EQ(later.welcome.refusal().reason(), v1::REASON_UNSUPPORTED);

  shared.state.durability = Durability::kLogged;
  shared.state.log.durable_head = 5;
  const Peer same(shared);
  EXPECT_EQ(same.welcome.welcome().durability(), v1::DURABILITY_LOGGED);
  EXPECT_EQ(same.welcome.welcome().durable_through(), 5U);
  Peer at_once(shared, v1::DURABILITY_MEMORY);
  EXPECT_EQ(at_once.welcome.welcome().durability(), v1::DURABILITY_MEMORY);
  EXPECT_EQ(at_once.send(1, 0, 1).observe_ack().durable_through(), 5U);
}

}  // namespace
}  // namespace windhover
