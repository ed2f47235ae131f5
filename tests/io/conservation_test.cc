// Nothing is silently lost: sent = accepted + refused + duplicate, for the sender and in the
// counters, whatever breaks on the way.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/raw_peer.h"
#include "windhover/tests/io/server_fixture.h"

namespace windhover {
namespace {

using testing::eventually;
using testing::kFeatures;
using testing::RawPeer;
using testing::small_engine;
using testing::small_server;
using testing::TestRows;
using testing::TestServer;

TEST(Conservation, ManyProducersSomeResendingSomeSendingBadRows) {
  constexpr int kProducers = 8;
  constexpr std::size_t kRows = 4000;
  // Who comes again does so beside the connection of before, and takes nobody's place.
  ServerConfig config = small_server();
  config.max_sessions = 2 * kProducers;
  TestServer server(config);
  std::mutex mutex;
  std::uint64_t sent = 0;
  std::uint64_t judged = 0;
  std::vector<std::thread> producers;
  for (int p = 0; p < kProducers; ++p) {
    producers.emplace_back([&, p] {
      Client client;
      ClientOptions options;
      options.producer = static_cast<std::uint64_t>(p + 1);
      options.max_rows_per_frame = static_cast<std::size_t>(1 + 13 * p);
      options.wire_float = p % 2 == 1;
      ASSERT_EQ(client.connect(server.observe_address(), options), Status::kOk)
          << client.error_text();
      TestRows rows(kRows, static_cast<std::size_t>(p));
      std::size_t bad = 0;
      for (std::size_t i = 0; p % 3 == 1 && i < kRows; i += 7, ++bad) {
        rows.targets[i] = std::numeric_limits<double>::infinity();
      }
      ASSERT_EQ(client.observe(rows.rows()), Status::kOk) << client.error_text();
      EXPECT_EQ(client.totals().refused, bad);
      EXPECT_EQ(client.totals().accepted, kRows - bad);
      if (p % 2 == 0) {  // says it all again from the middle
        client.close();
        ASSERT_TRUE(eventually([&] {
          ClientOptions again = options;
          again.first_sequence = kRows / 2;
          return ok(client.connect(server.observe_address(), again));
        }));
        ASSERT_EQ(client.observe(rows.rows()), Status::kOk) << client.error_text();
        EXPECT_EQ(client.totals().duplicate, kRows / 2);
        const std::lock_guard lock(mutex);
        sent += kRows;
        judged += kRows;
      }
      const ObserveTotals& totals = client.totals();
      EXPECT_EQ(totals.sent, totals.accepted + totals.refused + totals.duplicate);
      const std::lock_guard lock(mutex);
      sent += kRows;
      judged += totals.accepted + totals.refused + totals.duplicate;
    });
  }
  for (std::thread& producer : producers) producer.join();
  EXPECT_EQ(sent, judged);
  EXPECT_EQ(server.counter(IoCounter::kRowsReceived), sent);
  // ~TestServer checks that these are accepted + refused + duplicate, and that accepted is the
  // head.
}

// A relay that breaks the connection after so many bytes in either direction, and every other one
// after the server's first answer, if that is asked for.
class BreakingRelay {
 public:
  BreakingRelay(std::string to, std::size_t bytes, bool after_welcome = false)
      : to_(std::move(to)), bytes_(bytes), after_welcome_(after_welcome) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 4), 0);
    socklen_t size = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~BreakingRelay() {
    done_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  int breaks() const { return breaks_; }
  // What the server says after its first answer on a connection is held until it is let go.
  void hold_answers(bool hold) { hold_ = hold; }
  bool holds_one() const { return holds_one_; }
  int let_go() const { return let_go_; }

 private:
  void run() {
    while (!done_) {
      const int client = ::accept(listener_, nullptr, nullptr);
      if (client < 0) return;
      RawPeer server(to_);
      relay(client, server.socket());
      ::close(client);
    }
  }

  void relay(int client, ClientSocket& server) {
    std::array<char, 8192> some;
    const std::size_t most = after_welcome_ && ++connections_ % 2 == 0 ? 1 : bytes_;
    std::size_t answered = 0;
    for (std::size_t passed = 0; (most > 1 ? passed : answered) < most || breaks_ >= 20;) {
      if (done_) return;
      const ssize_t up = ::recv(client, some.data(), some.size(), MSG_DONTWAIT);
      if (up == 0) return;
      for (std::size_t at = 0; up > 0 && at < static_cast<std::size_t>(up);) {
        std::size_t sent = 0;
        if (!ok(server.send_some(some.data() + at, static_cast<std::size_t>(up) - at, sent)))
          return;
        at += sent;
      }
      std::size_t down = 0;
      if (!ok(server.receive_some(some.data(), some.size(), down))) return;
      const bool held = down > 0 && answered > 0 && hold_;
      holds_one_ = held;
      while (held && hold_ && !done_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      holds_one_ = false;
      const bool sent = down == 0 || ::send(client, some.data(), down, MSG_NOSIGNAL) >= 0;
      let_go_ += held ? 1 : 0;
      if (!sent) return;
      answered += down;
      passed += down + static_cast<std::size_t>(up > 0 ? up : 0);
      if (up <= 0 && down == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    ++breaks_;
  }

  std::string to_;
  std::size_t bytes_;
  bool after_welcome_;
  int connections_ = 0;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> done_{false};
  std::atomic<int> breaks_{0};
  std::atomic<bool> hold_{false};
  std::atomic<bool> holds_one_{false};
  std::atomic<int> let_go_{0};
  std::thread thread_;
};

void expect_each_row_once_through(BreakingRelay& relay, TestServer& server) {
  Client client;
  ClientOptions options;
  options.producer = 42;
  options.max_rows_per_frame = 50;
  ASSERT_EQ(client.connect(relay.address(), options), Status::kOk) << client.error_text();
  constexpr std::size_t kBatches = 300;
  constexpr std::size_t kRows = 100;
  const auto reconnect = [&](Status status) {
    while (status == Status::kClosed || status == Status::kIoError) {
      status = client.reconnect();
      ASSERT_NE(status, Status::kTimeout);
    }
    ASSERT_EQ(status, Status::kOk) << client.error_text();
  };
  for (std::size_t batch = 0; batch < kBatches; ++batch) {
    const TestRows rows(kRows, batch * kRows);
    // A batch of which a part was taken over by the client goes on where that part ends.
    const std::uint64_t before = client.totals().sent;
    Status status = client.send_observe(rows.rows());
    if (ok(status)) status = client.flush();
    while (!ok(status)) {
      reconnect(status);
      const std::size_t taken = static_cast<std::size_t>(client.totals().sent - before);
      if (taken == kRows) break;
      const TestRows rest(kRows - taken, batch * kRows + taken);
      status = client.send_observe(rest.rows());
    }
  }
  for (Status status = client.wait_acknowledged(); !ok(status);
       status = client.wait_acknowledged()) {
    reconnect(status);
  }
  EXPECT_GE(relay.breaks(), 10);
  EXPECT_EQ(client.totals().sent, kBatches * kRows);
  EXPECT_EQ(client.outstanding_frames(), 0U);
  EXPECT_EQ(client.totals().producer_next, kBatches * kRows);
  EXPECT_EQ(server.engine().head(), kBatches * kRows);  // each exactly once
  EXPECT_EQ(client.totals().sent,
            client.totals().accepted + client.totals().refused + client.totals().duplicate);
}

// Connections break in the middle of frames and between a frame and its acknowledgement, 20 times.
TEST(Conservation, BrokenConnectionsLoseAndDuplicateNothing) {
  TestServer server;
  BreakingRelay relay(server.observe_address(), 37'777);
  expect_each_row_once_through(relay, server);
}

// They also break between the server's welcome and its answer about the producer.
TEST(Conservation, ConnectionsBrokenWhileTheyAreTakenUpLoseAndDuplicateNothing) {
  TestServer server;
  BreakingRelay relay(server.observe_address(), 37'777, true);
  expect_each_row_once_through(relay, server);
}

// What the server says of the producer after the client has given up must not pass for an answer to
// rows that it has not sent again.
TEST(Conservation, AnswerAboutTheProducerThatComesTooLateAcknowledgesNothing) {
  TestServer server;
  BreakingRelay relay(server.observe_address(), 20'000);
  Client client;
  ClientOptions options;
  options.producer = 44;
  options.max_rows_per_frame = 50;
  options.reply_timeout = std::chrono::milliseconds(100);
  options.retry_for = std::chrono::milliseconds(0);
  ASSERT_TRUE(eventually([&] { return ok(client.connect(relay.address(), options)); }))
      << client.error_text();
  constexpr std::size_t kRows = 5000;
  const TestRows rows(kRows, 0);
  Status status = client.send_observe(rows.rows());
  if (ok(status)) status = client.wait_acknowledged();
  ASSERT_NE(status, Status::kOk) << "the relay has broken nothing";
  const std::uint64_t outstanding = client.outstanding_frames();
  ASSERT_GT(outstanding, 0U);
  relay.hold_answers(true);
  do {  // where the welcome itself was late nothing has been asked
    ASSERT_NE(client.reconnect(), Status::kOk);
  } while (!relay.holds_one());
  relay.hold_answers(false);
  ASSERT_TRUE(eventually([&] { return relay.let_go() == 1; }));
  EXPECT_NE(client.wait_acknowledged(), Status::kOk);
  EXPECT_EQ(client.outstanding_frames(), outstanding);
  for (int i = 0; i < 50 && !ok(status); ++i) {
    status = client.reconnect();
    if (ok(status)) status = client.wait_acknowledged();
  }
  ASSERT_EQ(status, Status::kOk) << client.error_text();
  const std::uint64_t sent = client.totals().sent;
  EXPECT_EQ(server.engine().head(), sent);  // each exactly once
  EXPECT_EQ(client.totals().producer_next, sent);
}

// Without a window room comes a minibatch at a time. A sender of small frames must not take all of
// it before there is enough for a large one.
TEST(Conservation, LargeFramesHaveTheirTurnBesideASaturatingSender) {
  EngineConfig engine = small_engine();
  engine.horizon = Horizon::kAll;
  engine.sampler.chains = 0;
  TestServer server(small_server(), engine, false);
  std::atomic<bool> done{false};
  std::thread saturating([&] {
    Client client;
    ClientOptions options;
    options.max_rows_per_frame = 10;
    ASSERT_EQ(client.connect(server.observe_address(), options), Status::kOk);
    const TestRows rows(100);
    while (!done && ok(client.send_observe(rows.rows()))) {
    }
    EXPECT_EQ(client.wait_acknowledged(), Status::kOk);
  });
  EXPECT_TRUE(eventually([&] { return server.counter(IoCounter::kWindowFullWaits) > 0; }));
  Client large;
  ClientOptions options;
  options.max_rows_per_frame = 1900;
  EXPECT_EQ(large.connect(server.observe_address(), options), Status::kOk);
  EXPECT_EQ(large.send_observe(TestRows(1900).rows()), Status::kOk);
  EXPECT_EQ(large.flush(), Status::kOk);
  int polls = 0;
  for (; polls < 5000 && large.totals().accepted < 1900; ++polls) {
    server.engine().poll(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(large.poll_acknowledgements(), Status::kOk);
  }
  EXPECT_EQ(large.totals().accepted, 1900U) << polls;
  done = true;
  server.learn(true);
  saturating.join();
}

TEST(Conservation, WhereNothingIsSentAgainABrokenConnectionIsReported) {
  auto server = std::make_unique<TestServer>(small_server(), small_engine(), false);
  Client client;
  ASSERT_EQ(client.connect(server->observe_address(), {.resend = false}), Status::kOk);
  ASSERT_EQ(client.send_observe(TestRows(100).rows()), Status::kOk);
  client.close();
  ASSERT_EQ(client.reconnect(), Status::kOk) << client.error_text();
  EXPECT_EQ(client.wait_acknowledged(), Status::kClosed);
  EXPECT_EQ(client.wait_acknowledged(), Status::kOk);
  EXPECT_EQ(client.totals().sent, 100U);
  EXPECT_EQ(client.totals().unknown, 100U);
  ASSERT_EQ(client.observe(TestRows(50).rows()), Status::kOk) << client.error_text();
  EXPECT_EQ(client.totals().accepted, 50U);
  EXPECT_EQ(client.totals().unknown, 100U);
}

TEST(Conservation, StoppingDrainsWhatWasReceivedAndAcknowledgesIt) {
  auto server = std::make_unique<TestServer>();
  Client client;
  ASSERT_EQ(client.connect(server->observe_address()), Status::kOk);
  constexpr std::size_t kRows = 20'000;
  ASSERT_EQ(client.send_observe(TestRows(kRows).rows()), Status::kOk);
  ASSERT_EQ(client.flush(), Status::kOk);  // all bytes are with the kernel
  server->server().request_stop();
  EXPECT_EQ(client.wait_acknowledged(), Status::kOk) << client.error_text();
  EXPECT_EQ(client.totals().accepted, kRows);
  server->server().join();
  EXPECT_EQ(server->engine().head(), kRows);
  Client late;
  EXPECT_EQ(late.connect(server->observe_address()), Status::kUnavailable);
}

TEST(Conservation, StoppingUnderASenderThatNeverStopsTellsItWhatWasStored) {
  auto server = std::make_unique<TestServer>();
  Client client;
  ASSERT_EQ(client.connect(server->observe_address()), Status::kOk);
  std::atomic<bool> go{true};
  std::thread stopper([&] {
    ASSERT_TRUE(eventually([&] { return server->engine().head() > 10'000; }));
    server->server().request_stop();
    server->server().join();
    go = false;
  });
  const TestRows rows(500);
  Status status = Status::kOk;
  while (ok(status) && go) status = client.send_observe(rows.rows());
  if (ok(status)) status = client.wait_acknowledged();
  stopper.join();
  // kOk: the server caught the sender at a moment when everything sent had arrived.
  EXPECT_TRUE(ok(status) || status == Status::kClosed) << to_string(status);
  EXPECT_EQ(client.totals().accepted, server->engine().head());
}

TEST(Conservation, StoppingIsBoundedWhenTheWindowStaysFull) {
  ServerConfig config = small_server();
  config.drain_timeout = std::chrono::milliseconds(300);
  auto server = std::make_unique<TestServer>(config, small_engine(), false);
  Client client;
  ClientOptions options;
  options.reply_timeout = std::chrono::milliseconds(2000);
  ASSERT_EQ(client.connect(server->observe_address(), options), Status::kOk);
  (void)client.send_observe(TestRows(20'000).rows());
  ASSERT_TRUE(eventually([&] { return server->counter(IoCounter::kWindowFullWaits) > 0; }));
  const auto begin = std::chrono::steady_clock::now();
  server->server().request_stop();
  server->server().join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

}  // namespace
}  // namespace windhover
