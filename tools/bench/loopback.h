// Raw connections to a server on this machine.
#ifndef WINDHOVER_TOOLS_BENCH_LOOPBACK_H_
#define WINDHOVER_TOOLS_BENCH_LOOPBACK_H_

#include <cstddef>
#include <string>

#include "windhover/io/frame_channel.h"
#include "windhover/io/windhover.pb.h"

namespace windhover {

// The request as it goes over the wire, with its length in front.
std::string framed(const v1::Request& request);
std::string hello_frame();

// Receives the next answer, which must be the only one under way; false when the peer is gone or
// sends no answer. Blocking.
bool receive_response(int socket, v1::Response& response);

// A listening socket on a port that the system chooses, and its address, "127.0.0.1:port".
// RunError.
int listen_on_loopback(std::string& address);

// Connects to "127.0.0.1:port" or "unix:/path". Blocking, TCP_NODELAY. RunError when nobody
// listens.
int connect_to(const std::string& address);
// The same; then says Hello, and receives the answer. RunError also when the server does not
// welcome it.
int connect_and_greet(const std::string& address);

// Writes all bytes, waiting where it must; false when the peer is gone. Also for non-blocking
// sockets.
bool write_all(int socket, const char* data, std::size_t size);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_LOOPBACK_H_
