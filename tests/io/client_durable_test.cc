// What a client makes of a server with a log, here one that says what the test wants.
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "windhover/io/framing.h"
#include "windhover/tests/io/raw_peer.h"
#include "windhover/tests/io/server_fixture.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover {
namespace {

using testing::RawPeer;
using testing::temporary_path;
using testing::TestRows;

// Serves one connection after the other, accepts every row, and knows one producer.
class ScriptedServer {
 public:
  ScriptedServer() : path_(temporary_path("scripted")) {
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 4), 0);
    thread_ = std::thread([this] { run(); });
  }
  ~ScriptedServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
    ::unlink(path_.c_str());
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  std::string address() const { return "unix:" + path_; }

  std::atomic<v1::Durability> durability{v1::DURABILITY_LOGGED};
  std::atomic<std::uint64_t> durable_through{0};
  std::atomic<std::uint64_t> head{0};
  std::atomic<std::uint64_t> next{0};                     // 0: the producer is not known
  std::atomic<std::uint64_t> first_received{UINT64_MAX};  // sequence number, since it was set
  std::atomic<std::uint64_t> producer{UINT64_MAX};        // as in the newest Observe

 private:
  void run() {
    for (;;) {
      const int peer = ::accept(listener_, nullptr, nullptr);
      if (peer < 0) return;
      std::string in;
      std::vector<char> some(65'536);
      for (ssize_t n; (n = ::recv(peer, some.data(), some.size(), 0)) > 0;) {
        in.append(some.data(), static_cast<std::size_t>(n));
        for (;;) {
          const FrameScan scan = scan_frame(std::as_bytes(std::span(in)), UINT32_MAX);
          if (scan.kind != FrameScan::kFrame) break;
          v1::Request request;
          EXPECT_TRUE(
              request.ParseFromArray(scan.frame.data(), static_cast<int>(scan.frame.size())));
          in.erase(0, scan.consumed);
          answer(peer, request);
        }
      }
      ::close(peer);
    }
  }

  void answer(int peer, const v1::Request& request) {
    v1::Response response;
    response.set_id(request.id());
    if (request.has_hello()) {
      v1::Welcome* welcome = response.mutable_welcome();
      welcome->set_version(1);
      welcome->set_features(3);
      welcome->set_frame_cap(65'536);
      welcome->set_max_rows(4'096);
      welcome->set_observes(true);
      welcome->set_head(head);
      welcome->set_instance_id(1);
      welcome->set_durability(durability);
    } else if (request.has_producer_status()) {
      response.mutable_producer_status_result()->set_known(next > 0);
      response.mutable_producer_status_result()->set_next(next);
    } else {
      const v1::Observe& observe = request.observe();
      producer = observe.producer();
      if (first_received == UINT64_MAX) first_received = observe.first_sequence();
      head += observe.rows();
      next = std::max<std::uint64_t>(next, observe.first_sequence() + observe.rows());
      v1::ObserveAck* ack = response.mutable_observe_ack();
      ack->set_accepted(observe.rows());
      ack->set_producer(observe.producer());
      ack->set_producer_next(next);
      ack->set_head(head);
      ack->set_durable_through(durability == v1::DURABILITY_LOGGED ? head.load()
                                                                   : durable_through.load());
      ack->set_frames(1);
    }
    const std::string bytes = RawPeer::framed(response);
    EXPECT_EQ(::send(peer, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  std::string path_;
  int listener_ = -1;
  std::thread thread_;
};

void send(Client& client, std::size_t first, std::size_t rows) {
  ASSERT_EQ(client.observe(TestRows(rows, first).rows()), Status::kOk) << client.error_text();
}

TEST(ClientDurable, AcknowledgedRowsOfALogAreDurableAndNotKept) {
  ScriptedServer server;
  Client client;
  ASSERT_EQ(client.connect(server.address(), {.producer = 7, .durability = v1::DURABILITY_LOGGED}),
            Status::kOk)
      << client.error_text();
  send(client, 0, 100);
  EXPECT_EQ(client.totals().durable, 100U);
  // Its disk was lost: nothing is kept that could be sent again.
  server.next = 0;
  EXPECT_EQ(client.reconnect(), Status::kRefused);
  EXPECT_EQ(client.missing().first, 0U);
  EXPECT_EQ(client.missing().count, 100U);
}

TEST(ClientDurable, RowsAcknowledgedAtOnceAreKeptUntilTheyAreOnDisk) {
  ScriptedServer server;
  server.durability = v1::DURABILITY_MEMORY;
  Client client;
  ASSERT_EQ(client.connect(server.address(), {.producer = 7}), Status::kOk);
  send(client, 0, 100);
  EXPECT_EQ(client.totals().durable, 0U);
  server.durable_through = 99;
  send(client, 100, 100);
  EXPECT_EQ(client.totals().durable, 0U);
  server.durable_through = 100;
  send(client, 200, 100);
  EXPECT_EQ(client.totals().durable, 100U);
  // A crash back to what was on disk: the rest is sent again by itself.
  server.next = server.head = 100;
  server.first_received = UINT64_MAX;
  ASSERT_EQ(client.reconnect(), Status::kOk) << client.error_text();
  EXPECT_EQ(server.first_received, 100U);
  EXPECT_EQ(client.totals().restored, 200U);
  EXPECT_EQ(client.totals().lost, 0U);
  EXPECT_EQ(server.next, 300U);
  // The server comes back behind what was on disk, which is no longer kept.
  server.next = 50;
  EXPECT_EQ(client.reconnect(), Status::kRefused);
  EXPECT_EQ(client.missing().first, 50U);
  EXPECT_EQ(client.missing().count, 50U);
}

// A server from before there was a log would ignore what is asked of it.
TEST(ClientDurable, LogIsRefusedWhereTheServerDoesNotSayThatItHasOne) {
  ScriptedServer server;
  server.durability = v1::DURABILITY_UNSPECIFIED;
  Client client;
  EXPECT_EQ(client.connect(server.address(), {.durability = v1::DURABILITY_LOGGED}),
            Status::kRefused);
  EXPECT_EQ(client.refusal(), v1::REASON_NOT_DURABLE);
}

// One that never forgets a number would keep those of all clients that there ever were.
TEST(ClientDurable, AServerFromBeforeNumbersWereDrawnIsGivenNone) {
  ScriptedServer server;
  Client client;
  ASSERT_EQ(client.connect(server.address()), Status::kOk) << client.error_text();
  EXPECT_FALSE(client.welcome().forgets_drawn());
  send(client, 0, 100);
  EXPECT_EQ(server.producer, 0U);
  EXPECT_EQ(client.totals().accepted, 100U);
  // Connected again it goes on without a number, and sends nothing twice.
  ASSERT_EQ(client.reconnect(), Status::kOk) << client.error_text();
  send(client, 100, 100);
  EXPECT_EQ(server.producer, 0U);
  EXPECT_EQ(server.head, 200U);
  EXPECT_EQ(client.totals().accepted, 200U);
  EXPECT_EQ(client.totals().lost + client.totals().unknown + client.totals().restored, 0U);
}

// What is on its way when the connection breaks nobody can tell, and it is said so.
TEST(ClientDurable, WhatWasOnItsWayToAServerFromBeforeNumbersWereDrawnIsUnknown) {
  ScriptedServer server;
  Client client;
  ASSERT_EQ(client.connect(server.address()), Status::kOk) << client.error_text();
  const TestRows rows(100);
  ASSERT_EQ(client.send_observe(rows.rows()), Status::kOk);
  ASSERT_EQ(client.outstanding_rows(), 100U);
  ASSERT_EQ(client.reconnect(), Status::kOk) << client.error_text();
  EXPECT_EQ(client.totals().unknown, 100U);
  EXPECT_EQ(client.wait_acknowledged(), Status::kClosed);
  EXPECT_LE(server.head, 100U);
  send(client, 100, 100);
  EXPECT_EQ(client.totals().accepted, 100U);
  EXPECT_EQ(client.totals().sent, 200U);
}

}  // namespace
}  // namespace windhover
