#include "windhover/tools/bench/loopback.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "windhover/io/framing.h"
#include "windhover/tools/error.h"

namespace windhover {

namespace {

int connect_to_path(const std::string& path) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool fits = path.size() < sizeof(to.sun_path);
  if (fits) std::copy_n(path.data(), path.size(), to.sun_path);
  if (!fits || ::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) {
    ::close(socket);
    throw RunError("no connection to " + path);
  }
  return socket;
}

}  // namespace

int connect_to(const std::string& address) {
  constexpr std::string_view kUnix = "unix:";
  if (address.starts_with(kUnix)) return connect_to_path(address.substr(kUnix.size()));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port =
      htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  (void)::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) {
    ::close(socket);
    throw RunError("no connection to " + address);
  }
  return socket;
}

std::string framed(const v1::Request& request) {
  std::string bytes;
  append_frame(request, bytes);
  return bytes;
}

std::string hello_frame() {
  v1::Request hello;
  hello.mutable_hello()->set_version_min(1);
  hello.mutable_hello()->set_version_max(1);
  return framed(hello);
}

bool receive_response(int socket, v1::Response& response) {
  std::string bytes;
  for (;;) {
    std::array<char, 4096> chunk;
    const ssize_t n = ::recv(socket, chunk.data(), chunk.size(), 0);
    if (n <= 0) return false;
    bytes.append(chunk.data(), static_cast<std::size_t>(n));
    const FrameScan scan = scan_frame(std::as_bytes(std::span(bytes)), UINT32_MAX);
    if (scan.kind == FrameScan::kNeedMore) continue;
    return scan.kind == FrameScan::kFrame &&
           response.ParseFromArray(scan.frame.data(), static_cast<int>(scan.frame.size()));
  }
}

int listen_on_loopback(std::string& address) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* generic = reinterpret_cast<sockaddr*>(&at);
  socklen_t size = sizeof(at);
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::bind(listener, generic, size) == 0 && ::listen(listener, 1) == 0 &&
      ::getsockname(listener, generic, &size) == 0) {
    address = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
    return listener;
  }
  ::close(listener);
  throw RunError("no socket to listen on");
}

bool write_all(int socket, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::send(socket, data, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EAGAIN) {
      pollfd room{socket, POLLOUT, 0};
      (void)::poll(&room, 1, 100);
      continue;
    }
    if (n <= 0) return false;
    data += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

int connect_and_greet(const std::string& address) {
  const int socket = connect_to(address);
  const std::string hello = hello_frame();
  v1::Response response;
  if (!write_all(socket, hello.data(), hello.size()) || !receive_response(socket, response) ||
      !response.has_welcome()) {
    ::close(socket);
    throw RunError("the server did not welcome us at " + address);
  }
  return socket;
}

}  // namespace windhover
