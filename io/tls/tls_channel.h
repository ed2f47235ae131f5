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
  kWaitRead,   // the socket has to have more, then again
  kWaitWrite,  // the socket has to have room, then again
  kClosed,     // the peer has said that nothing more comes, or is gone
  kFailed,     // this is no TLS as we speak it, or the certificate is not good
};
struct TlsResult {
  TlsEnd end = TlsEnd::kFailed;
  std::size_t bytes = 0;
};

// TLS over a socket that does not block; one side of one connection, by one thread. It has no
// buffers of its own: bytes go from the socket to OpenSSL's record, and decrypted to the caller.
//
// A peer may send messages that are none of the application's, as many as it likes: new keys
// (KeyUpdate, RFC 8446, 4.6.3), the wish for another handshake. Each call takes kLookBytes of the
// socket at most, a message counted as kMessageBytes, and what OpenSSL has read ahead; then it says
// kWaitRead. After kMessages of them that is kPieceBytes at a time, and after as many without a
// byte for the application between the channel has failed.
//
// Invariant: from begin() to end() there is one connection of OpenSSL's that reads and writes the
// socket and nothing else does; once it has failed nothing more goes through it.
class TlsChannel {
 public:
  TlsChannel() noexcept = default;
  ~TlsChannel() { end(); }
  TlsChannel(const TlsChannel&) = delete;
  TlsChannel& operator=(const TlsChannel&) = delete;

  static constexpr std::size_t kLookBytes = 64 * 1024;
  static constexpr std::size_t kMessageBytes = 8 * 1024;
  static constexpr std::size_t kPieceBytes = 512;
  static constexpr std::uint32_t kMessages = 32;  // a handshake has less than ten

  // `connection` is owned from here on; the socket outlives end(). False: no memory.
  bool begin(ssl_st* connection, int descriptor, bool server) noexcept;
  void end() noexcept;
  bool is_on() const noexcept { return connection_ != nullptr; }

  // The handshake is part of reading and writing, or by itself.
  TlsResult read(std::span<std::byte> room) noexcept;
  TlsResult write(std::span<const std::byte> bytes) noexcept;
  TlsResult handshake() noexcept;
  bool established() const noexcept;
  // Decrypted and not taken yet: the socket need not have anything.
  bool has_pending() const noexcept;

  // Says that nothing more is sent, if there is room for it.
  void say_goodbye() noexcept;

  // By the name in the peer's certificate: the first DNS name among its alternative names, or else
  // its common name. kNone: it has shown none.
  Credential peer() const noexcept;
  // Why the peer's certificate was not taken; null: for no such reason.
  const char* refused_certificate() const noexcept;

 private:
  struct Calls;  // OpenSSL's, of this
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
