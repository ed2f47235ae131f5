#ifndef WINDHOVER_IO_TLS_TLS_CHANNEL_H_
#define WINDHOVER_IO_TLS_TLS_CHANNEL_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/io/access/credential.h"

struct ssl_st;

namespace windhover {

// What became of a read or a write.
enum class TlsEnd : std::uint8_t {
  kDone,       // some bytes
  kWaitRead,   // call again when the socket has more bytes
  kWaitWrite,  // call again when the socket has room
  kClosed,     // the peer has ended its side, or is gone
  kFailed,     // bytes that are no TLS as required here, or a bad certificate
};
struct TlsResult {
  TlsEnd end = TlsEnd::kFailed;
  std::size_t bytes = 0;
};

// One side of a TLS connection over a socket that does not block. One thread. It has no buffers of
// its own: bytes go from the socket to OpenSSL's record, and decrypted to the caller.
//
// A peer can send any number of messages that bring the application nothing: new keys (KeyUpdate,
// RFC 8446, 4.6.3), requests for another handshake. So each call reads at most kLookBytes from the
// socket, where each such message counts as kMessageBytes, and then returns kWaitRead. Once there
// were more than kMessages of them it reads kPieceBytes at a time, and after more than kMessages
// without a byte for the application in between the channel fails.
//
// Invariant: from begin() to end() one connection of OpenSSL alone reads and writes the socket;
// once it has failed nothing more goes through it.
class TlsChannel {
 public:
  TlsChannel() noexcept = default;
  ~TlsChannel() { end(); }
  TlsChannel(const TlsChannel&) = delete;
  TlsChannel& operator=(const TlsChannel&) = delete;

  static constexpr std::size_t kLookBytes = 64 * 1024;
  static constexpr std::size_t kMessageBytes = 8 * 1024;
  static constexpr std::size_t kPieceBytes = 512;
  static constexpr std::uint32_t kMessages = 32;  // a handshake has fewer than ten

  // Takes `connection` over; null, or false: no memory. The socket outlives end().
  bool begin(ssl_st* connection, int descriptor, bool server) noexcept;
  void end() noexcept;
  bool is_on() const noexcept { return connection_ != nullptr; }

  // read() and write() do the handshake first if it is not done; handshake() does it alone.
  TlsResult read(std::span<std::byte> room) noexcept;
  TlsResult write(std::span<const std::byte> bytes) noexcept;
  TlsResult handshake() noexcept;
  bool established() const noexcept;
  // Whether decrypted bytes wait for read(), so that the socket need not have any.
  bool has_pending() const noexcept;

  // Tells the peer that nothing more is sent (close_notify), if there is room for it.
  void say_goodbye() noexcept;

  // The identity by the name in the peer's certificate: the first DNS name among its alternative
  // names, or else its common name. kNone: it has shown no certificate, or none that is good.
  Credential peer() const noexcept;
  // Why the peer's certificate was refused; null: it was not.
  const char* refused_certificate() const noexcept;

 private:
  struct Calls;  // functions that OpenSSL calls
  void look() noexcept;
  TlsResult judge(int result, std::size_t bytes) noexcept;

  ssl_st* connection_ = nullptr;
  int descriptor_ = -1;
  std::size_t may_read_ = 0;  // bytes of the socket that this call may read
  std::uint64_t messages_ = 0;
  std::uint32_t in_a_row_ = 0;
  bool failed_ = false;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_TLS_TLS_CHANNEL_H_
