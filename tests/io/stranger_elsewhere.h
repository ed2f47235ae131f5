// Connects from another address of this machine, and says nothing.
#ifndef WINDHOVER_TESTS_IO_STRANGER_ELSEWHERE_H_
#define WINDHOVER_TESTS_IO_STRANGER_ELSEWHERE_H_

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

namespace windhover::testing {

// A peer with an address from 127.0.0.2 on; `which`: 0 is that one.
class StrangerElsewhere {
 public:
  explicit StrangerElsewhere(std::uint16_t port, std::uint32_t which = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + which);
    sockaddr_in server = own;
    server.sin_port = htons(port);
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::bind(socket_, reinterpret_cast<sockaddr*>(&own), sizeof own) == 0 &&
                 ::connect(socket_, reinterpret_cast<sockaddr*>(&server), sizeof server) == 0;
  }
  ~StrangerElsewhere() { ::close(socket_); }
  StrangerElsewhere(const StrangerElsewhere&) = delete;
  StrangerElsewhere& operator=(const StrangerElsewhere&) = delete;
  bool connected() const { return connected_; }

 private:
  int socket_;
  bool connected_ = false;
};

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_STRANGER_ELSEWHERE_H_
