// A client's socket with buffers for what is to be sent and what has come, as frames of bytes.
#ifndef WINDHOVER_IO_FRAME_CHANNEL_H_
#define WINDHOVER_IO_FRAME_CHANNEL_H_

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/io/address.h"
#include "windhover/io/client_socket.h"
#include "windhover/io/framing.h"
#include "windhover/io/windhover.pb.h"
#include "windhover/platform/status.h"

namespace windhover {

// Appends the request as a frame, and returns its bytes.
std::string_view append_frame(const v1::Request& request, std::string& out);

// Invariant: bytes go and come in order, and no byte outlives its connection.
class FrameChannel {
 public:
  // As ClientSocket::connect(). REQUIRES: closed.
  Status connect(const Address& address, std::chrono::milliseconds timeout, std::string& why,
                 const ClientTlsOptions& tls) {
    return socket_.connect(address, timeout, why, tls);
  }
  void close() noexcept;
  bool is_open() const noexcept { return socket_.is_open(); }

  // The returned bytes stay until something else is appended or sent.
  std::string_view append(const v1::Request& request) { return append_frame(request, out_); }
  void append(std::string_view frames) { out_ += frames; }
  std::size_t pending_bytes() const { return out_.size() - out_begin_; }
  // One send, without waiting; `sent`: how many bytes it took.
  Status send_some(std::size_t& sent);

  // As ClientSocket::wait().
  Status wait(bool to_send, std::chrono::milliseconds timeout) noexcept {
    return socket_.wait(to_send, timeout);
  }
  // One receive, without waiting.
  Status receive_some();
  // Takes the next frame from what has come; it stays until receive_some() or close().
  FrameScan next_frame();

 private:
  ClientSocket socket_;
  std::string out_;
  std::size_t out_begin_ = 0;
  std::vector<char> in_;
  std::size_t in_begin_ = 0;
  std::size_t in_end_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_FRAME_CHANNEL_H_
