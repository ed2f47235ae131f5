#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "windhover/io/framing.h"
#include "windhover/io/windhover.pb.h"
#include "windhover/platform/histogram.h"
#include "windhover/tools/bench/loopback.h"
#include "windhover/tools/bench/machine.h"
#include "windhover/tools/bench/timing.h"
#include "windhover/tools/error.h"

namespace windhover {

namespace {

constexpr std::size_t kSendBytes = 64 * 1024;
constexpr std::size_t kPingBytes = 64;
constexpr int kStretches = 5;

// The two ends of one connection in this process.
class SocketPair {
 public:
  explicit SocketPair(StreamKind kind) {
    if (kind == StreamKind::kUnix) {
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()) == 0) return;
      throw RunError("no Unix-domain sockets to measure the machine with");
    }
    std::string address;
    const int listener = listen_on_loopback(address);
    ends_[0] = connect_to(address);
    ends_[1] = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    ::close(listener);
    if (ends_[1] < 0) throw RunError("no TCP over loopback");
    const int on = 1;
    (void)::setsockopt(far(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
  ~SocketPair() {
    for (const int end : ends_) {
      if (end >= 0) ::close(end);
    }
  }
  SocketPair(const SocketPair&) = delete;
  SocketPair& operator=(const SocketPair&) = delete;

  int near() const { return ends_[0]; }
  int far() const { return ends_[1]; }

 private:
  std::array<int, 2> ends_{-1, -1};
};

bool receive_all(int socket, char* data, std::size_t size) {
  return ::recv(socket, data, size, MSG_WAITALL) == static_cast<ssize_t>(size);
}

double stream_rate(StreamKind kind, double budget) {
  const SocketPair pair(kind);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    const std::vector<char> data(kSendBytes, 'x');
    while (!stop.load(std::memory_order_relaxed)) {
      if (::send(pair.near(), data.data(), data.size(), MSG_NOSIGNAL) <= 0) break;
    }
    ::shutdown(pair.near(), SHUT_WR);
  });
  std::vector<char> buffer(kSendBytes);
  // The first stretch warms up; of the others the best counts.
  double best = 0;
  bool alive = true;
  for (int stretch = 0; alive && stretch <= kStretches; ++stretch) {
    const double start = wall_seconds();
    std::size_t bytes = 0;
    double took = 0;
    while (alive && took < budget / (kStretches + 1)) {
      const ssize_t n = ::recv(pair.far(), buffer.data(), buffer.size(), 0);
      alive = n > 0;
      if (alive) bytes += static_cast<std::size_t>(n);
      took = wall_seconds() - start;
    }
    if (stretch > 0) best = std::max(best, static_cast<double>(bytes) / took);
  }
  stop.store(true, std::memory_order_relaxed);
  while (::recv(pair.far(), buffer.data(), buffer.size(), 0) > 0) {
  }
  writer.join();
  return best;
}

void ping_pong(StreamKind kind, double budget, StreamLimits& limits) {
  const SocketPair pair(kind);
  std::thread echo([&] {
    std::array<char, kPingBytes> bytes{};
    while (receive_all(pair.far(), bytes.data(), bytes.size()) &&
           ::send(pair.far(), bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0) {
    }
  });
  std::array<char, kPingBytes> bytes{};
  bool alive = true;
  for (int stretch = 0; alive && stretch < kStretches; ++stretch) {
    Histogram latency;
    const double end = wall_seconds() + budget / kStretches;
    while (alive && wall_seconds() < end) {
      record(latency, [&] {
        alive = ::send(pair.near(), bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0 &&
                receive_all(pair.near(), bytes.data(), bytes.size());
      });
    }
    const auto lower = [&](double& least, double q) {
      const double us = static_cast<double>(latency.quantile(q)) / 1e3;
      if (stretch == 0 || us < least) least = us;
    };
    lower(limits.round_trip_p50_us, 0.5);
    lower(limits.round_trip_p99_us, 0.99);
  }
  ::shutdown(pair.near(), SHUT_RDWR);
  echo.join();
}

}  // namespace

StreamLimits measure_stream(StreamKind kind, double budget) {
  StreamLimits limits;
  limits.bytes_per_second = stream_rate(kind, budget);
  ping_pong(kind, budget, limits);
  return limits;
}

Json to_json(const StreamLimits& l) {
  return {{"mb_per_second", l.bytes_per_second / 1e6},
          {"round_trip_p50_us", l.round_trip_p50_us},
          {"round_trip_p99_us", l.round_trip_p99_us}};
}

double generated_parser_seconds(std::string_view frames, double budget) {
  v1::Request request;
  return fastest(budget, [&] {
    auto rest = std::as_bytes(std::span(frames));
    while (!rest.empty()) {
      const FrameScan scan = scan_frame(rest, UINT32_MAX);
      const bool parsed =
          scan.kind == FrameScan::kFrame &&
          request.ParseFromArray(scan.frame.data(), static_cast<int>(scan.frame.size()));
      if (!parsed) throw RunError("the generated parser does not read the benchmark's own frames");
      rest = rest.subspan(scan.consumed);
    }
  });
}

}  // namespace windhover
