#include "windhover/io/listener.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/read.hpp>

#include "windhover/tests/io/raw_peer.h"

namespace windhover::listener_test {
namespace {

using testing::RawPeer;

// Keeps the connections that it is offered, up to `room`.
class Crowd final : public ConnectionSink {
 public:
  explicit Crowd(std::size_t room) : room_(room) {}
  bool on_connection(Stream& socket) noexcept override {
    if (taken_.size() == room_) return false;
    taken_.push_back(std::move(socket));
    return true;
  }
  void give(std::size_t room) { room_ += room; }
  std::size_t size() const { return taken_.size(); }
  Stream& at(std::size_t index) { return taken_[index]; }

 private:
  std::size_t room_;
  std::vector<Stream> taken_;
};

struct World {
  explicit World(std::size_t room) : sink(room), listener(io, sink, counters) {
    EXPECT_TRUE(listener.open_tcp("test", "127.0.0.1", 0).ok());
    listener.start();
  }
  // The kernel has accepted these peers when this returns.
  void connect(int peers) {
    const std::string address = "127.0.0.1:" + std::to_string(listener.port());
    for (int i = 0; i < peers; ++i) peers_.push_back(std::make_unique<RawPeer>(address));
  }

  IoContext io{1};
  Counters<IoCounter> counters;
  Crowd sink;
  Listener listener;
  std::vector<std::unique_ptr<RawPeer>> peers_;
};

// A thread that answers for 25 ms between two handlers would else accept 40 a second.
TEST(Listener, AllThatHaveComeAreAcceptedInOneGo) {
  World world(100);
  world.connect(20);
  EXPECT_EQ(world.io.run_one(), 1U);
  EXPECT_EQ(world.sink.size(), 20U);
  world.connect(1);
  EXPECT_EQ(world.io.run_one(), 1U);
  EXPECT_EQ(world.sink.size(), 21U) << "and it goes on to listen";
}

// Its size, and that it is fixed: the kernel makes a buffer larger only where nobody has set it.
TEST(Listener, BuffersOfConnectionsDoNotGrow) {
  World world(1);
  world.connect(1);
  ASSERT_EQ(world.io.run_one(), 1U);
  Stream& taken = world.sink.at(0);
  asio::socket_base::receive_buffer_size fixed(Listener::kReceiveBytes);
  Stream other(world.io, StreamProtocol(asio::ip::tcp::v4()));
  other.set_option(fixed);
  asio::socket_base::receive_buffer_size wanted;
  asio::socket_base::receive_buffer_size size;
  other.get_option(wanted);
  taken.get_option(size);
  EXPECT_EQ(size.value(), wanted.value());
  EXPECT_LE(size.value(), 2 * Listener::kReceiveBytes) << "Linux doubles it";

  std::vector<char> bytes(1 << 16);
  RawPeer& peer = *world.peers_[0];
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(peer.send(std::string(bytes.size(), 'x')));
    asio::read(taken, asio::buffer(bytes));
  }
  taken.get_option(size);
  EXPECT_EQ(size.value(), wanted.value());
}

TEST(Listener, OfACrowdNoMoreThanSoManyAtOnce) {
  World world(100);
  world.connect(Listener::kAtOnce + 8);
  EXPECT_EQ(world.io.run_one(), 1U);
  EXPECT_EQ(world.sink.size(), Listener::kAtOnce + 1U) << "others have their turn between";
  EXPECT_EQ(world.io.run_one(), 1U);
  EXPECT_EQ(world.sink.size(), Listener::kAtOnce + 8U);
}

TEST(Listener, OneThatWaitsForAPlaceGetsItBeforeTheNext) {
  World world(3);
  world.connect(8);
  EXPECT_EQ(world.io.run_one(), 1U);
  EXPECT_EQ(world.sink.size(), 3U);
  world.sink.give(5);
  EXPECT_EQ(world.io.run_one(), 1U) << "the timer";
  EXPECT_EQ(world.sink.size(), 8U);
}

}  // namespace
}  // namespace windhover::listener_test
