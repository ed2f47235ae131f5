#include "windhover/io/http/http_conversation.h"

#include <gtest/gtest.h>

#include "windhover/tests/io/http/http_fixture.h"

namespace windhover {
namespace http_conversation_test {

using testing::HttpResponse;
using testing::HttpWorld;

std::uint64_t count(HttpWorld& world, HttpCounter id) { return world.handler->counters().get(id); }

TEST(HttpConversation, AnswersInJsonAndKeepsTheConnection) {
  HttpWorld world;
  const HttpResponse response = world.get("/healthz");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "{\"status\":\"serving\"}\n");
  EXPECT_EQ(response.field("Content-Type"), "application/json");
  EXPECT_EQ(response.field("Connection"), "");
  EXPECT_EQ(count(world, HttpCounter::kRequests), 1U);
  EXPECT_EQ(count(world, HttpCounter::kAnswersOk), 1U);
}

TEST(HttpConversation, HeadSaysTheLengthAndSendsNoBody) {
  HttpWorld world;
  std::string out;
  const std::string request = "HEAD /healthz HTTP/1.1\r\n\r\n";
  EXPECT_EQ(world.conversation->handle(std::as_bytes(std::span(request)), out).end,
            HttpConversation::End::kAnswered);
  HttpResponse response;
  ASSERT_TRUE(testing::take_response(out, response, false));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.field("Content-Length"), "21");
  EXPECT_EQ(out, "");
}

TEST(HttpConversation, PathsAndMethodsThatAreNotThereAreNamed) {
  HttpWorld world;
  EXPECT_EQ(world.get("/page").status, 404);
  EXPECT_EQ(world.get("/metrics/").status, 404);
  EXPECT_EQ(world.get("/nothing").body,
            "{\"error\":\"there is nothing at this path; /v1/openapi.json says what there is\"}\n");
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "QUUX"}) {
    const auto responses = world.ask(std::string(method) + " /metrics HTTP/1.1\r\n\r\n");
    ASSERT_EQ(responses.size(), 1U) << method;
    EXPECT_EQ(responses[0].status, 405) << method;
    EXPECT_EQ(responses[0].field("Allow"), "GET, HEAD");
    EXPECT_TRUE(responses[0].body.starts_with("{\"error\":")) << responses[0].body;
  }
  EXPECT_EQ(world.get("/healthz?verbose=1").status, 200);
  EXPECT_EQ(count(world, HttpCounter::kAnswersClientError), 9U);
}

TEST(HttpConversation, PipelinedRequestsAreAnsweredInOrder) {
  HttpWorld world;
  std::string bytes;
  for (int i = 0; i < 20; ++i) {
    bytes += i % 2 == 0 ? "GET /healthz HTTP/1.1\r\n\r\n" : "GET /nothing HTTP/1.1\r\n\r\n";
  }
  const auto responses = world.ask(bytes);
  ASSERT_EQ(responses.size(), 20U);
  for (std::size_t i = 0; i < responses.size(); ++i) {
    EXPECT_EQ(responses[i].status, i % 2 == 0 ? 200 : 404);
  }
}

TEST(HttpConversation, BytesOneByOneMakeTheSameRequest) {
  HttpWorld world;
  const std::string request =
      "GET /v1/models HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  std::string pending;
  std::string out;
  for (const char byte : request) {
    EXPECT_EQ(out, "");
    pending += byte;
    const auto turn = world.conversation->handle(std::as_bytes(std::span(pending)), out);
    pending.erase(0, turn.consumed);
  }
  EXPECT_EQ(pending, "");
  HttpResponse response;
  ASSERT_TRUE(testing::take_response(out, response));
  EXPECT_EQ(response.status, 200);
}

TEST(HttpConversation, OldAndClosingPeersAreClosed) {
  HttpWorld world;
  for (const char* request :
       {"GET /healthz HTTP/1.0\r\n\r\n", "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n"}) {
    std::string out;
    const auto turn =
        world.conversation->handle(std::as_bytes(std::span(request, strlen(request))), out);
    EXPECT_EQ(turn.end, HttpConversation::End::kClose);
    EXPECT_NE(out.find("200 OK"), std::string::npos);
  }
}

TEST(HttpConversation, WhatIsNoRequestIsRefusedAndCloses) {
  HttpWorld world;
  std::uint64_t refused = 0;
  for (const std::string& bytes :
       {std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03", 10), std::string("GET\r\n\r\n"),
        std::string("GET /healthz HTTP/9.9\r\n\r\n"), std::string("GET /healthz HTTP/1.1\n\n"),
        std::string("GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
        std::string("\r\nGET / HTTP/1.1\r\n\r\n"), std::string(64, '\0')}) {
    std::string out;
    const auto turn = world.conversation->handle(std::as_bytes(std::span(bytes)), out);
    EXPECT_EQ(turn.end, HttpConversation::End::kClose) << bytes;
    EXPECT_TRUE(out.starts_with("HTTP/1.1 400 Bad Request\r\n")) << out;
    EXPECT_NE(out.find("Connection: close\r\n"), std::string::npos);
    EXPECT_EQ(count(world, HttpCounter::kMalformed), ++refused);
    world.conversation->begin();
  }
}

TEST(HttpConversation, HeadsAndBodiesHaveALimit) {
  HttpConfig config = testing::http_server().http;
  config.header_cap = 2048;
  config.body_cap = 4096;
  HttpWorld world(config);
  const auto status = [&](const std::string& request) {
    const auto responses = world.ask(request);
    return responses.empty() ? 0 : responses.back().status;
  };
  const std::string head = "GET /v1/models HTTP/1.1\r\n";
  EXPECT_EQ(status(head + "A: " + std::string(1900, 'a') + "\r\n\r\n"), 200);
  EXPECT_EQ(status(head + "A: " + std::string(2100, 'a') + "\r\n\r\n"), 431);
  EXPECT_EQ(status(head + "A: " + std::string(5000, 'a')), 431) << "without an end";
  EXPECT_EQ(status("GET /" + std::string(4000, 'a')), 431);
  EXPECT_EQ(status(head + "Content-Length: 4096\r\n\r\n" + std::string(4096, 'b')), 200);
  EXPECT_EQ(status(head + "Content-Length: 4097\r\n\r\n"), 413) << "before a byte of it came";
  EXPECT_EQ(status(head + "Content-Length: 99999999999999999999999\r\n\r\n"), 400);
  EXPECT_EQ(status(head + "Transfer-Encoding: chunked\r\n\r\n1001\r\n" + std::string(4097, 'c')),
            413);
}

TEST(HttpConversation, BodiesThatWaitAreAskedFor) {
  HttpWorld world;
  const std::string head =
      "GET /v1/models HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
  std::string out;
  auto turn = world.conversation->handle(std::as_bytes(std::span(head)), out);
  EXPECT_EQ(turn.end, HttpConversation::End::kNeedInput);
  EXPECT_EQ(turn.consumed, head.size());
  EXPECT_EQ(out, "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_TRUE(world.conversation->has_head());
  out.clear();
  turn = world.conversation->handle(std::as_bytes(std::span("ab", 2)), out);
  EXPECT_EQ(turn.end, HttpConversation::End::kAnswered);
  EXPECT_TRUE(out.starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST(HttpHandler, StandingStillIsSaidWithWhoAndHowLong) {
  HttpConfig config = testing::http_server().http;
  config.stall_timeout = std::chrono::seconds(8);
  HttpWorld world(config);
  world.state.of(EndpointKind::kObserve).beat_ns = 5;
  world.engine->poll(1);
  EXPECT_EQ(world.get("/healthz").status, 200);
  for (int i = 0; i < 4; ++i) {
    world.clock.advance_ns(3'000'000'000);
    world.handler->look();
  }
  const HttpResponse still = world.get("/healthz");
  EXPECT_EQ(still.status, 503);
  EXPECT_EQ(
      still.body,
      "{\"error\":\"the observe thread has stood still for 12 s, the learner thread has stood "
      "still for 12 s\"}\n");
  EXPECT_NE(world.get("/metrics").body.find("windhover_stalled{thread=\"learner\"} 1\n"),
            std::string::npos);
  world.engine->poll(1);
  ++world.state.of(EndpointKind::kObserve).beat_ns;
  EXPECT_EQ(world.get("/healthz").status, 200);
}

TEST(HttpHandler, ReadyUnlessRowsComeBackOrTheServerStops) {
  HttpWorld world;
  EXPECT_EQ(world.get("/readyz").body, "{\"status\":\"ready\"}\n");
  world.engine->progress().set_recovery_target(10);
  const HttpResponse recovering = world.get("/readyz");
  EXPECT_EQ(recovering.status, 503);
  EXPECT_EQ(recovering.body,
            "{\"error\":\"recovering: default has 0 of 10 rows in its answer\"}\n");
  EXPECT_NE(world.get("/metrics").body.find("windhover_recovering{model=\"default\"} 1\n"),
            std::string::npos);
  world.engine->progress().set_recovery_target(0);
  EXPECT_EQ(world.get("/readyz").status, 200);
  world.handler->stop();
  EXPECT_EQ(world.get("/readyz").status, 503);
  EXPECT_EQ(world.get("/readyz").body, "{\"error\":\"the server is stopping\"}\n");
  EXPECT_EQ(world.get("/healthz").status, 200) << "it still serves";
}

// Questions are answered all the while, so it stays in use.
TEST(HttpHandler, ReadyThoughTheLogHoldsUpSendersAndSaysSo) {
  HttpWorld world;
  world.model.log.full = true;
  HttpResponse ready = world.get("/readyz");
  EXPECT_EQ(ready.status, 200);
  EXPECT_EQ(ready.body,
            "{\"status\":\"ready\",\"but\":\"senders to default wait: its log is full until a "
            "checkpoint lets old rows go\"}\n");
  world.model.log.status.store(Status::kIoError);
  ready = world.get("/readyz");
  EXPECT_EQ(ready.status, 200);
  EXPECT_NE(ready.body.find("its log cannot be written (io_error)"), std::string::npos)
      << ready.body;
  world.model.log.full = false;
  world.model.log.status.store(Status::kOk);
  EXPECT_EQ(world.get("/readyz").body, "{\"status\":\"ready\"}\n");
}

}  // namespace http_conversation_test
}  // namespace windhover
