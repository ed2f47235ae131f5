// What a host says when it serves an engine over sockets. Everything has a default.
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

// Models that may be added while the server serves, beside those it is created with. Off without
// memory.
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

  // Who may do what (access/identity_file.h); empty: whoever comes may do everything. Copied.
  std::string_view identities_file;
  std::uint32_t max_identities = 256;  // lines of it, 1 to 65536
  // Without a file addresses that are not loopback are refused, unless this is said: then whoever
  // reaches the server may do everything.
  bool serve_anyone = false;
  // The observe endpoint then refuses questions (REASON_UNSUPPORTED) but for Status and
  // ProducerStatus: these are for the query endpoint, and rows wait for none.
  bool observe_rows_only = false;

  std::uint32_t max_sessions = 64;       // connections at one time, on each endpoint
  std::uint32_t max_producers = 65'536;  // told apart; only passing ones are ever forgotten
  std::uint32_t max_producers_per_connection = 16;  // that it may speak for at one time; 1 to 64
  std::uint32_t frame_cap = 64 * 1024;  // bytes of one request; must hold the largest row

  // What a connection may take before it is closed, looked at every quarter of the shortest of
  // these (10 ms to 1 s).
  std::chrono::milliseconds hello_timeout{5'000};    // from connecting to a whole Hello
  std::chrono::milliseconds frame_timeout{10'000};   // from a frame's first byte to its last
  std::chrono::milliseconds idle_timeout{60'000};    // without a byte from the peer
  std::chrono::milliseconds write_timeout{10'000};   // with an answer waiting and no byte taken
  std::chrono::milliseconds answer_timeout{30'000};  // until every byte of an answer is taken
  // How long rows wait for a window that stays full, or for a log that does not go on: then they
  // are refused, and have not been acknowledged.
  std::chrono::milliseconds wait_timeout{600'000};
  std::chrono::milliseconds drain_timeout{2'000};  // how long stopping may take
  // How long a producer may send no row before another connection may speak for it.
  std::chrono::milliseconds producer_timeout{60'000};

  // With a certificate all TCP speaks TLS, HTTP too. OpenSSL's memory is the heap of the process
  // unless the host gives it a block: install_tls_memory(tls_memory_bytes(config), ...), first
  // thing.
  TlsConfig tls;

  AddedModelsConfig added;

  ConnectionLimits limits;  // off; of each connection to the two endpoints

  HttpConfig http;  // off unless it is said where to listen

  // What is kept on disk; EngineConfig::checkpoints and, with a log, a follower are needed for it.
  DurableConfig durable;

  // The name of this life of the history (Welcome.instance_id); 0: that of the log, or a random
  // one.
  std::uint64_t instance_id = 0;
};

// How many of the engine's max_readers the server takes: kServerReaders, and with HTTP kHttpReaders
// more; on each endpoint one for questions and one for long ones. It takes kServerWatchers and
// kHttpWatchers of max_watchers, or of max_readers where there are no more: one to page through
// draws, on the query endpoint PagingTable::kMost.
inline constexpr std::uint32_t kServerReaders = 4;
inline constexpr std::uint32_t kServerWatchers = 5;
inline std::uint32_t readers_of(const ServerConfig& config) noexcept {
  return kServerReaders + (config.http.enabled() ? kHttpReaders : 0);
}
inline std::uint32_t watchers_of(const ServerConfig& config) noexcept {
  return kServerWatchers + (config.http.enabled() ? kHttpWatchers : 0);
}

// Identities that have a share of a model's producers: those of the file and the server's own user,
// and as many again whose tokens have been changed.
inline std::size_t owners_of(const ServerConfig& config) noexcept {
  return config.identities_file.empty() ? 0 : 2 * (std::size_t{config.max_identities} + 1);
}

// For OpenSSL, with as many connections as there can be; 0 without TLS.
std::size_t tls_memory_bytes(const ServerConfig& config) noexcept;

// Judges the server's part, given an engine configuration that check(engine) accepts. Complexity
// O(1) but for the addresses. kOk, or a sentence naming the first field that is wrong, and its
// number.
Result<bool> check(const ServerConfig& config, const EngineConfig& engine) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_SERVER_CONFIG_H_
