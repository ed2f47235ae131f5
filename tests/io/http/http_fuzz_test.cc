// Whatever bytes come, in whatever pieces: each answer is one of HTTP/1.1 with a status that is
// meant, no turn takes more than there is, garbage ends the conversation and is counted.
#include <random>

#include <gtest/gtest.h>

#include "windhover/tests/io/http/http_fixture.h"

namespace windhover {
namespace http_fuzz_test {

using testing::HttpResponse;
using testing::HttpWorld;

std::vector<std::string> seeds() {
  std::vector<std::string> seeds;
  for (const HttpRoute& route : http_routes()) {
    const std::string path(route.path);
    seeds.push_back("GET " + path + " HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n");
    seeds.push_back("POST " + path +
                    " HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 53\r\n\r\n"
                    "{\"rows\": 1, \"features_f64\": [0.5, -0.25, 1], \"a\": []}");
  }
  seeds.push_back(
      "GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text;version=1.0.0\r\n"
      "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n4\r\nabcd\r\n0\r\n\r\n");
  seeds.push_back("HEAD /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  seeds.push_back("GET / HTTP/1.1\r\nIf-None-Match: \"a\", W/\"b\"\r\n\r\n");
  seeds.push_back("OPTIONS * HTTP/1.1\r\n\r\n");
  return seeds;
}

std::string mutated(std::string bytes, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (std::size_t change = below(6); change > 0 && !bytes.empty(); --change) {
    const std::size_t at = below(bytes.size());
    switch (below(6)) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes.erase(at, 1 + below(8));
        break;
      case 2:
        bytes.insert(at, 1 + below(40), static_cast<char>(random()));
        break;
      case 3:
        bytes.insert(at, bytes.substr(below(bytes.size()), 1 + below(30)));
        break;
      case 4:
        bytes.insert(at, std::to_string(random()));
        break;
      default:
        bytes.resize(at);
    }
  }
  return bytes;
}

// Hands over the bytes in pieces, as a connection does.
void converse(HttpWorld& world, std::string_view bytes, std::mt19937_64& random) {
  world.conversation->begin();
  std::string pending;
  while (!bytes.empty()) {
    const std::size_t piece = std::min<std::size_t>(bytes.size(), 1 + random() % 200);
    pending += bytes.substr(0, piece);
    bytes.remove_prefix(piece);
    for (;;) {
      std::string out;
      auto turn = world.conversation->handle(std::as_bytes(std::span(pending)), out);
      if (turn.end == HttpConversation::End::kWaiting) {
        ASSERT_TRUE(out.empty());
        const HttpAnswer answer = world.relayed(world.conversation->take_relay().frame);
        turn.end = world.conversation->answer_later(answer, out);
      }
      ASSERT_LE(turn.consumed, pending.size());
      pending.erase(0, turn.consumed);
      ASSERT_TRUE(out.empty() || out.starts_with("HTTP/1.")) << out;
      if (turn.end == HttpConversation::End::kClose) {
        ASSERT_FALSE(out.empty());
        return;
      }
      if (turn.end == HttpConversation::End::kNeedInput) {
        ASSERT_TRUE(out.empty() || out == "HTTP/1.1 100 Continue\r\n\r\n") << out;
        break;
      }
      HttpResponse response;
      ASSERT_TRUE(testing::take_response(out, response, false)) << out;
      ASSERT_TRUE(response.status >= 200 && response.status < 600) << response.head;
    }
    ASSERT_LE(pending.size(), 64U * 1024) << "it waits for more than a head";
  }
}

TEST(HttpFuzz, WhateverComesIsAnsweredOrClosed) {
  HttpWorld world;
  std::mt19937_64 random(20261125);
  const std::vector<std::string> from = seeds();
  for (int i = 0; i < 25'000 && !::testing::Test::HasFatalFailure(); ++i) {
    std::string bytes = from[random() % from.size()];
    if (random() % 3 == 0) bytes += from[random() % from.size()];
    converse(world, mutated(std::move(bytes), random), random);
  }
  for (int i = 0; i < 5000 && !::testing::Test::HasFatalFailure(); ++i) {
    std::string bytes(random() % 400, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    converse(world, bytes, random);
  }
  const auto count = [&](HttpCounter id) { return world.handler->counters().get(id); };
  EXPECT_GT(count(HttpCounter::kRequests), 1000U);
  EXPECT_GT(count(HttpCounter::kMalformed), 1000U);
  EXPECT_GT(count(HttpCounter::kAnswersOk), 500U);
  EXPECT_EQ(count(HttpCounter::kExceptions), 0U);
  EXPECT_EQ(count(HttpCounter::kRequests) + count(HttpCounter::kMalformed),
            count(HttpCounter::kAnswersOk) + count(HttpCounter::kAnswersClientError) +
                count(HttpCounter::kAnswersServerError));
}

}  // namespace http_fuzz_test
}  // namespace windhover
