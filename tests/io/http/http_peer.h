// Talks HTTP as a test needs it: whatever bytes it likes out, answers taken apart.
#ifndef WINDHOVER_TESTS_IO_HTTP_HTTP_PEER_H_
#define WINDHOVER_TESTS_IO_HTTP_HTTP_PEER_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

#include "windhover/io/address.h"
#include "windhover/io/client_socket.h"

namespace windhover::testing {

struct HttpResponse {
  int status = 0;  // 0: the connection ended, or nothing came for a long time
  std::string head;
  std::string body;

  // The value of a field, named as the server writes it; empty: not there.
  std::string field(const std::string& name) const {
    const std::size_t found = head.find("\r\n" + name + ": ");
    if (found == std::string::npos) return "";
    const std::size_t begin = found + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
};

// Takes the first answer out of `bytes`; false: it is not whole.
inline bool take_response(std::string& bytes, HttpResponse& response, bool with_body = true) {
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  response.head = bytes.substr(0, end + 2);
  response.status = response.head.starts_with("HTTP/1.") ? std::atoi(bytes.c_str() + 9) : 0;
  const std::string length = response.field("Content-Length");
  const std::size_t size =
      with_body ? static_cast<std::size_t>(std::strtoull(length.c_str(), nullptr, 10)) : 0;
  if (bytes.size() < end + 4 + size) return false;
  response.body = bytes.substr(end + 4, size);
  bytes.erase(0, end + 4 + size);
  return true;
}

class HttpPeer {
 public:
  explicit HttpPeer(const std::string& address, const ClientTlsOptions& tls = {}) {
    Address parsed;
    std::string why;
    connected_ = parse_address(address, parsed) &&
                 ok(socket_.connect(parsed, std::chrono::seconds(30), why, tls));
  }
  bool connected() const { return connected_; }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      std::size_t sent = 0;
      if (!ok(socket_.send_some(bytes.data(), bytes.size(), sent))) return false;
      bytes.remove_prefix(sent);
      if (sent == 0 && !ok(socket_.wait(true, kPatience))) return false;
    }
    return true;
  }

  HttpResponse receive(bool with_body = true) {
    HttpResponse response;
    while (!take_response(in_, response, with_body)) {
      if (!receive_some()) return {};
    }
    return response;
  }

  HttpResponse ask(const std::string& method, const std::string& path,
                   const std::string& fields = "", const std::string& body = "") {
    std::string request = method + " " + path + " HTTP/1.1\r\nHost: test\r\n" + fields;
    if (!body.empty()) request += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    if (!send(request + "\r\n" + body)) return {};
    return receive(method != "HEAD");
  }
  HttpResponse get(const std::string& path, const std::string& fields = "") {
    return ask("GET", path, fields);
  }

  // All that comes until the server ends the connection.
  std::string rest() {
    while (receive_some()) continue;
    return ended_ ? in_ : std::string();
  }

  // Whether the server ends the connection, whatever it sends before.
  bool ends() {
    while (receive_some()) continue;
    return ended_;
  }

 private:
  static constexpr std::chrono::seconds kPatience{60};

  // False at the end.
  bool receive_some() {
    std::array<char, 65536> some;
    std::size_t received = 0;
    if (!ok(socket_.wait(false, kPatience))) return false;
    if (!ok(socket_.receive_some(some.data(), some.size(), received))) {
      ended_ = true;
      return false;
    }
    in_.append(some.data(), received);
    return true;
  }

  ClientSocket socket_;
  bool connected_ = false;
  bool ended_ = false;
  std::string in_;
};

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_HTTP_HTTP_PEER_H_
