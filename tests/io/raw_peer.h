// A peer that sends whatever bytes it likes.
#ifndef WINDHOVER_TESTS_IO_RAW_PEER_H_
#define WINDHOVER_TESTS_IO_RAW_PEER_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <string>

#include "windhover/io/address.h"
#include "windhover/io/client_socket.h"
#include "windhover/io/framing.h"
#include "windhover/io/windhover.pb.h"

namespace windhover::testing {

class RawPeer {
 public:
  explicit RawPeer(const std::string& address) {
    Address parsed;
    std::string why;
    connected_ =
        parse_address(address, parsed) && ok(socket_.connect(parsed, std::chrono::seconds(5), why));
  }

  bool connected() const { return connected_; }
  ClientSocket& socket() { return socket_; }

  // False when the server has closed or takes nothing for a second.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      std::size_t sent = 0;
      if (!ok(socket_.send_some(bytes.data(), bytes.size(), sent))) return false;
      bytes.remove_prefix(sent);
      if (sent == 0) {
        if (!ok(socket_.wait(true, std::chrono::seconds(1)))) return false;
        drain();
      }
    }
    return true;
  }

  bool send(const v1::Request& request) { return send(framed(request)); }

  template <class Message>
  static std::string framed(const Message& message) {
    const std::string body = message.SerializeAsString();
    std::array<std::byte, kMaxFrameHeader> header{};
    const std::size_t size =
        write_frame_header(static_cast<std::uint32_t>(body.size()), header.data());
    return std::string(reinterpret_cast<const char*>(header.data()), size) + body;
  }

  bool hello() {
    v1::Request request;
    request.mutable_hello()->set_version_min(1);
    request.mutable_hello()->set_version_max(1);
    v1::Response response;
    return send(request) && receive(response) && response.has_welcome();
  }

  // The next response; false when the connection has ended or nothing comes for ten seconds.
  bool receive(v1::Response& response) {
    for (;;) {
      const FrameScan scan = scan_frame(std::as_bytes(std::span(in_.data(), in_.size())), 1U << 28);
      if (scan.kind == FrameScan::kFrame) {
        const bool parsed =
            response.ParseFromArray(scan.frame.data(), static_cast<int>(scan.frame.size()));
        in_.erase(0, scan.consumed);
        return parsed;
      }
      if (scan.kind != FrameScan::kNeedMore || ended_) return false;
      if (!ok(socket_.wait(false, std::chrono::seconds(10)))) return false;
      drain();
    }
  }

  // The next response is a refusal for this reason, and then the connection ends.
  bool refused_and_closed(v1::Reason reason) {
    v1::Response response;
    if (!receive(response) || !response.has_refusal()) return false;
    return response.refusal().reason() == reason && response.refusal().closing() && ends();
  }

  bool ends() {
    while (!ended_) {
      if (!ok(socket_.wait(false, std::chrono::seconds(10)))) return false;
      drain();
    }
    return true;
  }

 private:
  void drain() {
    std::array<char, 65536> some;
    for (;;) {
      std::size_t received = 0;
      if (!ok(socket_.receive_some(some.data(), some.size(), received))) {
        ended_ = true;
        return;
      }
      if (received == 0) return;
      in_.append(some.data(), received);
    }
  }

  ClientSocket socket_;
  bool connected_ = false;
  bool ended_ = false;
  std::string in_;
};

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_RAW_PEER_H_
