// The Asio types of the server, with the executor spelt out: the default executor is type-erased
// and costs a virtual call an operation. Only sources of this folder include this.
#ifndef WINDHOVER_IO_ASIO_TYPES_H_
#define WINDHOVER_IO_ASIO_TYPES_H_

#include <chrono>
#include <utility>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>

namespace windhover {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;
using IoContext = asio::io_context;
using Executor = IoContext::executor_type;
using StreamProtocol = asio::generic::stream_protocol;  // TCP and Unix-domain alike
using Stream = asio::basic_stream_socket<StreamProtocol, Executor>;
using Acceptor = asio::basic_socket_acceptor<StreamProtocol, Executor>;
using Descriptor = asio::posix::basic_stream_descriptor<Executor>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;

// Asio declares that these throw, but nothing about its timers can fail.
inline void expire_after(Timer& timer, std::chrono::nanoseconds after) noexcept {
  try {
    timer.expires_after(after);
  } catch (const boost::system::system_error&) {
    return;
  }
}
inline void cancel(Timer& timer) noexcept {
  try {
    timer.cancel();
  } catch (const boost::system::system_error&) {
    return;
  }
}

}  // namespace windhover

#endif  // WINDHOVER_IO_ASIO_TYPES_H_
