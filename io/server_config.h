// The configuration of a server. Everything has a default.
#ifndef WINDHOVER_IO_SERVER_CONFIG_H_
#define WINDHOVER_IO_SERVER_CONFIG_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "windhover/io/connection_limits.h"
#include "windhover/io/durable/durable_config.h"
#include "windhover/io/http/http_config.h"
#include "windhover/io/listen_config.h"
#include "windhover/io/tls/tls_config.h"
#include "windhover/platform/result.h"
#include "windhover/runtime/config.h"

namespace windhover {

inline constexpr std::size_t kMaxModels = 4096;  // that one server may have

// Models that may be added while the server serves, beside those that it is created with. Off
// without memory.
struct AddedModelsConfig {
  std::uint64_t memory_bytes = 0;  // for all of them together: engines, producers, logs
  std::uint32_t max_models = 16;
  // Parameters of the largest model that may be added: sessions and scratch have the size for it
  // from the start. 0: as many as the largest model that the server is created with.
  std::uint32_t max_parameters = 0;

  bool enabled() const noexcept { return memory_bytes > 0; }
};

// What max_producers may be.
inline constexpr std::uint32_t kMostProducers = 1U << 24;

struct ServerConfig {
  ListenConfig observe;
  ListenConfig query;

  // Who may do what (access/identity_file.h); empty: every client may do everything. Copied.
  std::string_view identities_file;
  std::uint32_t max_identities = 256;  // lines of it, 1 to 65536
  // Without a file addresses other than loopback are refused, unless this is true: then whoever
  // reaches the server may do everything.
  bool serve_anyone = false;
  // True: the observe endpoint refuses questions (REASON_UNSUPPORTED) other than Status and
  // ProducerStatus, so that rows never wait for them.
  bool observe_rows_only = false;

  std::uint32_t max_sessions = 64;       // connections at one time, on each endpoint
  std::uint32_t max_producers = 65'536;  // told apart; only passing ones are ever forgotten
  std::uint32_t max_producers_per_connection = 16;  // 1 to 64, spoken for at one time
  std::uint32_t frame_cap = 64 * 1024;  // bytes of one request; must hold the largest row

  // How long a connection may take before it is closed. They are looked at every quarter of the
  // shortest (10 ms to 1 s).
  std::chrono::milliseconds hello_timeout{5'000};    // from connecting to a whole Hello
  std::chrono::milliseconds frame_timeout{10'000};   // from a frame's first byte to its last
  std::chrono::milliseconds idle_timeout{60'000};    // without a byte from the peer
  std::chrono::milliseconds write_timeout{10'000};   // with an answer waiting and no byte taken
  std::chrono::milliseconds answer_timeout{30'000};  // until every byte of an answer is taken
  // How long rows wait for a window that stays full, or for a log that does not go on. Then the
  // connection is refused and closed; its last rows are not acknowledged.
  std::chrono::milliseconds wait_timeout{600'000};
  std::chrono::milliseconds drain_timeout{2'000};  // how long connections may take to end at stop
  // How long a producer may send no row before another connection may speak for it.
  std::chrono::milliseconds producer_timeout{60'000};

  // With a certificate all TCP speaks TLS, HTTP too. OpenSSL's memory is the heap of the process,
  // unless the host calls install_tls_memory(tls_memory_bytes(config), ...) before anything else.
  TlsConfig tls;

  AddedModelsConfig added;

  ConnectionLimits limits;  // off; for each connection to the two endpoints

  HttpConfig http;  // off without an address

  // What is kept on disk; EngineConfig::checkpoints and, with a log, a follower are needed for it.
  DurableConfig durable;

  // Welcome.instance_id; 0: a random one. With a folder its own counts in place of either.
  std::uint64_t instance_id = 0;
};

// How many of each engine's max_readers the server takes: kServerReaders, on each endpoint one for
// questions and one for long ones, and with HTTP kHttpReaders more. Of max_watchers, or of
// max_readers where these are used up, it takes kServerWatchers to page through draws: one on the
// observe endpoint and PagingTable::kMost on the query endpoint; and with HTTP kHttpWatchers more.
inline constexpr std::uint32_t kServerReaders = 4;
inline constexpr std::uint32_t kServerWatchers = 5;
inline std::uint32_t readers_of(const ServerConfig& config) noexcept {
  return kServerReaders + (config.http.enabled() ? kHttpReaders : 0);
}
inline std::uint32_t watchers_of(const ServerConfig& config) noexcept {
  return kServerWatchers + (config.http.enabled() ? kHttpWatchers : 0);
}

// How many identities may have a share of a model's producers: those of the file, the server's own
// user, and as many again for tokens that have been changed.
inline std::size_t owners_of(const ServerConfig& config) noexcept {
  return config.identities_file.empty() ? 0 : 2 * (std::size_t{config.max_identities} + 1);
}

// Bytes of OpenSSL's block with as many connections as there can be, or TlsConfig::memory_bytes if
// it is given; 0 without TLS.
std::size_t tls_memory_bytes(const ServerConfig& config) noexcept;

// Checks the server's configuration, given an engine configuration that check(engine) accepts. An
// error's sentence names the first wrong field; its number is the field's value, a limit, or NaN.
Result<bool> check(const ServerConfig& config, const EngineConfig& engine) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_SERVER_CONFIG_H_
