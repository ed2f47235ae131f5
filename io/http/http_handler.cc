#include "windhover/io/http/http_handler.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>

#include "windhover/io/access/access.h"
#include "windhover/io/http/render_metrics.h"

namespace windhover {
namespace {

double seconds_since_1970() noexcept {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Whether If-None-Match names this version, weakly or not, or any version.
bool has_version(std::string_view if_none_match, std::string_view etag) noexcept {
  return if_none_match == "*" || if_none_match.find(etag) != std::string_view::npos;
}

HttpAnswer wrong_method(std::string_view allow) {
  HttpAnswer answer =
      http_error(405, allow == "POST" ? "this path is asked by POST" : "this path is asked by GET");
  answer.allow = allow;
  return answer;
}

std::string not_taken(const HttpRoute& route, std::string_view name) {
  constexpr std::size_t kShown = 40;
  std::string taken;
  for (const std::string_view parameter : route.parameters) {
    if (!parameter.empty()) taken += (taken.empty() ? "" : " and ") + std::string(parameter);
  }
  return "this path does not take \"" + std::string(name.substr(0, kShown)) +
         "\" behind its '?'; it takes " + (taken.empty() ? "nothing" : taken);
}

// What is wrong with a query, in a sentence; nothing: the route takes each of its names, each has a
// value and stands there once.
std::optional<std::string> query_fault(const HttpRoute& route, std::string_view query) {
  std::array<bool, std::tuple_size_v<decltype(HttpRoute::parameters)>> given = {};
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    const std::string_view name = pair.substr(0, pair.find('='));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (pair.empty()) continue;
    if (!route.takes(name)) return not_taken(route, name);
    if (pair.size() <= name.size() + 1) {
      return "\"" + std::string(name) + "\" has no value behind the '?'; give one, or leave it out";
    }
    const auto place = std::ranges::find(route.parameters, name) - route.parameters.begin();
    bool& again = given[static_cast<std::size_t>(place)];
    if (again) return "\"" + std::string(name) + "\" stands more than once behind the '?'";
    again = true;
  }
  return std::nullopt;
}

constexpr std::string_view kManualPath = "/docs";

bool is_of_manual(std::string_view path) noexcept {
  return path.starts_with(kManualPath) &&
         (path.size() == kManualPath.size() || path[kManualPath.size()] == '/');
}

// Files are the same for everybody and need no token; the requests that the page makes do.
HttpAnswer file(const PageAsset& asset, const HttpRequest& request) {
  if (request.method != HttpMethod::kGet) return wrong_method("GET, HEAD");
  HttpAnswer answer;
  answer.status = has_version(request.if_none_match, asset.etag) ? 304 : 200;
  answer.asset = &asset;
  return answer;
}

// JSON is read and written at some 50 MB a second.
std::int64_t cost_of_text(const HttpRequest& request, const HttpAnswer& answer) noexcept {
  constexpr std::size_t kByteNs = 20;
  return QuestionCost::kFrameNs +
         static_cast<std::int64_t>(kByteNs * (request.body.size() + answer.body.size()));
}

}  // namespace

HttpHandler::HttpHandler(const HttpConfig& config, HttpMemory& memory, ServerState& state) noexcept
    : connection_limit_(config.max_connections),
      manual_(config.manual),
      memory_(memory),
      state_(state),
      api_(memory, state),
      meters_(state.access, state.limits.connection),
      watchdog_(std::chrono::nanoseconds(config.stall_timeout).count()),
      start_time_seconds_(seconds_since_1970()) {}

void HttpHandler::charge_broken(const HttpRequest& request) {
  meters_.refuse(request, true, state_.clock->now_ns());
}

void HttpHandler::charge_thrown_away(const HttpRequest& request) {
  meters_.refuse(request, false, state_.clock->now_ns());
}

bool HttpHandler::is_over_limits(const HttpRequest& request, HttpAnswer& refusal) {
  if (is_sign_of_life(request)) return false;
  const std::int64_t wait_ns = meters_.wait_ns(request, state_.clock->now_ns());
  if (wait_ns == 0) return false;
  charge_thrown_away(request);
  counters_.add(HttpCounter::kOverLimits);
  refusal = http_error(429, "more has been asked, or sent, than may be in a second");
  refusal.wait_ns = wait_ns;
  return true;
}

HttpAnswer HttpHandler::answer(const HttpRequest& asked) {
  HttpRequest request = asked;
  const HttpRoute* const route = find_route(request);
  const PageAsset* asset = find_page_asset(page_assets(), request.path);
  if (asset == nullptr) asset = find_page_asset(description_assets(), request.path);
  HttpAnswer answer;
  if (route != nullptr && route->method == request.method) {
    answer = this->answer(*route, request);
    if (route->needs == HttpNeeds::kNothing) {
      charge_thrown_away(request);
      return answer;
    }
  } else if (asset != nullptr) {
    answer = file(*asset, request);
  } else if (is_of_manual(request.path)) {
    answer = manual(request);
  } else if (route == nullptr) {
    answer = http_error(404, "there is nothing at this path; /v1/openapi.json says what there is");
  } else {
    answer = wrong_method(route->method == HttpMethod::kGet ? "GET, HEAD" : "POST");
  }
  answer.cost_ns += cost_of_text(request, answer);
  const bool question = route != nullptr && route->question && answer.status != 401;
  meters_.charge(request, question, answer.cost_ns, state_.clock->now_ns());
  return answer;
}

// The manual's links are relative, so the address of its first page must end in '/'.
HttpAnswer HttpHandler::manual(const HttpRequest& request) const {
  if (manual_.empty()) {
    return http_error(404,
                      "this server was built without its manual: tools/install manual, then build "
                      "it again; the pages are also in tools/manual/pages");
  }
  if (request.path == kManualPath) {
    if (request.method != HttpMethod::kGet) return wrong_method("GET, HEAD");
    HttpAnswer answer = http_error(308, "the manual is at /docs/");
    answer.location = "/docs/";
    return answer;
  }
  const bool first = request.path.size() == kManualPath.size() + 1;
  const PageAsset* const asset =
      find_page_asset(manual_, first ? "/docs/index.html" : request.path);
  return asset != nullptr ? file(*asset, request)
                          : http_error(404, "there is no such page of the manual");
}

// A peer that is not known does not learn which models there are.
HttpAnswer HttpHandler::answer(const HttpRoute& route, HttpRequest& request) {
  if (route.needs != HttpNeeds::kNothing && !is_known(request.who)) {
    state_.counters.add(IoCounter::kNotPermitted);
    HttpAnswer answer = http_error(401, "a token of the server is needed: Authorization: Bearer");
    answer.asks_for_token = true;
    return answer;
  }
  // Signs of life take no notice, so that asking for them does not tell which models there are.
  if (route.needs != HttpNeeds::kNothing) {
    if (const auto fault = query_fault(route, request.query)) return http_error(400, *fault);
  }
  if (route.takes("model") && !find_model(request)) {
    return http_error(404, "there is no model of this name; /v1/models lists them");
  }
  if (may(request, route.needs)) {
    HttpAnswer answer = route.answer(*this, request);
    if (state_.access != nullptr && !answer.relay.frame.empty()) {
      answer.relay.owner = state_.access->owner(request.who, state_.limits.connection);
    }
    return answer;
  }
  state_.counters.add(IoCounter::kNotPermitted);
  return http_error(403, "this identity has not the role for it");
}

bool HttpHandler::is_known(const Credential& who) const noexcept {
  return state_.access == nullptr || state_.access->anywhere(who).any();
}

bool HttpHandler::is_identity(const Credential& who) const noexcept {
  return state_.access != nullptr && state_.access->has_file() && is_known(who);
}

bool HttpHandler::is_admin(const Credential& who) const noexcept {
  return state_.access != nullptr && state_.access->anywhere(who).has(Role::kAdmin);
}

std::uint64_t HttpHandler::most_connections(const Credential& who) const noexcept {
  return state_.access->limits(who).in_place_of(state_.limits.connection).connections;
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

// Without a name it is the first model, as in Hello.
bool HttpHandler::find_model(HttpRequest& request) const noexcept {
  const std::string_view name = query_value(request.query, "model");
  if (name.empty()) return true;
  const ConversationContext& context = memory_.conversations->context;
  const ModelContext* const found = context.find(name);
  if (found == nullptr) return false;
  request.model = static_cast<std::size_t>(found - context.models.data());
  return true;
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
          .allow = {},
          .cost_ns = QuestionCost::kStatusNs * static_cast<std::int64_t>(metrics.models.size())};
}

}  // namespace windhover
