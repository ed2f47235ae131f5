// Peers of the day in the life of a daemon (day_test.cc) that do not what they should.
#ifndef WINDHOVER_TESTS_SYSTEM_DAY_PEERS_H_
#define WINDHOVER_TESTS_SYSTEM_DAY_PEERS_H_

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "windhover/io/client.h"
#include "windhover/tests/io/http/http_peer.h"

namespace windhover::testing::day_test {

using std::chrono::milliseconds;

struct DayAddresses {
  std::string observe;
  std::string query;
};

inline ClientOptions as(const std::string& who, const std::string& model,
                        std::uint64_t producer = 0) {
  ClientOptions options;
  options.token = who + "-token";
  options.model = model;
  options.producer = producer;
  options.reply_timeout = milliseconds(20'000);
  return options;
}

// A stranger: garbage, a frame that never ends, a token that is none, a connection that says
// nothing.
inline void misbehave(const DayAddresses& at, int turn) {
  const std::string address = turn % 2 == 0 ? at.observe : at.query;
  if (turn % 4 == 3) {
    Client client;
    EXPECT_FALSE(ok(client.connect(address, as("nobody", "price"))));
    return;
  }
  HttpPeer peer(address);  // bytes that are no protocol of ours
  if (!peer.connected()) return;
  if (turn % 4 == 1) peer.send(std::string("\xff\xff\x03", 3) + std::string(1000, 'x'));
  if (turn % 4 == 0) peer.send("GET / HTTP/1.1\r\n\r\n");
}

// One that may ask, and asks for all that there is without ever reading an answer. How many
// questions it got rid of.
inline int ask_and_never_read(const DayAddresses& at, Client& client) {
  ClientOptions options = as("operator", "price");
  options.reply_timeout = milliseconds(500);
  if (!client.connected() && !ok(client.connect(at.query, options))) return 0;
  v1::Request request;
  v1::Predict& all = *request.mutable_predict();
  all.set_rows(256);
  for (int i = 0; i < 2 * 256; ++i) all.add_features_f64(0.01 * i);
  for (int i = 1; i <= 16; ++i) all.add_quantile_probabilities(i / 17.0);
  for (int i = 0; i < 20; ++i) {
    if (ok(client.send(request))) continue;
    client.close();
    return i;
  }
  return 20;
}

// A frame that comes byte by byte, and never wholly. Whether one more was taken.
inline bool drip(const DayAddresses& at, std::unique_ptr<HttpPeer>& peer) {
  if (peer == nullptr) {
    peer = std::make_unique<HttpPeer>(at.observe);
    if (peer->connected()) peer->send(std::string("\x80\x20", 2));
  }
  if (peer->connected() && peer->send("x")) return true;
  peer.reset();
  return false;
}

}  // namespace windhover::testing::day_test

#endif  // WINDHOVER_TESTS_SYSTEM_DAY_PEERS_H_
