// The protocol of one connection, without connections: several of them share an engine, a table of
// producers and a clock that moves by hand.
#ifndef WINDHOVER_TESTS_IO_CONVERSATION_FIXTURE_H_
#define WINDHOVER_TESTS_IO_CONVERSATION_FIXTURE_H_

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/io/conversation.h"
#include "windhover/io/fair_queue.h"
#include "windhover/tests/io/raw_peer.h"
#include "windhover/tests/io/server_fixture.h"

namespace windhover::testing {

constexpr std::int64_t kSecond = 1'000'000'000;

// All responses that wait there.
inline std::vector<v1::Response> taken_from(ReplyBuffer& replies) {
  std::vector<v1::Response> responses;
  while (!replies.empty()) {
    const FrameScan scan = scan_frame(replies.pending(), UINT32_MAX);
    EXPECT_EQ(scan.kind, FrameScan::kFrame);
    EXPECT_TRUE(responses.emplace_back().ParseFromArray(scan.frame.data(),
                                                        static_cast<int>(scan.frame.size())));
    replies.consume(scan.consumed);
  }
  return responses;
}

// What the conversations of an endpoint share.
struct Shared {
  explicit Shared(std::size_t known = 8, EndpointKind kind = EndpointKind::kObserve,
                  const EngineConfig& config = small_engine())
      : engine_block(Engine::footprint(config).value()),
        engine(Engine::create(config, engine_block.bytes(), clock).value()),
        block(4 << 20),
        arena(block.bytes()),
        limits(limits_of(small_server(), with_defaults(config))),
        scratch(arena, limits),
        long_predict(arena, limits),
        queue(arena, kPlaces),
        producers(arena, known) {
    EXPECT_FALSE(arena.exhausted());
    state.limits = limits;
    state.clock = &clock;
    model.called.set("default");
    model.limits = limits_of(engine->config());
    model.engine = engine;
    model.instance_id = 77;
    model.producers = &producers;
    producers.reset();
    scratch.reset();
    queries.bind(state, kind, model, scratch, engine->reader().value(), engine->reader().value());
    queries.set_reader_in_pieces(engine->reader().value());
    long_predict.reset();
    queue.reset();
    about = {&model, &queries, kind == EndpointKind::kObserve ? &producers : nullptr, nullptr};
    context = {&state, {&about, 1}, &long_predict};
    context.scratch = &scratch.predict;
    clock.advance_ns(kSecond);
  }

  static constexpr std::size_t kPlaces = 64;  // in the queue

  std::uint64_t count(IoCounter id) const { return state.counters.get(id); }

  ManualClock clock;
  MappedBlock engine_block;
  Engine* engine;
  MappedBlock block;
  Arena arena;
  Limits limits;
  ServerState state;
  ServedModel model;
  QueryScratch scratch;
  QueryHandler queries;
  LongPredict long_predict;
  FairQueue queue;
  ProducerTable producers;
  ModelContext about;
  ConversationContext context;
};

inline v1::Request observe_of(std::uint64_t producer, std::uint64_t first, std::uint32_t rows) {
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

// A Predict of so many rows; `broad`: with all the quantiles that there may be.
inline v1::Request predict_of(std::uint32_t rows, bool broad) {
  v1::Request request;
  v1::Predict* predict = request.mutable_predict();
  predict->set_rows(rows);
  for (std::uint32_t i = 0; i < rows * kFeatures; ++i) predict->add_features_f64(0.01 * i);
  for (std::uint32_t i = 1; broad && i <= kMaxQuantiles; ++i) {
    predict->add_quantile_probabilities(i / (kMaxQuantiles + 1.0));
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

  // Asks all in one turn, acknowledged at its end. What was sent before and not handled is
  // forgotten.
  std::vector<v1::Response> ask_all(const std::vector<v1::Request>& requests,
                                    std::int64_t budget = kTurnNs) {
    input_.clear();
    for (const v1::Request& request : requests) add(request);
    return take_turn(budget);
  }
  // Adds a request for a later turn.
  void add(v1::Request request) {
    request.set_id(++id_);
    input_ += RawPeer::framed(request);
  }
  // What has been sent and not been handled lies elsewhere from now on.
  void move_input() {
    std::string moved = input_;
    std::ranges::fill(input_, 'x');
    input_.swap(moved);
  }
  // Goes on with what has been sent and not been handled.
  std::vector<v1::Response> take_turn(std::int64_t budget) {
    const Conversation::Turn turn =
        talk_.handle(std::as_bytes(std::span(input_)), replies_, budget);
    input_.erase(0, turn.consumed);
    end = turn.end;
    cost = turn.cost;
    talk_.flush_acknowledgements(replies_);
    return taken_from(replies_);
  }
  v1::Response ask(const v1::Request& request) {
    const std::vector<v1::Response> responses = ask_all({request});
    EXPECT_EQ(responses.size(), 1U);
    return responses.empty() ? v1::Response() : responses.front();
  }

  // Its model goes; whether it spoke of that.
  bool leave(const ModelContext& gone) { return talk_.leave(gone, replies_); }

  v1::Response send(std::uint64_t producer, std::uint64_t first, std::uint32_t rows) {
    return ask(observe_of(producer, first, rows));
  }
  // The reason, or REASON_OK for rows that were judged.
  v1::Reason send_reason(std::uint64_t producer, std::uint64_t first, std::uint32_t rows) {
    return send(producer, first, rows).refusal().reason();
  }
  v1::Response begin_at(std::uint64_t producer, std::uint64_t first, std::uint32_t rows) {
    v1::Request request = observe_of(producer, first, rows);
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
  std::int64_t cost = 0;  // what the last turn cost

 private:
  std::string input_;  // that has not been handled
  std::vector<std::byte> room_;
  ReplyBuffer replies_;
  Conversation talk_;
  std::uint64_t id_ = 0;
};

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_CONVERSATION_FIXTURE_H_
