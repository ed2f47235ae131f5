#include "windhover/tools/daemon/notifier.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <thread>

namespace windhover {
namespace {

// A second in all.
constexpr int kTries = 100;
constexpr std::chrono::milliseconds kBetweenTries{10};

// The number in an environment variable; 0 where there is none.
std::int64_t number_in_variable(const char* name) noexcept {
  const char* text = std::getenv(name);
  std::int64_t number = 0;
  if (text != nullptr) std::from_chars(text, text + std::string_view(text).size(), number);
  return std::max<std::int64_t>(number, 0);
}

}  // namespace

Notifier::Notifier() noexcept {
  const char* variable = std::getenv("NOTIFY_SOCKET");
  const std::string_view path = variable != nullptr ? variable : "";
  const bool known = path.starts_with('/') || path.starts_with('@');
  if (!known || path.size() >= sizeof address_.sun_path) return;
  address_.sun_family = AF_UNIX;
  std::ranges::copy(path, address_.sun_path);
  if (path.starts_with('@')) address_.sun_path[0] = '\0';  // an abstract address
  address_bytes_ = static_cast<unsigned>(offsetof(sockaddr_un, sun_path) + path.size());
  socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const std::int64_t meant = number_in_variable("WATCHDOG_PID");
  if (meant != 0 && meant != ::getpid()) return;
  watchdog_ = std::chrono::microseconds(number_in_variable("WATCHDOG_USEC"));
}

Notifier::~Notifier() {
  if (socket_ >= 0) ::close(socket_);
}

// False: not sent, which is no reason to stop serving.
bool Notifier::say(std::string_view state, bool matters) noexcept {
  if (socket_ < 0) return true;
  for (int tries = matters ? kTries : 1; tries > 0; --tries) {
    const ssize_t sent = ::sendto(socket_, state.data(), state.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                                  reinterpret_cast<const sockaddr*>(&address_), address_bytes_);
    if (sent >= 0) return true;
    if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS) return false;
    if (tries > 1) std::this_thread::sleep_for(kBetweenTries);
  }
  return false;
}

void Notifier::ready() noexcept { say("READY=1", true); }
void Notifier::stopping() noexcept { say("STOPPING=1", true); }
void Notifier::alive() noexcept {
  if (watchdog_.count() > 0) say("WATCHDOG=1", false);
}

void Notifier::reloading(std::int64_t now_ns) noexcept {
  std::array<char, 64> state;
  const auto end =
      fmt::format_to_n(state.data(), state.size(), "RELOADING=1\nMONOTONIC_USEC={}", now_ns / 1000);
  say({state.data(), end.size}, true);
}

void Notifier::status(std::string_view text) noexcept {
  decltype(status_) state{};
  const auto end = fmt::format_to_n(state.data(), state.size(), "STATUS={}", text);
  if (state == status_) return;
  if (say({state.data(), std::min(end.size, state.size())}, false)) status_ = state;
}

}  // namespace windhover
