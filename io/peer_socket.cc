#include "windhover/io/peer_socket.h"

#include "windhover/io/tls/tls_memory.h"

namespace windhover {

bool PeerSocket::begin(Stream&& socket, const TlsContext* tls, std::int64_t now_ns) noexcept {
  socket_ = std::move(socket);
  ErrorCode ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);  // refused by Unix-domain sockets
  who_ = Credential::of_socket(socket_.native_handle());
  established_ = secret_ = false;
  news_ = true;
  const bool local = who_.kind == Credential::Kind::kUser;
  if (tls == nullptr || local) return true;
  news_ = false;
  since_ns_ = now_ns;
  waits_for_ = Stream::wait_read;
  if (begin_tls_connection()) {
    secret_ = channel_.begin(tls->new_connection(), socket_.native_handle(), true);
    if (!secret_) end_tls_connection();
  }
  if (!secret_) counters_.add(IoCounter::kTlsRefused);
  return secret_;
}

void PeerSocket::close() noexcept {
  if (channel_.is_on()) {
    if (secret_) channel_.say_goodbye();
    channel_.end();
    end_tls_connection();
  }
  secret_ = false;
  ErrorCode ignored;
  socket_.close(ignored);
}

std::size_t PeerSocket::told(TlsResult result, ErrorCode& error) noexcept {
  error = {};
  switch (result.end) {
    case TlsEnd::kDone:
      break;
    case TlsEnd::kWaitRead:
    case TlsEnd::kWaitWrite:
      error = asio::error::would_block;
      break;
    case TlsEnd::kFailed:
      counters_.add(IoCounter::kTlsFailures);
      [[fallthrough]];
    case TlsEnd::kClosed:
      error = asio::error::eof;
  }
  if (!established_ && channel_.established()) {
    counters_.add(IoCounter::kTlsHandshakes);
    established_ = news_ = true;
    who_ = channel_.peer();
  }
  return result.bytes;
}

std::size_t PeerSocket::read_tls(std::span<std::byte> room, ErrorCode& error) noexcept {
  const TlsResult result = channel_.read(room);
  waits_for_ = result.end == TlsEnd::kWaitWrite ? Stream::wait_write : Stream::wait_read;
  return told(result, error);
}

std::size_t PeerSocket::read_some(std::span<std::byte> room, ErrorCode& error) noexcept {
  if (secret_) return read_tls(room, error);
  return socket_.read_some(asio::buffer(room.data(), room.size()), error);
}

std::size_t PeerSocket::write_some(std::span<const std::byte> bytes, ErrorCode& error) noexcept {
  if (secret_) return told(channel_.write(bytes), error);
  return socket_.write_some(asio::buffer(bytes.data(), bytes.size()), error);
}

void PeerSocket::shutdown_send() noexcept {
  channel_.say_goodbye();
  secret_ = false;
  ErrorCode ignored;
  socket_.shutdown(Stream::shutdown_send, ignored);
}

}  // namespace windhover
