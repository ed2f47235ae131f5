// The parts of an endpoint without the endpoint: its memory, a thread that goes on by hand, a clock
// that moves by hand, and peers over socket pairs.
#ifndef WINDHOVER_TESTS_IO_ENDPOINT_RIG_H_
#define WINDHOVER_TESTS_IO_ENDPOINT_RIG_H_

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/io/endpoint_memory.h"
#include "windhover/io/endpoint_turns.h"
#include "windhover/tests/io/conversation_fixture.h"

namespace windhover::testing {

struct EndpointRig {
  explicit EndpointRig(EndpointKind of_kind, std::uint32_t max_sessions = 3)
      : kind(of_kind), shared(8, of_kind), limits(with_sessions(shared.limits, max_sessions)) {
    EXPECT_FALSE(arena.exhausted());
    shared.state.limits = limits;
    memory.scratch.reset();
    memory.long_predict.reset();
    memory.queue.reset();
    PlaceChange comes;
    comes.model = &shared.model;
    comes.reader = shared.engine->reader().value();
    comes.paging[0] = shared.engine->reader().value();
    comes.in_pieces = shared.engine->reader().value();
    if (kind == EndpointKind::kObserve) comes.producers = &shared.producers;
    memory.change(shared.state, kind, comes);
  }
  ~EndpointRig() { EXPECT_EQ(count(IoCounter::kHandlerHeapFallbacks), 0U); }
  EndpointRig(const EndpointRig&) = delete;
  EndpointRig& operator=(const EndpointRig&) = delete;

  static Limits with_sessions(Limits limits, std::uint32_t max_sessions) {
    limits.max_sessions = max_sessions;
    return limits;
  }
  std::uint64_t count(IoCounter id) const { return shared.count(id); }
  // All that is to be done now; how many pieces of it.
  std::size_t go_on() {
    io.restart();
    return io.poll();
  }

  const EndpointKind kind;
  Shared shared;
  Limits limits;
  MappedBlock block{8 << 20};
  Arena arena{block.bytes()};
  EndpointMemory memory{arena, limits, 1};
  IoContext io{1};
};

// The other end of a connection over a pair of sockets.
class PairedPeer {
 public:
  explicit PairedPeer(IoContext& io) : server_side(io) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    server_side.assign(StreamProtocol(AF_UNIX, 0), ends[0]);
    server_side.non_blocking(true);
    fd_ = ends[1];
  }
  ~PairedPeer() { close(); }
  PairedPeer(const PairedPeer&) = delete;
  PairedPeer& operator=(const PairedPeer&) = delete;

  void send(const v1::Request& request) {
    const std::string bytes = RawPeer::framed(request);
    EXPECT_EQ(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  void hello() {
    v1::Request request;
    request.mutable_hello()->set_version_max(1);
    send(request);
  }
  // What has come so far.
  std::vector<v1::Response> receive() {
    std::array<char, 65536> some;
    ssize_t bytes = 0;
    while ((bytes = ::recv(fd_, some.data(), some.size(), MSG_DONTWAIT)) > 0) {
      in_.append(some.data(), static_cast<std::size_t>(bytes));
    }
    ended_ = bytes == 0;
    std::vector<v1::Response> responses;
    for (;;) {
      const FrameScan scan = scan_frame(std::as_bytes(std::span(in_)), UINT32_MAX);
      if (scan.kind != FrameScan::kFrame) return responses;
      EXPECT_TRUE(responses.emplace_back().ParseFromArray(scan.frame.data(),
                                                          static_cast<int>(scan.frame.size())));
      in_.erase(0, scan.consumed);
    }
  }
  // Whether the server has ended it, as receive() has last seen.
  bool ended() const { return ended_; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

  Stream server_side;  // to be taken over

 private:
  int fd_ = -1;
  bool ended_ = false;
  std::string in_;
};

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_ENDPOINT_RIG_H_
