#include "windhover/io/address.h"

#include <charconv>

namespace windhover {

bool parse_address(std::string_view text, Address& address) {
  if (text.starts_with("unix:")) {
    text.remove_prefix(5);
    if (text.empty()) return false;
    address = {"", 0, std::string(text), false};
    return true;
  }
  const bool tls = text.starts_with("tls://");
  if (tls) {
    text.remove_prefix(6);
  } else if (text.starts_with("tcp:")) {
    text.remove_prefix(4);
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  const bool bracketed = host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  // Without brackets a port could be the last group of an IPv6 address.
  if (host.empty() || (!bracketed && host.find(':') != std::string_view::npos)) return false;
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size() || port == 0) return false;
  address = {std::string(host), port, "", tls};
  return true;
}

}  // namespace windhover
