// The socket of a peer, in the clear or under TLS.
#ifndef WINDHOVER_IO_PEER_SOCKET_H_
#define WINDHOVER_IO_PEER_SOCKET_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "windhover/io/access/credential.h"
#include "windhover/io/asio_types.h"
#include "windhover/io/counter_ids.h"
#include "windhover/io/handler_memory.h"
#include "windhover/io/tls/tls_channel.h"
#include "windhover/io/tls/tls_context.h"

namespace windhover {

// TCP is under TLS where the server has a certificate; Unix-domain sockets never are. The handshake
// is part of the first reads. The endpoint's thread.
class PeerSocket {
 public:
  PeerSocket(IoContext& io, Counters<IoCounter>& counters) : socket_(io), counters_(counters) {}

  // Takes a connected socket over. `tls`: null where all is in the clear. False, counted: there is
  // no memory for TLS; then close().
  bool begin(Stream&& socket, const TlsContext* tls, std::int64_t now_ns) noexcept;
  void close() noexcept;

  // A handshake may take so long.
  static constexpr std::int64_t kHandshakeNs = 5'000'000'000;
  bool shakes_hands() const noexcept { return channel_.is_on() && !established_; }
  bool shakes_hands_too_long(std::int64_t now_ns) const noexcept {
    return shakes_hands() && now_ns - since_ns_ > kHandshakeNs;
  }

  // Tells who the peer is, once that is known: true once, before the peer's first byte.
  bool tells_who(Credential& who) noexcept {
    if (!news_) return false;
    news_ = false;
    who = who_;
    return true;
  }

  // Like those of Asio's socket: `error` is would_block where the socket must be waited for. Bytes
  // that are no TLS end the connection as its peer would (eof), and are counted.
  std::size_t read_some(std::span<std::byte> room, ErrorCode& error) noexcept;
  std::size_t write_some(std::span<const std::byte> bytes, ErrorCode& error) noexcept;
  // Call handler(error, bytes). `memory` is that of one chain of operations.
  template <class Handler>
  void async_read_some(std::span<std::byte> room, HandlerMemory& memory, Handler handler);
  template <class Handler>
  void async_write_some(std::span<const std::byte> bytes, HandlerMemory& memory, Handler handler);

  // Ends sending. What comes from here on is read undecrypted, to be discarded.
  void shutdown_send() noexcept;
  void cancel() noexcept {
    ErrorCode ignored;
    socket_.cancel(ignored);
  }
  // A peer that is late while bytes of it lie here unread has so much more time: it may be the
  // server that is late.
  static constexpr std::int64_t kHeldUpNs = 10'000'000'000;
  // Bytes that have come and can be read: none while the peer has to take something first.
  std::size_t available() const noexcept {
    ErrorCode ignored;
    return secret_ && waits_for_ == Stream::wait_write ? 0 : socket_.available(ignored);
  }
  int native_handle() noexcept { return socket_.native_handle(); }
  auto get_executor() noexcept { return socket_.get_executor(); }

 private:
  template <class Handler>
  void wait_to_read(std::span<std::byte> room, HandlerMemory& memory, Handler handler);
  template <class Handler>
  void wait_to_write(std::span<const std::byte> bytes, HandlerMemory& memory, Handler handler);
  std::size_t told(TlsResult result, ErrorCode& error) noexcept;
  std::size_t read_tls(std::span<std::byte> room, ErrorCode& error) noexcept;

  Stream socket_;
  Counters<IoCounter>& counters_;
  TlsChannel channel_;
  bool established_ = false;
  bool secret_ = false;  // bytes go through the channel
  bool news_ = false;
  Stream::wait_type waits_for_ = Stream::wait_read;  // what a read that would block needs
  std::int64_t since_ns_ = 0;
  Credential who_;
};

template <class Handler>
void PeerSocket::async_read_some(std::span<std::byte> room, HandlerMemory& memory,
                                 Handler handler) {
  if (!secret_) {
    socket_.async_read_some(asio::buffer(room.data(), room.size()), with_memory(memory, handler));
    return;
  }
  // OpenSSL may hold bytes already, and then no wait for the socket would end. The handler is never
  // called from inside this function.
  ErrorCode error;
  const std::size_t bytes = read_tls(room, error);
  if (error == asio::error::would_block) return wait_to_read(room, memory, handler);
  asio::post(socket_.get_executor(),
             with_memory(memory, [handler, error, bytes]() mutable { handler(error, bytes); }));
}

template <class Handler>
void PeerSocket::wait_to_read(std::span<std::byte> room, HandlerMemory& memory, Handler handler) {
  socket_.async_wait(waits_for_, with_memory(memory, [this, room, &memory,
                                                      handler](const ErrorCode& waited) mutable {
                       ErrorCode error = waited;
                       std::size_t bytes = 0;
                       if (!error && secret_) bytes = read_tls(room, error);
                       if (error == asio::error::would_block) {
                         return wait_to_read(room, memory, handler);
                       }
                       handler(error, bytes);
                     }));
}

template <class Handler>
void PeerSocket::async_write_some(std::span<const std::byte> bytes, HandlerMemory& memory,
                                  Handler handler) {
  if (secret_) return wait_to_write(bytes, memory, handler);
  socket_.async_write_some(asio::buffer(bytes.data(), bytes.size()), with_memory(memory, handler));
}

template <class Handler>
void PeerSocket::wait_to_write(std::span<const std::byte> bytes, HandlerMemory& memory,
                               Handler handler) {
  socket_.async_wait(
      Stream::wait_write,
      with_memory(memory, [this, bytes, &memory, handler](const ErrorCode& waited) mutable {
        ErrorCode error = waited;
        std::size_t written = 0;
        if (!error) written = write_some(bytes, error);
        if (error == asio::error::would_block) {
          return wait_to_write(bytes, memory, handler);
        }
        handler(error, written);
      }));
}

}  // namespace windhover

#endif  // WINDHOVER_IO_PEER_SOCKET_H_
