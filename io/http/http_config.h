#ifndef WINDHOVER_IO_HTTP_HTTP_CONFIG_H_
#define WINDHOVER_IO_HTTP_HTTP_CONFIG_H_

#include <chrono>
#include <cstdint>
#include <span>

#include "windhover/io/http/page_asset.h"
#include "windhover/io/listen_config.h"

namespace windhover {

// HTTP for monitoring, and for questions and rows in JSON (io/http/README.md). Off without an
// address. It takes kHttpReaders of each engine's max_readers, and kHttpWatchers of its
// max_watchers.
struct HttpConfig {
  ListenConfig listen{.tcp_address = {}, .tcp_port = 0, .unix_path = {}};

  std::uint32_t max_connections = 32;    // at one time, 1 to 1024; when all are in use: 503
  std::uint32_t header_cap = 8 * 1024;   // bytes of a request's head, 1 KiB to 64 KiB
  std::uint32_t body_cap = 1024 * 1024;  // bytes of its body, 1 KiB to 64 MiB
  // How long a request's head may take, from the connection or from the head's first byte.
  std::chrono::milliseconds header_timeout{5'000};
  // How long a request may take, from its first byte until it is answered; and again until its
  // answer is taken.
  std::chrono::milliseconds request_timeout{10'000};
  std::chrono::milliseconds idle_timeout{75'000};  // between two requests
  // How long a thread may make no progress before /healthz says so.
  std::chrono::milliseconds stall_timeout{30'000};

  // Files of a manual, each by its whole path, such as "/docs/index.html"; outlives the server.
  // Empty: "/docs" says that there is none.
  std::span<const PageAsset> manual = {};

  bool enabled() const noexcept { return !listen.tcp_address.empty() || !listen.unix_path.empty(); }
};

inline constexpr std::uint32_t kHttpReaders = 1;
inline constexpr std::uint32_t kHttpWatchers = 2;  // one pages through draws, one measures

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_HTTP_CONFIG_H_
