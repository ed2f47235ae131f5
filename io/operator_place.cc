#include "windhover/io/operator_place.h"

#include <netinet/in.h>
#include <sys/socket.h>

namespace windhover {

bool is_local(Stream& socket) noexcept {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  auto* const address = reinterpret_cast<sockaddr*>(&peer);
  if (::getpeername(socket.native_handle(), address, &size) != 0) return false;
  if (peer.ss_family == AF_UNIX) return true;
  constexpr std::uint32_t kLoopbackNet = 127;
  if (peer.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(peer);
    return ntohl(v4.sin_addr.s_addr) >> 24 == kLoopbackNet;
  }
  if (peer.ss_family != AF_INET6) return false;
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == kLoopbackNet);
}

}  // namespace windhover
