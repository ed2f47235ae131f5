// A server of HTTP and a peer of it, who speaks JSON.
#ifndef WINDHOVER_TESTS_IO_HTTP_JSON_API_FIXTURE_H_
#define WINDHOVER_TESTS_IO_HTTP_JSON_API_FIXTURE_H_

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "windhover/tests/io/http/http_fixture.h"
#include "windhover/tests/io/http/http_peer.h"

namespace windhover::json_api_test {

using nlohmann::json;
using testing::eventually;
using testing::http_engine;
using testing::http_server;
using testing::HttpPeer;
using testing::HttpResponse;
using testing::kFeatures;
using testing::TestRows;
using testing::TestServer;

inline const std::string kJson = "Content-Type: application/json\r\n";

struct Served {
  explicit Served(const ServerConfig& config = http_server(),
                  const EngineConfig& engine = http_engine())
      : server(config, engine), peer("127.0.0.1:" + std::to_string(server.server().http().port)) {}

  // Sends rows and waits until all are learned, so that two answers are of one snapshot.
  void learn(Client& client) {
    ASSERT_EQ(client.connect(server.observe_address()), Status::kOk) << client.error_text();
    ASSERT_EQ(client.observe(TestRows(2000).rows()), Status::kOk) << client.error_text();
    ASSERT_TRUE(eventually([&] {
      return json::parse(peer.get("/v1/status").body)["provenance"]["sequence"] == "2000";
    }));
    server.learn(false);
    // The round under way has ended when polls stay where they are.
    std::uint64_t polls = 0;
    ASSERT_TRUE(eventually([&] {
      const std::uint64_t before = std::exchange(polls, server.engine().progress().polls());
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return before == polls && polls == server.engine().progress().polls();
    }));
  }
  HttpResponse post(const std::string& path, const json& body) {
    return peer.ask("POST", path, kJson, body.dump());
  }

  TestServer server;
  HttpPeer peer;
};

inline double number(const json& value) {
  if (value.is_number()) return value.get<double>();
  const std::string word = value.get<std::string>();
  if (word == "Infinity") return std::numeric_limits<double>::infinity();
  return word == "NaN" ? std::nan("") : std::stod(word);
}

inline json rows_of(std::size_t rows, std::uint64_t producer = 0, std::uint64_t first = 0) {
  const TestRows from(rows, first);
  return {{"producer", producer},
          {"first_sequence", first},
          {"rows", rows},
          {"features_f64", from.features},
          {"targets_f64", from.targets}};
}

}  // namespace windhover::json_api_test

#endif  // WINDHOVER_TESTS_IO_HTTP_JSON_API_FIXTURE_H_
