#ifndef WINDHOVER_IO_LISTEN_CONFIG_H_
#define WINDHOVER_IO_LISTEN_CONFIG_H_

#include <cstdint>
#include <string_view>

namespace windhover {

// Where one endpoint listens: TCP, a Unix-domain socket, or both. The strings are copied.
struct ListenConfig {
  std::string_view tcp_address = "127.0.0.1";  // a numeric address; empty: no TCP
  std::uint16_t tcp_port = 0;                  // 0: any free one, see ServedEndpoint::port
  // Path of the Unix-domain socket; empty: none. Its mode is 0600, or 0666 where identities say who
  // may come. A stale one is replaced; it is removed at stop.
  std::string_view unix_path;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_LISTEN_CONFIG_H_
