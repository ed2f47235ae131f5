// Who asks over HTTP is held to limits, whatever connections it makes: told when to come again, and
// nothing of what it sends meanwhile is taken.
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "windhover/io/http/http_meters.h"
#include "windhover/tests/io/access/identities.h"
#include "windhover/tests/io/conversation_fixture.h"
#include "windhover/tests/io/http/http_fixture.h"

namespace windhover::testing::http_limits_test {
namespace {

std::uint64_t refused(HttpWorld& world) {
  return world.handler->counters().get(HttpCounter::kOverLimits);
}

TEST(HttpLimits, RequestsBeyondThemAreRefusedUntilRetryAfter) {
  HttpWorld world(http_server().http, {.frames = 2});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(world.get("/v1/models").status, 200) << i;
  const HttpResponse response = world.get("/v1/models");
  EXPECT_EQ(response.status, 429);
  EXPECT_EQ(response.field("Retry-After"), "1");
  EXPECT_EQ(response.field("Connection"), "") << "the request has come whole";
  EXPECT_EQ(refused(world), 1U);
  world.clock.advance_ns(kSecond);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(world.get("/v1/models").status, 200) << i;
  EXPECT_EQ(world.get("/v1/models").status, 429);
}

TEST(HttpLimits, WhoLooksAfterTheServerIsToldAtAnyTime) {
  HttpWorld world(http_server().http, {.frames = 1});
  while (world.get("/v1/models").status == 200) continue;
  EXPECT_EQ(world.get("/healthz").status, 200);
  EXPECT_EQ(world.get("/readyz").status, 200);
  EXPECT_EQ(world.get("/").status, 429);
}

TEST(HttpLimits, QuestionsAreCountedApartFromOtherRequests) {
  HttpWorld world(http_server().http, {.questions = 1});
  EXPECT_EQ(world.get("/v1/status").status, 200);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(world.get("/v1/models").status, 200);
  EXPECT_EQ(world.get("/v1/posterior").status, 200);
  EXPECT_EQ(world.get("/v1/posterior").status, 429);
  EXPECT_EQ(world.get("/metrics").status, 429);
}

// A question that costs more than a second's worth is answered, and paid for afterwards.
TEST(HttpLimits, QuestionsAreChargedByWhatTheyCost) {
  HttpWorld world(http_server().http, {.cost = 100});
  const std::string body =
      "{\"rows\": 4, \"features_f64\": [1,1,1,1,1,1,1,1,1,1,1,1], \"quantile_probabilities\": "
      "[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9]}";
  const auto answered =
      world.ask("POST /v1/predict HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
  ASSERT_EQ(answered.size(), 1U);
  ASSERT_EQ(answered[0].status, 200) << answered[0].body;
  PredictQuery query;
  query.rows = 4;
  query.quantile_probabilities.count = 9;
  // Its own price, and 20 ns a byte of JSON in and out.
  const double paid_us = static_cast<double>(world.model.limits.cost.of(query)) / 1000 + 0.3 +
                         0.02 * static_cast<double>(body.size() + answered[0].body.size());
  ASSERT_GT(paid_us, 100) << "or it would still have some";
  const HttpResponse response = world.get("/v1/models");
  EXPECT_EQ(response.status, 429);
  EXPECT_EQ(response.field("Retry-After"),
            std::to_string(std::lround(std::ceil((paid_us - 100) / 100))));
}

TEST(HttpLimits, BodyOfARefusedRequestIsNotReadAndEndsTheConnection) {
  HttpWorld world(http_server().http, {.bytes = 10});
  EXPECT_EQ(world.get("/v1/models").status, 200);
  for (const std::string expect : {"", "Expect: 100-continue\r\n"}) {
    std::string out;
    const std::string head = "POST /v1/predict HTTP/1.1\r\nContent-Type: application/json\r\n" +
                             expect + "Content-Length: 100000\r\n\r\n{";
    const auto turn = world.conversation->handle(std::as_bytes(std::span(head)), out);
    EXPECT_EQ(turn.end, HttpConversation::End::kClose);
    HttpResponse response;
    ASSERT_TRUE(take_response(out, response));
    EXPECT_EQ(response.status, 429);
    EXPECT_EQ(response.field("Connection"), "close");
    EXPECT_GT(std::stoi(response.field("Retry-After")), 1);
    EXPECT_EQ(out, "") << "and no 100 Continue";
    world.conversation->begin();
  }
  EXPECT_EQ(refused(world), 2U);
}

// At a rate of 10 bytes a second 500 bytes are worth 50 s, whatever becomes of them; who is refused
// already and goes on owes a second more for it, and no more than that.
TEST(HttpLimits, BytesThatAreNoRequestArePaidForToo) {
  HttpWorld world(http_server().http, {.bytes = 10});
  const auto wait_s = [&world] {
    const HttpResponse response = world.get("/v1/models");
    EXPECT_EQ(response.status, 429);
    return std::stoi(response.field("Retry-After"));
  };
  const auto broken = world.ask(std::string(500, '\x16') + "\r\n\r\n");
  ASSERT_EQ(broken.size(), 1U);
  EXPECT_EQ(broken[0].status, 400);
  const int before = wait_s();
  EXPECT_GE(before, 49);
  EXPECT_LE(before, 51);
  const int after = wait_s();
  EXPECT_EQ(after, before + 1) << "the one that was refused";
  for (int i = 0; i < 100; ++i) {
    world.conversation->throw_away(500);
    ASSERT_EQ(world.ask(std::string(500, '\x16') + "\r\n\r\n").size(), 1U);
    EXPECT_EQ(wait_s(), after);
  }
}

TEST(HttpLimits, WhatComesBehindTheLastAnswerIsPaidFor) {
  HttpWorld world(http_server().http, {.bytes = 10});
  world.conversation->throw_away(500);
  EXPECT_EQ(world.get("/v1/models").status, 429);
}

// It asks ten times a second, whatever it is told, and is let in all the same.
TEST(HttpLimits, WhoIgnoresRetryAfterDoesNotKeepItselfOut) {
  HttpWorld world(http_server().http, {.frames = 1, .bytes = 100});
  int answered = 0;
  int refused = 0;
  for (int i = 0; i < 600; ++i) {
    world.clock.advance_ns(kSecond / 10);
    const bool broken = i % 3 == 0;
    const auto response =
        broken ? world.ask("nonsense\r\n\r\n").at(0).status : world.get("/v1/models").status;
    answered += response == 200 ? 1 : 0;
    refused += response == 429 ? 1 : 0;
  }
  // A minute: what is taken and its fine are two seconds, and a third is broken.
  EXPECT_GE(answered, 15);
  EXPECT_LE(answered, 61);
  EXPECT_GT(refused, 200);
}

// How long a peer that has sent these waits, at a rate of 10 bytes a second.
int seconds_after(const std::function<void(HttpWorld&)>& send) {
  HttpWorld world(http_server().http, {.bytes = 10});
  send(world);
  const HttpResponse response = world.get("/v1/models");
  EXPECT_EQ(response.status, 429);
  return std::atoi(response.field("Retry-After").c_str());
}

HttpConversation::Turn handle(HttpWorld& world, const std::string& bytes) {
  std::string out;
  return world.conversation->handle(std::as_bytes(std::span(bytes)), out, false);
}

double seconds_of(std::size_t bytes) { return static_cast<double>(bytes) / 10; }

TEST(HttpLimits, WhatDoesNotComeWholeIsPaidForWhenItEnds) {
  const std::string head = "POST /v1/predict HTTP/1.1\r\nContent-Length: 1000\r\n\r\n";
  for (const std::string& part : {head + std::string(999, 'x'), head.substr(0, 50)}) {
    const int seconds = seconds_after([&](HttpWorld& world) {
      EXPECT_EQ(handle(world, part).end, HttpConversation::End::kNeedInput);
      world.conversation->end(500);  // that were not looked at
    });
    EXPECT_NEAR(seconds, seconds_of(part.size() + 500), 1);
  }
}

TEST(HttpLimits, RowsOfAConnectionThatEndsMeanwhileArePaidForOnce) {
  std::string body = R"({"rows":1,"features_f64":[1,2,3],"targets_f64":[1]})";
  body.resize(1000, ' ');
  const std::string request =
      "POST /v1/observe HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: "
      "1000\r\n\r\n" +
      body;
  const int seconds = seconds_after([&](HttpWorld& world) {
    std::string out;
    const auto turn = world.conversation->handle(std::as_bytes(std::span(request)), out);
    EXPECT_EQ(turn.end, HttpConversation::End::kWaiting);
    world.conversation->end(0);
  });
  EXPECT_NEAR(seconds, seconds_of(request.size()), 1);
}

TEST(HttpLimits, WhatIsTurnedAwayIsPaidFor) {
  const std::string request =
      "POST /v1/predict HTTP/1.1\r\nContent-Length: 1000\r\n\r\n" + std::string(1000, 'x');
  const int seconds = seconds_after([&](HttpWorld& world) {
    EXPECT_EQ(handle(world, request).end, HttpConversation::End::kTurn);
    std::string out;
    EXPECT_EQ(world.conversation->turn_away(http_error(503, "busy"), out),
              HttpConversation::End::kAnswered);
  });
  EXPECT_NEAR(seconds, seconds_of(request.size()), 1);
}

// Signs of life are answered at any time.
TEST(HttpLimits, SignsOfLifeHaveNoBodyAndTheirHeadsArePaidFor) {
  for (const std::string path : {"/healthz", "/readyz"}) {
    const std::string get = "GET " + path + " HTTP/1.1\r\n";
    for (const char* body : {"Content-Length: 1\r\n\r\nx", "Content-Length: 1000000\r\n\r\nx",
                             "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"}) {
      HttpWorld world;
      const auto answers = world.ask(get + body);
      ASSERT_EQ(answers.size(), 1U);
      EXPECT_EQ(answers[0].status, 413) << path << body;
      EXPECT_EQ(answers[0].field("Connection"), "close");
    }
    const std::string request =
        get + "X-Long: " + std::string(1000, 'x') + "\r\nContent-Length: 0\r\n\r\n";
    const int seconds = seconds_after([&](HttpWorld& world) {
      for (int i = 0; i < 2; ++i) {
        const auto answers = world.ask(request);
        ASSERT_EQ(answers.size(), 1U);
        EXPECT_EQ(answers[0].status, 200);
      }
    });
    EXPECT_GE(seconds, seconds_of(request.size()));
  }
}

TEST(HttpLimits, BrokenRequestsCountAsRequests) {
  HttpWorld world(http_server().http, {.frames = 2});
  for (int i = 0; i < 4; ++i) {
    const auto broken = world.ask("nonsense\r\n\r\n");
    ASSERT_EQ(broken.size(), 1U);
    EXPECT_EQ(broken[0].status, 400);
  }
  EXPECT_EQ(world.get("/v1/models").status, 429);
}

HttpRequest request_from(std::uint32_t uid) {
  HttpRequest request;
  request.from = Credential::of_user(uid);
  return request;
}

TEST(HttpMeters, AnotherTokenThatNobodyHasMakesNobodyAnotherOne) {
  HttpMeters meters(nullptr, {.frames = 1});
  HttpRequest request = request_from(7);
  for (int i = 0; i < 2; ++i) meters.charge(request, false, 0, kSecond);
  for (const char* token : {"", "a", "b"}) {
    request.who = Credential::of_token(token);
    EXPECT_EQ(meters.wait_ns(request, kSecond), kSecond) << token;
  }
  EXPECT_EQ(meters.wait_ns(request_from(8), kSecond), 0);
}

TEST(HttpMeters, WhoHasAskedNothingForLongestIsForgottenFirst) {
  HttpMeters meters(nullptr, {.frames = 1});
  const auto most = static_cast<std::uint32_t>(HttpMeters::kMost);
  std::int64_t now_ns = kSecond;
  for (std::uint32_t uid = 0; uid < most; ++uid) {
    for (int i = 0; i < 2; ++i) meters.charge(request_from(uid), false, 0, now_ns);
    now_ns += 1;
  }
  EXPECT_GT(meters.wait_ns(request_from(0), now_ns), 0);  // and so it was used again
  EXPECT_EQ(meters.wait_ns(request_from(most), now_ns), 0);
  EXPECT_GT(meters.wait_ns(request_from(0), now_ns), 0);
  EXPECT_EQ(meters.wait_ns(request_from(1), now_ns), 0);
}

TEST(HttpMeters, WhoIsWithoutLimitsIsNotRemembered) {
  HttpMeters meters(nullptr, {});
  const HttpRequest request = request_from(7);
  for (int i = 0; i < 100; ++i) meters.charge(request, true, 1'000'000'000, kSecond);
  EXPECT_EQ(meters.wait_ns(request, kSecond), 0);
}

// Over sockets limits count by who asks, over all its connections, and as the file is now. A byte a
// second is so little that the first request is paid for in minutes.
TEST(HttpLimits, AreThoseOfTheIdentityOverAllItsConnections) {
  const auto line = [](const std::string& name, const std::string& limits) {
    std::string text = token_line(name, "query,observe");
    return text.insert(text.size() - 1, limits);
  };
  const std::string file =
      write_identities("http_limits", line("ada", "") + line("eve", " bytes=1"));
  ServerConfig config = http_server();
  config.identities_file = file;
  TestServer server(config, http_engine());
  const auto status = [&](const std::string& name, const std::string& path = "/v1/status") {
    HttpPeer peer("127.0.0.1:" + std::to_string(server.server().http().port));
    return peer.get(path, "Authorization: Bearer " + name + "-token\r\n").status;
  };
  EXPECT_EQ(status("eve"), 200);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(status("eve"), 429);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(status("ada"), 200);
  EXPECT_EQ(status("eve", "/healthz"), 200);
  EXPECT_EQ(status("nobody"), 401);
  write_identities("http_limits", line("ada", " bytes=1") + line("eve", ""));
  ASSERT_TRUE(server.server().reload().ok());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(status("eve"), 200);
  EXPECT_EQ(status("ada"), 200);
  EXPECT_EQ(status("ada"), 429);
}

// The connection over which HTTP hands rows to the observe endpoint is everybody's: what one may
// send is judged before.
TEST(HttpLimits, RowsOfOneDoNotWaitForThoseOfAnother) {
  ServerConfig config = http_server();
  config.limits.bytes = 1;
  const std::string file = [] {
    std::string ada = token_line("ada", "observe");
    return write_identities("http_rows", ada.insert(ada.size() - 1, " bytes=0"));
  }();
  config.identities_file = file;
  TestServer server(config, http_engine());
  HttpPeer peer("127.0.0.1:" + std::to_string(server.server().http().port));
  for (int i = 0; i < 5; ++i) {
    const HttpResponse response =
        peer.ask("POST", "/v1/observe",
                 "Authorization: Bearer ada-token\r\nContent-Type: application/json\r\n",
                 "{\"rows\": 1, \"features_f64\": [1,2,3], \"targets_f64\": [1]}");
    EXPECT_EQ(response.status, 200) << response.body;
  }
  EXPECT_EQ(server.counter(IoCounter::kLimitWaits), 0U);
}

}  // namespace
}  // namespace windhover::testing::http_limits_test
