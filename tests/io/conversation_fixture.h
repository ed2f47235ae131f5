// The protocol of one connection, without connections: several of them share an engine, a table of
// producers and a clock that moves by hand.
#ifndef WINDHOVER_TESTS_IO_CONVERSATION_FIXTURE_H_
#define WINDHOVER_TESTS_IO_CONVERSATION_FIXTURE_H_

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/io/conversation.h"
#include "windhover/tests/io/raw_peer.h"
#include "windhover/tests/io/server_fixture.h"

namespace windhover::testing {

constexpr std::int64_t kSecond = 1'000'000'000;

// What the conversations of an endpoint share.
struct Shared {
  explicit Shared(std::size_t known = 8, EndpointKind kind = EndpointKind::kObserve)
      : engine_block(Engine::footprint(small_engine()).value()),
        engine(Engine::create(small_engine(), engine_block.bytes(), clock).value()),
        block(4 << 20),
        arena(block.bytes()),
        limits(limits_of(small_server(), with_defaults(small_engine()))),
        scratch(arena, limits),
        producers(arena, known) {
    EXPECT_FALSE(arena.exhausted());
    state.limits = limits;
    state.clock = &clock;
    model.set_name("default");
    model.limits = limits_of(engine->config());
    model.engine = engine;
    model.instance_id = 77;
    model.producers = &producers;
    producers.reset();
    queries.bind(state, kind, model, scratch, engine->reader().value(), engine->reader().value());
    about = {&model, &queries, kind == EndpointKind::kObserve ? &producers : nullptr, nullptr};
    context = {&state, {&about, 1}};
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
  ServedModel model;
  QueryScratch scratch;
  QueryHandler queries;
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

 private:
  std::vector<std::byte> room_;
  ReplyBuffer replies_;
  Conversation talk_;
  std::uint64_t id_ = 0;
};

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_CONVERSATION_FIXTURE_H_
