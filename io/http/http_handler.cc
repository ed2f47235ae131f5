#include "windhover/io/http/http_handler.h"

#include <array>
#include <chrono>
#include <string>

#include "windhover/io/access/access.h"
#include "windhover/io/http/render_metrics.h"

namespace windhover {
namespace {

bool matches(const HttpRoute& route, std::string_view path) noexcept {
  if (!route.path.ends_with('/')) return path == route.path;
  return path.size() > route.path.size() && path.starts_with(route.path);
}

double seconds_since_1970() noexcept {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// If-None-Match names this version, weakly or not, or any there is.
bool has_version(std::string_view if_none_match, std::string_view etag) noexcept {
  return if_none_match == "*" || if_none_match.find(etag) != std::string_view::npos;
}

// Of the page, which is the same for everybody: a token is asked for by what it calls.
HttpAnswer page(const PageAsset& asset, const HttpRequest& request) {
  if (request.method != HttpMethod::kGet) {
    HttpAnswer answer = http_error(405, "this path is not asked by this method");
    answer.allow = "GET, HEAD";
    return answer;
  }
  HttpAnswer answer;
  answer.status = has_version(request.if_none_match, asset.etag) ? 304 : 200;
  answer.asset = &asset;
  return answer;
}

HttpAnswer fine(std::string_view status) {
  return {.body = "{\"status\":" + json_string(status) + "}\n",
          .content_type = "application/json",
          .allow = {}};
}

}  // namespace

std::span<const HttpRoute> http_routes() noexcept {
  using Handler = HttpHandler;
  using Request = HttpRequest;
  using Needs = HttpNeeds;
  constexpr HttpMethod kGet = HttpMethod::kGet;
  constexpr HttpMethod kPost = HttpMethod::kPost;
  static constexpr std::array kRoutes = {
      HttpRoute{kGet, "/metrics", Needs::kQueryEverywhere,
                [](Handler& h, const Request& r) { return h.metrics(r); }},
      HttpRoute{kGet, "/healthz", Needs::kNothing,
                [](Handler& h, const Request& r) { return h.health(r); }},
      HttpRoute{kGet, "/readyz", Needs::kNothing,
                [](Handler& h, const Request& r) { return h.readiness(r); }},
      HttpRoute{kGet, "/v1/models", Needs::kSomewhere,
                [](Handler& h, const Request& r) { return h.api_.models(r); }},
      HttpRoute{kPost, "/v1/model", Needs::kAdmin,
                [](Handler& h, const Request& r) { return h.api_.change_model(r); }},
      HttpRoute{kPost, "/v1/host_model", Needs::kAdminEverywhere,
                [](Handler& h, const Request& r) { return h.api_.host_model(r); }},
      HttpRoute{kGet, "/v1/hello", Needs::kAnyRole,
                [](Handler& h, const Request& r) { return h.api_.hello(r); }},
      HttpRoute{kPost, "/v1/predict", Needs::kQuery,
                [](Handler& h, const Request& r) { return h.api_.predict(r); }},
      HttpRoute{kGet, "/v1/posterior", Needs::kQuery,
                [](Handler& h, const Request& r) { return h.api_.posterior(r); }},
      HttpRoute{kPost, "/v1/draws", Needs::kQuery,
                [](Handler& h, const Request& r) { return h.api_.draws(r); }},
      HttpRoute{kGet, "/v1/status", Needs::kAnyRole,
                [](Handler& h, const Request& r) { return h.api_.status(r); }},
      HttpRoute{kGet, "/v1/schema", Needs::kQuery,
                [](Handler& h, const Request& r) { return h.api_.schema(r); }},
      HttpRoute{kPost, "/v1/checkpoint", Needs::kAdmin,
                [](Handler& h, const Request& r) { return h.api_.checkpoint(r); }},
      HttpRoute{kPost, "/v1/observe", Needs::kObserve,
                [](Handler& h, const Request& r) { return h.api_.observe(r); }},
      HttpRoute{kPost, "/v1/outcome", Needs::kObserve,
                [](Handler& h, const Request& r) { return h.api_.outcome(r); }},
      HttpRoute{kGet, kProducerPath, Needs::kObserve,
                [](Handler& h, const Request& r) { return h.api_.producer(r); }},
  };
  return kRoutes;
}

HttpHandler::HttpHandler(const HttpConfig& config, HttpMemory& memory, ServerState& state) noexcept
    : connection_limit_(config.max_connections),
      memory_(memory),
      state_(state),
      api_(memory, state),
      watchdog_(std::chrono::nanoseconds(config.stall_timeout).count()),
      start_time_seconds_(seconds_since_1970()) {}

HttpAnswer HttpHandler::answer(const HttpRequest& asked) {
  HttpRequest request = asked;
  bool known = false;
  for (const HttpRoute& route : http_routes()) {
    if (!matches(route, request.path)) continue;
    known = true;
    if (route.method == request.method) return answer(route, request);
  }
  const PageAsset* const asset = find_page_asset(request.path);
  if (asset != nullptr) return page(*asset, request);
  if (!known) return http_error(404, "there is nothing at this path");
  HttpAnswer answer = http_error(405, "this path is not asked by this method");
  for (const HttpRoute& route : http_routes()) {
    if (!matches(route, request.path)) continue;
    answer.allow = route.method == HttpMethod::kGet ? "GET, HEAD" : "POST";
  }
  return answer;
}

// Who is not known does not learn which models there are.
HttpAnswer HttpHandler::answer(const HttpRoute& route, HttpRequest& request) {
  if (route.needs != HttpNeeds::kNothing && !is_known(request.who)) {
    state_.counters.add(IoCounter::kNotPermitted);
    HttpAnswer answer = http_error(401, "a token of the server is needed: Authorization: Bearer");
    answer.asks_for_token = true;
    return answer;
  }
  if (!find_model(request)) return http_error(404, "there is no model of this name");
  if (may(request, route.needs)) return route.answer(*this, request);
  state_.counters.add(IoCounter::kNotPermitted);
  return http_error(403, "this identity has not the role for it");
}

bool HttpHandler::is_known(const Credential& who) const noexcept {
  return state_.access == nullptr || state_.access->anywhere(who).any();
}

bool HttpHandler::may(const HttpRequest& request, HttpNeeds needs) const noexcept {
  if (state_.access == nullptr) return true;
  const Access& access = *state_.access;
  const auto here = [&] { return access.on_model(request.who, request.model); };
  switch (needs) {
    case HttpNeeds::kNothing:
    case HttpNeeds::kSomewhere:
      return true;
    case HttpNeeds::kAnyRole:
      return here().any();
    case HttpNeeds::kObserve:
      return here().has(Role::kObserve);
    case HttpNeeds::kQuery:
      return here().has(Role::kQuery);
    case HttpNeeds::kAdmin:
      return here().has(Role::kAdmin);
    case HttpNeeds::kQueryEverywhere:
      return access.everywhere(request.who).has(Role::kQuery);
    case HttpNeeds::kAdminEverywhere:
      return access.everywhere(request.who).has(Role::kAdmin);
  }
  return false;
}

// Without a name it is the first one, as in Hello.
bool HttpHandler::find_model(HttpRequest& request) const noexcept {
  const std::string_view name = query_value(request.query, "model");
  if (name.empty()) return true;
  const ConversationContext& context = memory_.conversations->context;
  const ModelContext* const found = context.find(name);
  if (found == nullptr) return false;
  request.model = static_cast<std::size_t>(found - context.models.data());
  return true;
}

// An endpoint's sweep comes at least once a second, and says when it was.
void HttpHandler::look() noexcept {
  const auto beat_of = [this](EndpointKind kind) {
    return static_cast<std::uint64_t>(state_.of(kind).beat_ns.load(std::memory_order_relaxed));
  };
  Watchdog::Beats beats;
  beats[Watchdog::kObserve] = beat_of(EndpointKind::kObserve);
  beats[Watchdog::kQuery] = beat_of(EndpointKind::kQuery);
  beats[Watchdog::kLearner] = 0;
  for (const ModelContext& model : memory_.conversations->models) {
    if (model.model != nullptr) beats[Watchdog::kLearner] += model.model->engine->polls();
  }
  watchdog_.look(state_.clock->now_ns(), beats);
}

HttpAnswer HttpHandler::metrics(const HttpRequest& request) {
  look();
  ServerMetrics metrics = server_metrics(state_, memory_);
  metrics.start_time_seconds = start_time_seconds_;
  metrics.http_connection_limit = connection_limit_;
  metrics.http_counters = values_in(counters_);
  metrics.stopping = stopping_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < metrics.stalled.size(); ++i) {
    metrics.stalled[i] = watchdog_.still_ns(static_cast<Watchdog::Part>(i)) > 0;
  }
  const MetricsFormat format = format_for(request.accept);
  return {.body = render_metrics(metrics, format),
          .content_type = content_type_of(format),
          .allow = {}};
}

HttpAnswer HttpHandler::health(const HttpRequest&) {
  look();
  // While it stops the endpoints' threads end, which is no fault of theirs.
  if (stopping_.load(std::memory_order_relaxed)) return fine("stopping");
  std::string still;
  for (std::size_t i = 0; i < Watchdog::kParts; ++i) {
    const auto part = static_cast<Watchdog::Part>(i);
    const std::int64_t still_ns = watchdog_.still_ns(part);
    if (still_ns == 0) continue;
    if (!still.empty()) still += ", ";
    still += std::string("the ") + Watchdog::name(part) + " thread has stood still for " +
             std::to_string(still_ns / 1'000'000'000) + " s";
  }
  return still.empty() ? fine("serving") : http_error(503, still);
}

// There always is a snapshot: at first the prior's.
HttpAnswer HttpHandler::readiness(const HttpRequest&) {
  if (stopping_.load(std::memory_order_relaxed)) {
    return http_error(503, "the server is stopping");
  }
  std::string recovering;
  for (std::size_t i = 0; i < memory_.readers.size(); ++i) {
    if (!memory_.readers[i]) continue;
    const ModelMetrics model = model_metrics(state_, memory_, i);
    if (model.provenance.recovery_target == 0) continue;
    recovering += recovering.empty() ? "recovering: " : "; ";
    recovering += std::string(model.name) + " has " + std::to_string(model.provenance.sequence) +
                  " of " + std::to_string(model.provenance.recovery_target) + " rows in its answer";
  }
  return recovering.empty() ? fine("ready") : http_error(503, recovering);
}

}  // namespace windhover
