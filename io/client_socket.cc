#include "windhover/io/client_socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace windhover {

Status ClientSocket::connect_one(int family, const void* address, unsigned size,
                                 std::chrono::milliseconds timeout) {
  close();
  descriptor_ = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor_ < 0) return Status::kIoError;
  if (::connect(descriptor_, static_cast<const sockaddr*>(address), size) != 0) {
    if (errno != EINPROGRESS && errno != EINTR) {
      return errno == EACCES || errno == EPERM ? Status::kNotPermitted : Status::kUnavailable;
    }
    pollfd ready{descriptor_, POLLOUT, 0};
    const int events = ::poll(&ready, 1, static_cast<int>(timeout.count()));
    if (events <= 0) return Status::kTimeout;
    int error = 0;
    socklen_t length = sizeof error;
    ::getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &error, &length);
    errno = error;
    if (error != 0) return Status::kUnavailable;
  }
  if (family != AF_UNIX) {
    const int on = 1;
    ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  return Status::kOk;
}

Status ClientSocket::shake_hands(const Address& address, std::chrono::milliseconds timeout,
                                 const ClientTlsOptions& options, std::string& why) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  auto tls = std::make_unique<ClientTls>();
  Status status = tls->begin(descriptor_, options, address.host, why);
  if (ok(status)) status = tls->handshake(why);
  while (status == Status::kNotReady) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    pollfd ready{descriptor_, static_cast<short>(tls->wait_for_room() ? POLLOUT : POLLIN), 0};
    if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) == 0) {
      why = "no answer to the TLS handshake";
      return Status::kTimeout;
    }
    status = tls->handshake(why);
  }
  if (ok(status)) tls_ = std::move(tls);
  return status;
}

Status ClientSocket::connect(const Address& address, std::chrono::milliseconds timeout,
                             std::string& why, const ClientTlsOptions& tls) {
  Status status = Status::kUnavailable;
  if (!address.unix_path.empty()) {
    sockaddr_un local{};
    local.sun_family = AF_UNIX;
    if (address.unix_path.size() >= sizeof local.sun_path) {
      why = "the path of a Unix-domain socket must be shorter than 108 bytes";
      return Status::kInvalidArgument;
    }
    std::memcpy(local.sun_path, address.unix_path.data(), address.unix_path.size());
    status = connect_one(AF_UNIX, &local, sizeof local, timeout);
  } else {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const std::string port = std::to_string(address.port);
    if (const int error = ::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
        error != 0) {
      why = address.host + ": " + ::gai_strerror(error);
      return Status::kInvalidArgument;
    }
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> list(found, ::freeaddrinfo);
    for (const addrinfo* one = found; one != nullptr && !ok(status); one = one->ai_next) {
      status = connect_one(one->ai_family, one->ai_addr, one->ai_addrlen, timeout);
    }
  }
  if (!ok(status)) {
    why = status == Status::kTimeout ? "no answer" : std::generic_category().message(errno);
    close();
  } else if (address.unix_path.empty() && (address.tls || tls.on)) {
    status = shake_hands(address, timeout, tls, why);
    if (!ok(status)) close();
  }
  return status;
}

void ClientSocket::close() noexcept {
  if (tls_ != nullptr) tls_->say_goodbye();
  tls_.reset();
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

Status ClientSocket::send_some(const char* data, std::size_t size, std::size_t& sent) noexcept {
  sent = 0;
  if (!is_open()) return Status::kClosed;
  if (tls_ != nullptr) return tls_->send_some(data, size, sent);
  const ssize_t n = ::send(descriptor_, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n >= 0) {
    sent = static_cast<std::size_t>(n);
    return Status::kOk;
  }
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return Status::kOk;
  return errno == EPIPE || errno == ECONNRESET ? Status::kClosed : Status::kIoError;
}

Status ClientSocket::receive_some(char* data, std::size_t size, std::size_t& received) noexcept {
  received = 0;
  if (!is_open()) return Status::kClosed;
  if (tls_ != nullptr) return tls_->receive_some(data, size, received);
  const ssize_t n = ::recv(descriptor_, data, size, MSG_DONTWAIT);
  if (n > 0) {
    received = static_cast<std::size_t>(n);
    return Status::kOk;
  }
  if (n == 0) return Status::kClosed;
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return Status::kOk;
  return errno == ECONNRESET ? Status::kClosed : Status::kIoError;
}

Status ClientSocket::wait(bool to_send, std::chrono::milliseconds timeout) noexcept {
  if (!is_open()) return Status::kClosed;
  if (tls_ != nullptr && tls_->has_pending()) return Status::kOk;
  pollfd ready{descriptor_, static_cast<short>(to_send ? POLLIN | POLLOUT : POLLIN), 0};
  const int events = ::poll(&ready, 1, static_cast<int>(timeout.count()));
  if (events == 0) return Status::kTimeout;
  return events > 0 || errno == EINTR ? Status::kOk : Status::kIoError;
}

}  // namespace windhover
