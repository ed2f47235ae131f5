#ifndef WINDHOVER_IO_HTTP_HTTP_HANDLER_H_
#define WINDHOVER_IO_HTTP_HTTP_HANDLER_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "windhover/io/http/http_config.h"
#include "windhover/io/http/http_counters.h"
#include "windhover/io/http/http_memory.h"
#include "windhover/io/http/http_meters.h"
#include "windhover/io/http/http_types.h"
#include "windhover/io/http/json_api.h"
#include "windhover/io/http/server_metrics.h"
#include "windhover/io/http/watchdog.h"
#include "windhover/io/server_state.h"

namespace windhover {

class HttpHandler;

// The role that a request needs.
enum class HttpNeeds : std::uint8_t {
  kNothing,
  kAnyRole,          // on the model that is asked about
  kObserve,          // likewise
  kQuery,            // likewise
  kAdmin,            // likewise
  kSomewhere,        // any role on any model
  kQueryEverywhere,  // query, on all models
  kAdminEverywhere,  // admin, on all models
};

// What is served where. A path that ends in '/' stands for all longer ones that begin with it.
struct HttpRoute {
  HttpMethod method;
  std::string_view path;
  HttpNeeds needs;
  bool question;  // see ConnectionLimits
  // What may stand in its query; empty: nothing more. Others are refused, except by signs of life,
  // which take no notice.
  std::array<std::string_view, 2> parameters;
  HttpAnswer (*answer)(HttpHandler& handler, const HttpRequest& request);

  bool takes(std::string_view parameter) const noexcept;
};
std::span<const HttpRoute> http_routes() noexcept;

// Answers requests; knows no sockets. The HTTP thread's, except stop(). May throw bad_alloc.
class HttpHandler {
 public:
  // REQUIRES: `memory` is bound to every model. All outlive it.
  HttpHandler(const HttpConfig& config, HttpMemory& memory, ServerState& state) noexcept;

  HttpAnswer answer(const HttpRequest& request);

  // Whether it asks if the server is alive, or ready. Everybody may, at any time and before others.
  static bool is_sign_of_life(const HttpRequest& request) noexcept;
  // Whether it is what may be asked on a place kept for the status.
  static bool is_status(const HttpRequest& request) noexcept;

  // Whether the sender of a request whose head has come is over its limits. If so, `refusal` is the
  // answer, and the bytes that have come are charged.
  bool is_over_limits(const HttpRequest& request, HttpAnswer& refusal);
  // Charges for bytes that are no request, or one that is not answered, as for a request.
  void charge_broken(const HttpRequest& request);
  // Charges for bytes that are discarded.
  void charge_thrown_away(const HttpRequest& request);

  // Whether the peer has a role on any model.
  bool is_known(const Credential& who) const noexcept;
  // The same, where there is a file of identities.
  bool is_identity(const Credential& who) const noexcept;
  bool is_admin(const Credential& who) const noexcept;  // of one model at least
  // How many connections the identity may have; 0: no limit.
  std::uint64_t most_connections(const Credential& who) const noexcept;
  void count_place_refused() noexcept { state_.counters.add(IoCounter::kPlacesRefused); }

  // Looks whether the other threads make progress. Called several times in stall_timeout.
  void look() noexcept;
  // The server is stopping, so it is not ready any more. Any thread.
  void stop() noexcept { stopping_.store(true, std::memory_order_relaxed); }

  Counters<HttpCounter>& counters() noexcept { return counters_; }

 private:
  static const HttpRoute* find_route(const HttpRequest& request) noexcept;
  bool find_model(HttpRequest& request) const noexcept;
  bool may(const HttpRequest& request, HttpNeeds needs) const noexcept;
  HttpAnswer answer(const HttpRoute& route, HttpRequest& request);
  friend std::span<const HttpRoute> http_routes() noexcept;
  HttpAnswer manual(const HttpRequest& request) const;
  HttpAnswer metrics(const HttpRequest& request);
  HttpAnswer health(const HttpRequest& request);
  HttpAnswer readiness(const HttpRequest& request);
  // What holds up senders, model by model, of those that the peer may hear of; empty: nothing.
  std::string held_up(const Credential& who) const;
  // Whether a sign of life may say more of the model to this peer than yes or no: it has a role on
  // it.
  bool may_hear_of(const Credential& who, std::size_t model) const noexcept;

  const std::uint32_t connection_limit_;
  const std::span<const PageAsset> manual_;
  HttpMemory& memory_;
  ServerState& state_;
  JsonApi api_;
  HttpMeters meters_;
  Watchdog watchdog_;
  double start_time_seconds_;  // since 1970
  std::atomic<bool> stopping_{false};
  Counters<HttpCounter> counters_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_HTTP_HANDLER_H_
