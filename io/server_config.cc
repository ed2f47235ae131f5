#include "windhover/io/server_config.h"

#include <algorithm>
#include <limits>

#include <sys/un.h>

#include "windhover/io/asio_types.h"
#include "windhover/io/codec.h"
#include "windhover/io/framing.h"
#include "windhover/io/producer_table.h"
#include "windhover/io/server_state.h"
#include "windhover/samplers/registry.h"

#include <boost/asio/ip/address.hpp>

namespace windhover {
namespace {

constexpr std::size_t kObserveOverhead = 128;  // tags, lengths, producer and sequence of a frame
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();  // an Error without one

std::size_t largest_row_bytes(const ModelConfig& model) noexcept {
  const std::size_t values = model.max_nonzeros > 0 ? model.max_nonzeros : model.features;
  const std::size_t sparse = model.max_nonzeros > 0 ? 4 * values + 4 : 0;
  return kObserveOverhead + 8 * values + 8 + sparse;
}

Result<bool> check_listen(const ListenConfig& listen, bool beyond_loopback) noexcept {
  if (listen.tcp_address.empty() && listen.unix_path.empty()) {
    return Error{Status::kInvalidConfig, "each endpoint needs a tcp_address or a unix_path",
                 kNoNumber};
  }
  if (listen.unix_path.size() >= sizeof(sockaddr_un::sun_path)) {
    return Error{Status::kInvalidConfig, "unix_path must be shorter than 108 bytes",
                 static_cast<double>(listen.unix_path.size())};
  }
  if (listen.tcp_address.empty()) return true;
  ErrorCode error;
  const auto address = asio::ip::make_address(
      asio::string_view(listen.tcp_address.data(), listen.tcp_address.size()), error);
  if (error) {
    return Error{Status::kInvalidConfig, "tcp_address must be a numeric IPv4 or IPv6 address",
                 kNoNumber};
  }
  if (!address.is_loopback() && !beyond_loopback) {
    return Error{Status::kNotPermitted,
                 "tcp_address is not loopback: an identities_file must say who may come, or "
                 "serve_anyone = true that everybody may do everything",
                 kNoNumber};
  }
  return true;
}

Result<bool> check_http(const HttpConfig& http, bool beyond_loopback) noexcept {
  if (!http.enabled()) {
    if (http.listen.tcp_port == 0) return true;
    return Error{Status::kInvalidConfig, "http.tcp_port needs an http.tcp_address, say 127.0.0.1",
                 static_cast<double>(http.listen.tcp_port)};
  }
  const Result<bool> possible = check_listen(http.listen, beyond_loopback);
  if (!possible.ok()) return possible.error();
  if (http.max_connections < 1 || http.max_connections > 1024) {
    return Error{Status::kInvalidConfig, "http.max_connections must be from 1 to 1024",
                 static_cast<double>(http.max_connections)};
  }
  if (http.header_cap < 1024 || http.header_cap > 64 * 1024) {
    return Error{Status::kInvalidConfig, "http.header_cap must be from 1024 to 65536 bytes",
                 static_cast<double>(http.header_cap)};
  }
  if (http.body_cap < 1024 || http.body_cap > 64 * 1024 * 1024) {
    return Error{Status::kInvalidConfig, "http.body_cap must be from 1024 to 67108864 bytes",
                 static_cast<double>(http.body_cap)};
  }
  for (const auto timeout :
       {http.header_timeout, http.request_timeout, http.idle_timeout, http.stall_timeout}) {
    if (timeout.count() < 1 || timeout > std::chrono::hours(24)) {
      return Error{Status::kInvalidConfig, "timeouts of http must be from 1 to 86400000 ms",
                   static_cast<double>(timeout.count())};
    }
  }
  return true;
}

Result<bool> check_identities(const ServerConfig& config) noexcept {
  if (config.max_identities < 1 || config.max_identities > 65'536) {
    return Error{Status::kInvalidConfig, "max_identities must be from 1 to 65536",
                 static_cast<double>(config.max_identities)};
  }
  if (config.serve_anyone && !config.identities_file.empty()) {
    return Error{Status::kInvalidConfig,
                 "serve_anyone = true and an identities_file contradict each other", kNoNumber};
  }
  const TlsConfig& tls = config.tls;
  if (tls.certificate.empty() != tls.key.empty()) {
    return Error{Status::kInvalidConfig, "tls.certificate and tls.key go together", kNoNumber};
  }
  if (tls.memory_bytes != 0 && tls.memory_bytes < kTlsBaseBytes + kTlsConnectionBytes) {
    return Error{Status::kInvalidConfig, "tls.memory_bytes must be 0, or at least 2195456",
                 static_cast<double>(tls.memory_bytes)};
  }
  static_assert(kTlsBaseBytes + kTlsConnectionBytes == 2'195'456);  // as the sentence says
  if (!tls.client_ca.empty() && (!tls.enabled() || config.identities_file.empty())) {
    return Error{Status::kInvalidConfig,
                 "tls.client_ca needs a tls.certificate, and an identities_file that says what the "
                 "clients may do",
                 kNoNumber};
  }
  return true;
}

Result<bool> check_durable(const DurableConfig& config, std::uint32_t frame_cap,
                           const EngineConfig& engine) noexcept {
  if (!config.enabled() || engine.follows) return true;  // nobody keeps one that follows
  const auto invalid = [](const char* sentence, double number) {
    return Error{Status::kInvalidConfig, sentence, number};
  };
  if (!engine.checkpoints) {
    return invalid("to keep a folder the engine needs checkpoints = true", kNoNumber);
  }
  if (config.checkpoint_period.count() < 0 || config.checkpoint_period > std::chrono::hours(8760)) {
    return invalid("checkpoint_period must be from 0 to a year",
                   static_cast<double>(config.checkpoint_period.count()));
  }
  if (!config.log) return true;
  if (engine.max_followers < 1) {
    return invalid("to keep a log the engine needs max_followers of at least 1", kNoNumber);
  }
  const LogOptions& log = config.log_options;
  const Error options = check(log);
  if (!ok(options.status)) return options;
  if (log.segments() < kLeastServedSegments) {
    return invalid("log_bytes must be at least 5 times segment_bytes",
                   static_cast<double>(log.bytes));
  }
  if (log.segment_bytes < 2 * log.commit_bytes) {
    return invalid("segment_bytes must be at least twice commit_bytes",
                   static_cast<double>(log.segment_bytes));
  }
  if (log.commit_bytes < least_commit_bytes(frame_cap)) {
    return invalid("commit_bytes must be at least 8192 more than twice frame_cap",
                   static_cast<double>(log.commit_bytes));
  }
  if (config.commit_interval.count() < 0 || config.commit_interval > std::chrono::seconds(10)) {
    return invalid("commit_interval must be from 0 to 10 s, in microseconds",
                   static_cast<double>(config.commit_interval.count()));
  }
  if (config.max_waiting_frames < 1 || config.max_waiting_frames > 1U << 24) {
    return invalid("max_waiting_frames must be from 1 to 16777216", config.max_waiting_frames);
  }
  return true;
}

}  // namespace

Result<bool> check(const ServerConfig& config, const EngineConfig& engine) noexcept {
  const Result<bool> identities = check_identities(config);
  if (!identities.ok()) return identities.error();
  const bool beyond_loopback = !config.identities_file.empty() || config.serve_anyone;
  for (const ListenConfig* listen : {&config.observe, &config.query}) {
    const Result<bool> possible = check_listen(*listen, beyond_loopback);
    if (!possible.ok()) return possible.error();
  }
  const Result<bool> http = check_http(config.http, beyond_loopback);
  if (!http.ok()) return http.error();
  const auto outside = [](std::uint64_t value, std::uint64_t low, std::uint64_t high) {
    return value < low || value > high;
  };
  if (outside(config.max_sessions, 1, 10'000)) {
    return Error{Status::kInvalidConfig, "max_sessions must be from 1 to 10000",
                 static_cast<double>(config.max_sessions)};
  }
  if (outside(config.max_producers, 1, kMostProducers)) {
    return Error{Status::kInvalidConfig, "max_producers must be from 1 to 16777216",
                 static_cast<double>(config.max_producers)};
  }
  if (outside(config.max_producers_per_connection, 1, ProducerClaims::kMost)) {
    return Error{Status::kInvalidConfig, "max_producers_per_connection must be from 1 to 64",
                 static_cast<double>(config.max_producers_per_connection)};
  }
  const std::size_t row = largest_row_bytes(engine.model);
  if (outside(config.frame_cap, row, 1U << 28)) {
    return Error{Status::kInvalidConfig,
                 "frame_cap must be at most 268435456 and at least what the largest row needs",
                 static_cast<double>(row)};
  }
  const bool with_http = config.http.enabled();
  if (engine.max_readers < readers_of(config)) {
    return Error{Status::kInvalidConfig,
                 with_http ? "max_readers must be at least 5, which the server takes with http"
                           : "max_readers must be at least 4, which the server takes",
                 static_cast<double>(engine.max_readers)};
  }
  if (engine.max_readers + engine.max_watchers < readers_of(config) + watchers_of(config)) {
    return Error{Status::kInvalidConfig,
                 with_http ? "max_readers and max_watchers must be at least 12 together, which the "
                             "server takes with http"
                           : "max_readers and max_watchers must be at least 9 together, which the "
                             "server takes",
                 static_cast<double>(engine.max_readers + engine.max_watchers)};
  }
  // As the sentences say.
  static_assert(kServerReaders == 4 && kServerWatchers == 5);
  static_assert(kHttpReaders == 1 && kHttpWatchers == 2);
  if (config.added.enabled() && outside(config.added.max_models, 1, kMaxModels - 1)) {
    return Error{Status::kInvalidConfig, "added.max_models must be from 1 to 4095",
                 static_cast<double>(config.added.max_models)};
  }
  if (config.added.max_parameters > 100'000) {
    return Error{Status::kInvalidConfig, "added.max_parameters must be at most 100000",
                 static_cast<double>(config.added.max_parameters)};
  }
  const Result<bool> durable = check_durable(config.durable, config.frame_cap, engine);
  if (!durable.ok()) return durable.error();
  for (const auto timeout : {config.hello_timeout, config.frame_timeout, config.idle_timeout,
                             config.write_timeout, config.answer_timeout, config.wait_timeout,
                             config.drain_timeout, config.producer_timeout}) {
    if (timeout.count() < 1 || timeout > std::chrono::hours(24 * 365)) {
      return Error{Status::kInvalidConfig, "timeouts must be from 1 to 31536000000 milliseconds",
                   static_cast<double>(timeout.count())};
    }
  }
  return true;
}

std::size_t tls_memory_bytes(const ServerConfig& config) noexcept {
  if (!config.tls.enabled()) return 0;
  if (config.tls.memory_bytes > 0) return config.tls.memory_bytes;
  const std::size_t http = config.http.enabled() ? config.http.max_connections : 0;
  return kTlsBaseBytes + (2 * std::size_t{config.max_sessions} + http) * kTlsConnectionBytes;
}

bool is_model_name(std::string_view name) noexcept {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return !name.empty() && name.size() <= kMaxModelName && name.front() != '.' &&
         std::ranges::all_of(name, allowed);
}

}  // namespace windhover
