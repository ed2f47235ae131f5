// What is served where, and which role it needs.
#include <algorithm>
#include <array>
#include <string_view>

#include "windhover/io/http/http_handler.h"

namespace windhover {
namespace {

constexpr std::string_view kStatusPath = "/v1/status";

bool matches(const HttpRoute& route, std::string_view path) noexcept {
  if (!route.path.ends_with('/')) return path == route.path;
  return path.size() > route.path.size() && path.starts_with(route.path);
}

}  // namespace

std::span<const HttpRoute> http_routes() noexcept {
  using Handler = HttpHandler;
  using Request = HttpRequest;
  using Needs = HttpNeeds;
  constexpr HttpMethod kGet = HttpMethod::kGet;
  constexpr HttpMethod kPost = HttpMethod::kPost;
  using Parameters = std::array<std::string_view, 2>;
  constexpr Parameters kNothing = {};
  constexpr Parameters kModel = {"model"};
  constexpr Parameters kModelAndAfter = {"model", "after"};
  constexpr Parameters kFirst = {"first"};
  static constexpr std::array kRoutes = {
      HttpRoute{kGet, "/metrics", Needs::kQueryEverywhere, true, kNothing,
                [](Handler& h, const Request& r) { return h.metrics(r); }},
      HttpRoute{kGet, "/healthz", Needs::kNothing, false, kNothing,
                [](Handler& h, const Request& r) { return h.health(r); }},
      HttpRoute{kGet, "/readyz", Needs::kNothing, false, kNothing,
                [](Handler& h, const Request& r) { return h.readiness(r); }},
      HttpRoute{kGet, "/v1/models", Needs::kSomewhere, false, kFirst,
                [](Handler& h, const Request& r) { return h.api_.models(r); }},
      HttpRoute{kPost, "/v1/model", Needs::kAdmin, false, kModel,
                [](Handler& h, const Request& r) { return h.api_.change_model(r); }},
      HttpRoute{kPost, "/v1/host_model", Needs::kAdminEverywhere, false, kNothing,
                [](Handler& h, const Request& r) { return h.api_.host_model(r); }},
      HttpRoute{kGet, "/v1/hello", Needs::kAnyRole, false, kModel,
                [](Handler& h, const Request& r) { return h.api_.hello(r); }},
      HttpRoute{kPost, "/v1/predict", Needs::kQuery, true, kModel,
                [](Handler& h, const Request& r) { return h.api_.predict(r); }},
      HttpRoute{kGet, "/v1/posterior", Needs::kQuery, true, kModel,
                [](Handler& h, const Request& r) { return h.api_.posterior(r); }},
      HttpRoute{kPost, "/v1/draws", Needs::kQuery, true, kModel,
                [](Handler& h, const Request& r) { return h.api_.draws(r); }},
      HttpRoute{kGet, "/v1/events", Needs::kAnyRole, true, kModelAndAfter,
                [](Handler& h, const Request& r) { return h.api_.events(r); }},
      HttpRoute{kGet, kStatusPath, Needs::kAnyRole, true, kModel,
                [](Handler& h, const Request& r) { return h.api_.status(r); }},
      HttpRoute{kGet, "/v1/schema", Needs::kQuery, false, kModel,
                [](Handler& h, const Request& r) { return h.api_.schema(r); }},
      HttpRoute{kPost, "/v1/checkpoint", Needs::kAdmin, true, kModel,
                [](Handler& h, const Request& r) { return h.api_.checkpoint(r); }},
      HttpRoute{kPost, "/v1/observe", Needs::kObserve, false, kModel,
                [](Handler& h, const Request& r) { return h.api_.observe(r); }},
      HttpRoute{kPost, "/v1/outcome", Needs::kObserve, false, kModel,
                [](Handler& h, const Request& r) { return h.api_.outcome(r); }},
      HttpRoute{kGet, kProducerPath, Needs::kObserve, false, kModel,
                [](Handler& h, const Request& r) { return h.api_.producer(r); }},
  };
  return kRoutes;
}

bool HttpRoute::takes(std::string_view parameter) const noexcept {
  return !parameter.empty() && std::ranges::find(parameters, parameter) != parameters.end();
}

const HttpRoute* HttpHandler::find_route(const HttpRequest& request) noexcept {
  const HttpRoute* found = nullptr;
  for (const HttpRoute& route : http_routes()) {
    if (!matches(route, request.path)) continue;
    found = &route;
    if (route.method == request.method) break;
  }
  return found;
}

bool HttpHandler::is_status(const HttpRequest& request) noexcept {
  return request.method == HttpMethod::kGet && request.path == kStatusPath;
}

bool HttpHandler::is_sign_of_life(const HttpRequest& request) noexcept {
  const HttpRoute* const route = find_route(request);
  return route != nullptr && route->needs == HttpNeeds::kNothing;
}

}  // namespace windhover
