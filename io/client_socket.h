// A connected socket with timeouts, for the client library. It uses POSIX directly, because poll()
// blocks with a timeout.
#ifndef WINDHOVER_IO_CLIENT_SOCKET_H_
#define WINDHOVER_IO_CLIENT_SOCKET_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "windhover/io/address.h"
#include "windhover/io/tls/client_tls.h"
#include "windhover/platform/status.h"

namespace windhover {

class ClientSocket {
 public:
  ClientSocket() = default;
  ~ClientSocket() { close(); }
  ClientSocket(const ClientSocket&) = delete;
  ClientSocket& operator=(const ClientSocket&) = delete;

  // kUnavailable: nobody listens there; kTimeout; kInvalidArgument: no such host, too long a path,
  // or a TLS file that cannot be used; kNotPermitted: no right to the socket, or a bad certificate
  // of the server; kClosed: it ended the TLS handshake; kIoError. `why` then says so in words.
  Status connect(const Address& address, std::chrono::milliseconds timeout, std::string& why,
                 const ClientTlsOptions& tls = {});
  void close() noexcept;
  bool is_open() const noexcept { return descriptor_ >= 0; }

  // One send or receive, without waiting. 0 bytes and kOk: it would have to wait. kClosed: the peer
  // is gone.
  Status send_some(const char* data, std::size_t size, std::size_t& sent) noexcept;
  Status receive_some(char* data, std::size_t size, std::size_t& received) noexcept;

  // Waits until there is something to receive or, if `to_send`, room to send. kTimeout, kClosed
  // (not open) or kIoError.
  Status wait(bool to_send, std::chrono::milliseconds timeout) noexcept;

 private:
  Status connect_one(int family, const void* address, unsigned size,
                     std::chrono::milliseconds timeout);

  Status shake_hands(const Address& address, std::chrono::milliseconds timeout,
                     const ClientTlsOptions& options, std::string& why);

  int descriptor_ = -1;
  std::unique_ptr<ClientTls> tls_;  // null: in the clear
};

}  // namespace windhover

#endif  // WINDHOVER_IO_CLIENT_SOCKET_H_
