// One connection whose turn somebody else gives, by a clock that stands still.
#include "windhover/io/http/http_connection.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <string>

#include "windhover/tests/io/http/http_fixture.h"

namespace windhover::testing::http_connection_test {
namespace {

class Host final : public HttpConnectionHost {
 public:
  void on_question(HttpConnection&) noexcept override { ++waiting; }
  void on_cost(HttpConnection&, std::int64_t) noexcept override {}
  void on_left(HttpConnection&) noexcept override { waiting = 0; }
  void on_free(HttpConnection&) noexcept override { is_free = true; }
  bool has_place(const HttpConversation&, const Credential&, std::uint64_t) noexcept override {
    return true;
  }
  bool admins_is_free() noexcept override { return true; }

  int waiting = 0;
  bool is_free = false;
};

class Connected {
 public:
  Connected() : connection_(io_, http_server().http, *world_.handler, world_.state, links_, host_) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    peer_ = ends[1];
    Stream socket(io_);
    socket.assign(asio::local::stream_protocol(), ends[0]);
    connection_.begin(std::move(socket));
  }
  ~Connected() {
    connection_.abort();
    settle();
    ::close(peer_);
  }
  Connected(const Connected&) = delete;
  Connected& operator=(const Connected&) = delete;

  void send(const std::string& bytes) {
    send_while_it_is_held_up(bytes);
    settle();
  }
  void send_while_it_is_held_up(const std::string& bytes) {
    EXPECT_EQ(::write(peer_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  // What has been answered; status 0: nothing whole.
  HttpResponse answer() {
    settle();
    std::array<char, 65536> some;
    const ssize_t bytes = ::recv(peer_, some.data(), some.size(), MSG_DONTWAIT);
    if (bytes > 0) in_.append(some.data(), static_cast<std::size_t>(bytes));
    HttpResponse response;
    return take_response(in_, response) ? response : HttpResponse{};
  }
  void pass(std::chrono::nanoseconds time) {
    look_after(time);
    settle();
  }
  void look_after(std::chrono::nanoseconds time) {
    world_.clock.advance_ns(time.count());
    connection_.check_timeouts(world_.clock.now_ns());
  }
  HttpConnection& connection() { return connection_; }
  const Host& host() const { return host_; }
  std::uint64_t counter(HttpCounter counter) { return world_.handler->counters().get(counter); }

 private:
  void settle() {
    io_.restart();
    while (io_.poll() > 0) io_.restart();
  }

  HttpWorld world_;
  IoContext io_{1};
  std::deque<ObserveLink> links_;
  Host host_;
  HttpConnection connection_;
  int peer_ = -1;
  std::string in_;
};

constexpr const char* kModels = "GET /v1/models HTTP/1.1\r\n\r\n";
constexpr const char* kHealth = "GET /healthz HTTP/1.1\r\n\r\n";

TEST(HttpConnection, SignsOfLifeWaitForNobodysTurn) {
  Connected peer;
  peer.send(kHealth);
  EXPECT_EQ(peer.answer().status, 200);
  peer.send("GET /readyz HTTP/1.1\r\n\r\n");
  EXPECT_EQ(peer.answer().status, 200);
  EXPECT_EQ(peer.host().waiting, 0);
  peer.send(std::string(kModels) + kHealth);
  EXPECT_EQ(peer.host().waiting, 1);
  EXPECT_EQ(peer.answer().status, 0) << "answers of a connection come in order";
  peer.connection().take_turn();
  EXPECT_EQ(peer.answer().status, 200);
  EXPECT_EQ(peer.answer().status, 200);
}

TEST(HttpConnection, OneWhoseTurnDoesNotComeIsToldToComeAgain) {
  const auto allowed = http_server().http.request_timeout;
  Connected peer;
  peer.send(kModels);
  EXPECT_EQ(peer.host().waiting, 1);
  peer.pass(allowed - std::chrono::nanoseconds(1));
  EXPECT_EQ(peer.answer().status, 0);
  peer.pass(std::chrono::nanoseconds(1));
  const HttpResponse response = peer.answer();
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.field("Retry-After"), "1");
  EXPECT_EQ(response.field("Connection"), "") << "the request had come whole";
  EXPECT_EQ(peer.host().waiting, 0);
  EXPECT_EQ(peer.counter(HttpCounter::kTimeouts), 1U);
  EXPECT_EQ(peer.counter(HttpCounter::kAnswersServerError), 1U);
  peer.send(kModels);
  peer.connection().take_turn();
  EXPECT_EQ(peer.answer().status, 200) << "it goes on";
}

// It may be the server that is late; but not for ever.
TEST(HttpConnection, WhatLiesUnreadExcusesAPeerForAWhile) {
  const auto allowed = http_server().http.header_timeout;
  const std::chrono::nanoseconds held_up(PeerSocket::kHeldUpNs);
  Connected peer;
  peer.send("GET /v1/models HTTP");
  peer.send_while_it_is_held_up("/1.1\r\n");
  peer.look_after(allowed);
  peer.look_after(held_up - std::chrono::nanoseconds(1));
  EXPECT_FALSE(peer.connection().occupant().is_closed());
  EXPECT_EQ(peer.counter(HttpCounter::kTimeouts), 0U);
  peer.look_after(std::chrono::nanoseconds(1));
  EXPECT_TRUE(peer.connection().occupant().is_closed());
  EXPECT_EQ(peer.counter(HttpCounter::kTimeouts), 1U);
}

// It ends when its answer is sent, as it would have after the right one.
TEST(HttpConnection, OneThatWasToBeItsLastRequestEndsToo) {
  Connected peer;
  peer.send("GET /v1/models HTTP/1.0\r\n\r\n");
  peer.pass(http_server().http.request_timeout);
  EXPECT_EQ(peer.answer().field("Connection"), "close");
  EXPECT_FALSE(peer.host().is_free);
  peer.pass(std::chrono::seconds(2));
  EXPECT_TRUE(peer.host().is_free) << "the peer has had time to read it";
}

}  // namespace
}  // namespace windhover::testing::http_connection_test
