// HTTP without sockets: an engine, what a server knows of it, and a conversation.
#ifndef WINDHOVER_TESTS_IO_HTTP_HTTP_FIXTURE_H_
#define WINDHOVER_TESTS_IO_HTTP_HTTP_FIXTURE_H_

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/io/http/http_conversation.h"
#include "windhover/io/http/http_handler.h"
#include "windhover/io/http/json_api.h"
#include "windhover/io/reply_buffer.h"
#include "windhover/tests/io/http/http_peer.h"
#include "windhover/tests/io/server_fixture.h"

namespace windhover::testing {

inline EngineConfig http_engine() {
  EngineConfig config = small_engine();
  config.max_readers = kServerReaders + kHttpReaders + 1;
  config.max_watchers = kServerWatchers + kHttpWatchers;
  config.labels.pending = 16;
  return config;
}

inline ServerConfig http_server() {
  ServerConfig config = small_server();
  config.http.listen.tcp_address = "127.0.0.1";
  return config;
}

struct HttpWorld {
  explicit HttpWorld(const HttpConfig& config = http_server().http,
                     const ConnectionLimits& connection = {})
      : engine_block(Engine::footprint(http_engine()).value()),
        engine(Engine::create(http_engine(), engine_block.bytes(), clock).value()),
        block(4 << 20),
        arena(block.bytes()),
        limits(limits_of(http_server(), with_defaults(http_engine()))),
        memory(arena, config, limits, 1),
        producers(arena, 8),
        observed(arena, limits, 1),
        observe(observed.context) {
    EXPECT_FALSE(arena.exhausted());
    clock.advance_ns(1'000'000'000);
    state.limits = limits;
    state.limits.connection = connection;
    state.clock = &clock;
    model.called.set("default");
    model.limits = limits_of(engine->config());
    model.engine = engine;
    model.instance_id = 77;
    model.producers = &producers;
    producers.reset();
    PlaceChange comes;
    comes.model = &model;
    comes.reader = engine->reader().value();
    comes.paging[0] = engine->reader().value();
    comes.measuring = engine->reader().value();
    memory.change(state, comes);
    comes.reader = engine->reader().value();
    comes.paging[0] = engine->reader().value();
    comes.producers = &producers;
    observed.change(state, EndpointKind::kObserve, comes);
    handler.emplace(config, memory, state);
    conversation.emplace(config, *handler);
    observe.begin();
    v1::Request hello;
    hello.mutable_hello()->set_version_max(1);
    EXPECT_EQ(relayed(windhover::frame_of(hello)).status, 200U);
  }

  // What the observe endpoint answers to a frame.
  HttpAnswer relayed(const std::string& frame) {
    std::vector<std::byte> room(limits.reply_buffer);
    ReplyBuffer replies(room);
    observe.handle(std::as_bytes(std::span(frame)), replies);
    observe.flush_acknowledgements(replies);
    return json_answer_of(replies.pending());
  }

  // All answers to these bytes, which come in one piece, up to the first that is not whole.
  std::vector<HttpResponse> ask(std::string_view bytes) {
    std::vector<HttpResponse> responses;
    std::string out;
    while (!bytes.empty()) {
      HttpConversation::Turn turn = conversation->handle(std::as_bytes(std::span(bytes)), out);
      bytes.remove_prefix(turn.consumed);
      if (turn.end == HttpConversation::End::kWaiting) {
        turn.end = conversation->answer_later(relayed(conversation->take_relay().frame), out);
      }
      HttpResponse response;
      while (take_response(out, response)) responses.push_back(response);
      if (turn.end == HttpConversation::End::kNeedInput) break;
      if (turn.end == HttpConversation::End::kClose) {
        conversation->begin();
        break;
      }
    }
    return responses;
  }
  HttpResponse get(const std::string& path) {
    const auto responses = ask("GET " + path + " HTTP/1.1\r\n\r\n");
    EXPECT_EQ(responses.size(), 1U);
    return responses.empty() ? HttpResponse() : responses.front();
  }

  ManualClock clock;
  MappedBlock engine_block;
  Engine* engine;
  MappedBlock block;
  Arena arena;
  Limits limits;
  HttpMemory memory;
  ServerState state;
  ServedModel model;
  ProducerTable producers;
  ConversationMemory observed;
  Conversation observe;
  std::optional<HttpHandler> handler;
  std::optional<HttpConversation> conversation;
};

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_HTTP_HTTP_FIXTURE_H_
