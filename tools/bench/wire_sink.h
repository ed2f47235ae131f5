// A server that welcomes one client, acknowledges what it sends, and throws it away: what sending
// costs the sender.
#ifndef WINDHOVER_TOOLS_BENCH_WIRE_SINK_H_
#define WINDHOVER_TOOLS_BENCH_WIRE_SINK_H_

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "windhover/io/codec.h"
#include "windhover/io/framing.h"
#include "windhover/tools/bench/loopback.h"

namespace windhover {

// On a thread of its own until the client has gone; the client goes first. No heap call once it is
// constructed.
class WireSink {
 public:
  explicit WireSink(std::uint32_t features) : buffer_(kBuffer) {
    welcome_.features = features;
    welcome_.dimension = features + 1;
    welcome_.frame_cap = 64 * 1024;
    welcome_.reply_cap = kSmallReplyBound;
    welcome_.max_rows = 32'768;
    welcome_.observes = true;
    sockaddr_in at{};
    listener_ = listen_on_loopback(at);
    address_ = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
    thread_ = std::thread([this] { run(); });
  }
  ~WireSink() {
    ::shutdown(listener_, SHUT_RDWR);  // ends a wait for a client that never came
    thread_.join();
    ::close(listener_);
  }
  WireSink(const WireSink&) = delete;
  WireSink& operator=(const WireSink&) = delete;

  const std::string& address() const { return address_; }

 private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 18;

  void run() noexcept {
    const int client = ::accept(listener_, nullptr, nullptr);
    std::size_t held = 0;
    for (;;) {
      const ssize_t n = ::recv(client, buffer_.data() + held, buffer_.size() - held, 0);
      if (n <= 0) break;
      held += static_cast<std::size_t>(n);
      const std::size_t used = take({buffer_.data(), held});
      held -= used;
      std::memmove(buffer_.data(), buffer_.data() + used, held);
      if (size_ > 0) (void)::send(client, reply_.data(), size_, MSG_NOSIGNAL);
      size_ = 0;
    }
    if (client >= 0) ::close(client);
  }

  // Whole frames; the answer to all of them into reply_.
  std::size_t take(std::span<const std::byte> bytes) noexcept {
    std::size_t used = 0;
    ack_.frames = 0;
    ack_.accepted = 0;
    for (;;) {
      const FrameScan scan = scan_frame(bytes.subspan(used), UINT32_MAX);
      RequestView request;
      if (scan.kind != FrameScan::kFrame || !ok(decode_request(scan.frame, request))) break;
      used += scan.consumed;
      if (request.kind == RequestKind::kHello) size_ = encode(request.id, welcome_, reply_);
      if (request.kind != RequestKind::kObserve) continue;
      ack_.id = request.id;
      ack_.accepted += request.observe.batch.rows;
      ++ack_.frames;
    }
    if (ack_.frames > 0) size_ = encode(ack_, reply_);
    return used;
  }

  WelcomeReply welcome_;
  ObserveAckReply ack_;
  std::vector<std::byte> buffer_;
  std::array<std::byte, kSmallReplyBound> reply_;
  std::size_t size_ = 0;  // of what is to be sent
  int listener_ = -1;
  std::string address_;
  std::thread thread_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_WIRE_SINK_H_
