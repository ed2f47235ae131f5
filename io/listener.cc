#include "windhover/io/listener.h"

#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/ip/address.hpp>

namespace windhover {
namespace {

constexpr auto kPause = std::chrono::milliseconds(100);  // after an error
// The pause while more connect than may: a few are then accepted in one go.
constexpr auto kAcceptAgain = std::chrono::milliseconds(5);

std::int64_t now_ns() noexcept {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Whether the path is a socket that a process has left behind.
bool is_stale(const char* path, const sockaddr_un& address) noexcept {
  struct stat file {};
  if (::lstat(path, &file) != 0 || !S_ISSOCK(file.st_mode)) return false;
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return false;
  const bool refused =
      ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
      errno == ECONNREFUSED;
  ::close(probe);
  return refused;
}

}  // namespace

Listener::Listener(IoContext& io, ConnectionSink& sink, Counters<IoCounter>& counters)
    : sink_(sink), counters_(counters), acceptor_(io), incoming_(io), pause_(io) {
  accept_memory_.count_in(counters);
  pause_memory_.count_in(counters);
}

Listener::~Listener() { close(); }

Error Listener::failed(const std::string& place, const char* what, int error) {
  failure_ = place + what;
  const Status status = error == EACCES || error == EPERM ? Status::kNotPermitted
                        : error == EADDRINUSE             ? Status::kUnavailable
                                                          : Status::kIoError;
  return {status, failure_.c_str(), static_cast<double>(error), true};
}

Result<bool> Listener::open_tcp(const char* name, std::string_view address, std::uint16_t port) {
  const std::string place = std::string(name) + ".tcp_address " + std::string(address) +
                            " with tcp_port " + std::to_string(port);
  ErrorCode error;
  const auto ip = asio::ip::make_address(asio::string_view(address.data(), address.size()), error);
  if (error) return Error{Status::kInvalidConfig, "tcp_address must be a numeric address", 0};
  const asio::ip::tcp::endpoint endpoint(ip, port);
  acceptor_.open(endpoint.protocol(), error);
  if (error) return failed(place, " gets no socket", error.value());
  acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  // Before listen(): connections take it over, and tell their peers a window that goes with it.
  acceptor_.set_option(asio::socket_base::receive_buffer_size(kReceiveBytes), error);
  acceptor_.bind(endpoint, error);
  if (error) return failed(place, " cannot be bound", error.value());
  acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) return failed(place, " cannot be listened on", error.value());
  const auto bound = acceptor_.local_endpoint(error);
  asio::ip::tcp::endpoint local;
  std::memcpy(local.data(), bound.data(), bound.size());
  port_ = local.port();
  return true;
}

Result<bool> Listener::open_unix(const char* name, std::string_view path, bool for_others) {
  const std::string place = std::string(name) + ".unix_path " + std::string(path);
  unix_path_ = path;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());  // check() has seen that it fits
  if (is_stale(unix_path_.c_str(), address)) ::unlink(unix_path_.c_str());

  ErrorCode error;
  acceptor_.open(asio::local::stream_protocol(), error);
  if (error) return failed(place, " gets no socket", error.value());
  acceptor_.bind(asio::local::stream_protocol::endpoint(unix_path_), error);
  if (error) return failed(place, " cannot be bound", error.value());
  // Nobody can connect before listen(), so the mode is right for the first who does.
  const mode_t mode = for_others ? 0666 : 0600;
  if (::chmod(unix_path_.c_str(), mode) != 0 || ::lstat(unix_path_.c_str(), &unix_file_) != 0) {
    const int why = errno;
    ::unlink(unix_path_.c_str());  // nobody has another way to it yet
    return failed(place, " cannot be given its mode", why);
  }
  acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) return failed(place, " cannot be listened on", error.value());
  return true;
}

Result<bool> Listener::open_inner(std::string& path) {
  ErrorCode error;
  acceptor_.open(asio::local::stream_protocol(), error);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socklen_t size = sizeof(sa_family_t);
  const auto* const unnamed = reinterpret_cast<const sockaddr*>(&address);
  if (error || ::bind(acceptor_.native_handle(), unnamed, size) != 0) {
    return failed("the inner socket", " cannot be bound", error ? error.value() : errno);
  }
  acceptor_.listen(asio::socket_base::max_listen_connections, error);
  size = sizeof address;
  auto* const named = reinterpret_cast<sockaddr*>(&address);
  if (error || ::getsockname(acceptor_.native_handle(), named, &size) != 0) {
    return failed("the inner socket", " cannot be listened on", error ? error.value() : errno);
  }
  path.assign(address.sun_path, size - sizeof(sa_family_t));
  return true;
}

void Listener::warm_up() {
  expire_after(pause_, std::chrono::hours(1));
  pause_.async_wait(with_memory(pause_memory_, [](const ErrorCode&) {}));
}

void Listener::cool_down() noexcept { cancel(pause_); }

void Listener::start() noexcept {
  if (!is_open()) return;
  ErrorCode ignored;
  acceptor_.non_blocking(true, ignored);
  accept();
}

void Listener::accept() noexcept {
  acceptor_.async_accept(
      incoming_, with_memory(accept_memory_, [this](const ErrorCode& error) { on_accept(error); }));
}

void Listener::on_accept(const ErrorCode& error) noexcept {
  if (!is_open()) return;
  if (error) return on_error(error);
  bucket_.take(1, kMostPerSecond, now_ns());
  take();
}

void Listener::on_error(const ErrorCode& error) noexcept {
  counters_.add(IoCounter::kAcceptErrors);
  // The peer has gone away meanwhile, so there is nothing to wait for.
  if (error == asio::error::connection_aborted) return accept();
  pause(kPause);
}

// Offers incoming_, and accepts those that have come since.
void Listener::take() noexcept {
  if (offer()) accept_more();
}

// Offers incoming_ to the sink. False: it waits for a place.
bool Listener::offer() noexcept {
  waits_ = !sink_.on_connection(incoming_);
  if (waits_) {
    pause(kPlaceAgain);
    return false;
  }
  ErrorCode ignored;
  incoming_.close(ignored);
  return true;
}

void Listener::accept_more() noexcept {
  for (int more = 0;; ++more) {
    if (bucket_.wait_ns(now_ns()) > 0) {
      counters_.add(IoCounter::kAcceptWaits);
      return pause(kAcceptAgain);
    }
    if (more == kAtOnce) return accept();
    ErrorCode error;
    acceptor_.accept(incoming_, error);
    if (error == asio::error::would_block) return accept();
    if (error) return on_error(error);
    bucket_.take(1, kMostPerSecond, now_ns());
    if (!offer()) return;
  }
}

void Listener::pause(std::chrono::nanoseconds how_long) noexcept {
  expire_after(pause_, how_long);
  pause_.async_wait(with_memory(pause_memory_, [this](const ErrorCode&) {
    if (!is_open()) return;
    if (waits_) return take();
    accept();
  }));
}

void Listener::close() noexcept {
  ErrorCode ignored;
  acceptor_.close(ignored);
  incoming_.close(ignored);
  waits_ = false;
  cancel(pause_);
  struct stat file {};
  if (!unix_path_.empty() && unix_file_.st_ino != 0 && ::lstat(unix_path_.c_str(), &file) == 0 &&
      file.st_ino == unix_file_.st_ino && file.st_dev == unix_file_.st_dev) {
    ::unlink(unix_path_.c_str());
  }
  unix_path_.clear();
}

}  // namespace windhover
