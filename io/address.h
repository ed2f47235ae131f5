// The address of a server, as text.
#ifndef WINDHOVER_IO_ADDRESS_H_
#define WINDHOVER_IO_ADDRESS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace windhover {

// "host:port", "tcp:host:port", "[v6]:port", "tcp:[v6]:port", "tls://host:port" or "unix:/path".
struct Address {
  std::string host;  // empty for a Unix-domain socket
  std::uint16_t port = 0;
  std::string unix_path;
  bool tls = false;
};

// False when the text is none of these; `address` is then unchanged.
bool parse_address(std::string_view text, Address& address);

}  // namespace windhover

#endif  // WINDHOVER_IO_ADDRESS_H_
