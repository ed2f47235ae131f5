// The parts of a Server.
#ifndef WINDHOVER_IO_SERVER_IMPL_H_
#define WINDHOVER_IO_SERVER_IMPL_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "windhover/io/access/access.h"
#include "windhover/io/durable/keeping.h"
#include "windhover/io/endpoint.h"
#include "windhover/io/http/http_server.h"
#include "windhover/io/model_orders.h"
#include "windhover/io/server.h"
#include "windhover/io/server_layout.h"
#include "windhover/io/tls/tls_context.h"
#include "windhover/io/tls/tls_memory.h"

namespace windhover {

struct ServerImpl {
  ServerImpl(const ServerConfig& from, std::span<const HostedModel> models, ServerLayout& in_block)
      : config(from),
        observe_address(from.observe.tcp_address),
        observe_path(from.observe.unix_path),
        query_address(from.query.tcp_address),
        query_path(from.query.unix_path),
        http_address(from.http.listen.tcp_address),
        http_path(from.http.listen.unix_path),
        identities_file(from.identities_file),
        tls_certificate(from.tls.certificate),
        tls_key(from.tls.key),
        tls_client_ca(from.tls.client_ca),
        layout(in_block),
        observe(EndpointKind::kObserve, in_block.observe, in_block.state),
        query(EndpointKind::kQuery, in_block.query, in_block.state) {
    config.observe = {observe_address, from.observe.tcp_port, observe_path};
    config.query = {query_address, from.query.tcp_port, query_path};
    config.http.listen = {http_address, from.http.listen.tcp_port, http_path};
    config.identities_file = identities_file;
    config.tls = {tls_certificate, tls_key, tls_client_ca, from.tls.memory_bytes};
    if (config.added.enabled()) layout.state.orders = &orders.emplace();
    if (config.tls.enabled()) layout.state.tls = &tls;
    if (tls_memory() != nullptr) layout.state.footprint_bytes += tls_memory()->capacity();
    config.durable.folder = {};  // Keeping has a copy
    if (from.durable.enabled()) keeping.emplace(from.durable, models, in_block, observe);
    if (from.http.enabled()) {
      http = std::make_unique<HttpServer>(config.http, in_block.http, in_block.state);
    }
  }

  static void run_observe(void* self) {
    static_cast<ServerImpl*>(self)->observe.run();
    static_cast<ServerImpl*>(self)->endpoint_ended();
  }
  static void run_query(void* self) {
    static_cast<ServerImpl*>(self)->query.run();
    static_cast<ServerImpl*>(self)->endpoint_ended();
  }
  static void run_http(void* self) { static_cast<ServerImpl*>(self)->http->run(); }

  Persistence* kept(std::size_t model) { return keeping ? keeping->of(model) : nullptr; }

  // HTTP goes on until both endpoints have ended, so that it can be asked how they end.
  void endpoint_ended() noexcept {
    if (running.fetch_sub(1) == 1 && http) http->finish();
  }

  ServerConfig config;
  std::string observe_address, observe_path, query_address, query_path, http_address, http_path;
  std::string identities_file, tls_certificate, tls_key, tls_client_ca;
  Access::Sentence reload_sentence{};  // the threads that reload and that add models differ
  Access::Sentence add_sentence{};
  // What each endpoint is to get of the model that is ready and has not been let in.
  struct Coming {
    PlaceChange observed, asked, shown;
  };
  std::optional<Coming> coming;
  TlsContext tls;
  std::optional<ModelOrders> orders;  // null: no models can be added
  ServerLayout& layout;
  Endpoint observe;
  Endpoint query;
  std::optional<Keeping> keeping;    // it wakes `observe`, so it is destroyed before that
  std::unique_ptr<HttpServer> http;  // null: off
  std::atomic<int> running{2};       // endpoints that have not ended
  Thread observe_thread;
  Thread query_thread;
  Thread http_thread;
  ServerModels served_models{*this};
  ServerKeeping kept_models{*this};
};

}  // namespace windhover

#endif  // WINDHOVER_IO_SERVER_IMPL_H_
