// The client's side of TLS, over a socket that does not block.
#ifndef WINDHOVER_IO_TLS_CLIENT_TLS_H_
#define WINDHOVER_IO_TLS_CLIENT_TLS_H_

#include <cstddef>
#include <memory>
#include <string>

#include "windhover/platform/status.h"

namespace windhover {

// A client's TLS options. Files are PEM.
struct ClientTlsOptions {
  bool on = false;          // also where the address does not say tls://
  std::string ca_file;      // authorities that vouch for the server; empty: the system's
  std::string server_name;  // the name that the certificate must have; empty: the address's host
  std::string certificate;  // the client's own, for a server that asks for one; empty: none
  std::string key;          // the key of that certificate
};

// The server's certificate and its name are always checked.
class ClientTls {
 public:
  ClientTls() noexcept;
  ~ClientTls();
  ClientTls(const ClientTls&) = delete;
  ClientTls& operator=(const ClientTls&) = delete;

  // `host`: the address's host. kInvalidArgument: a file cannot be used; kUnavailable: OpenSSL has
  // no memory. `why` says so.
  Status begin(int descriptor, const ClientTlsOptions& options, const std::string& host,
               std::string& why);

  // One step. kOk: it is done; kNotReady: wait_for_room() says what the socket must wait for;
  // kNotPermitted: the certificate is not good; kClosed: the server has ended it; kIoError: other
  // errors of TLS. `why` says so.
  Status handshake(std::string& why) noexcept;
  bool wait_for_room() const noexcept { return wait_for_room_; }

  // Like those of ClientSocket.
  Status send_some(const char* data, std::size_t size, std::size_t& sent) noexcept;
  Status receive_some(char* data, std::size_t size, std::size_t& received) noexcept;
  bool has_pending() const noexcept;
  void say_goodbye() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  bool wait_for_room_ = false;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_TLS_CLIENT_TLS_H_
