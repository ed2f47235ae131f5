// Serves one engine, or several, over TCP and Unix-domain sockets: start here in this folder.
//
//   auto bytes = Server::footprint(config, engine_config);
//   auto server = Server::create(config, engine, block, clock);   // std::unique_ptr<Server>
//   server.value()->open();      // listens; from here on there is no heap call
//   server.value()->start();     // two threads, or run_observe() and run_query() on your own
//   ...
//   server.value()->request_stop();
//   server.value()->join();
//
// Two endpoints speak one protocol (windhover.proto): the observe endpoint takes rows and
// questions, the query endpoint only questions, so that these do not wait behind ingest. Each has
// its own io_context, thread and sessions; counters are shared. With ServerConfig::http a third one
// speaks HTTP: metrics, health, questions and rows in JSON (http/README.md).
//
// Memory: sessions, their buffers, the producer table and scratch lie in the block. create() and
// open() make the Server and its Asio objects (io_context, sockets, timers) on the heap; after
// open() the endpoints' threads call no heap, because open() has opened every descriptor and armed
// every timer once, which is when Asio allocates for them. The HTTP thread is an exception: it
// calls the heap for each request.
#ifndef WINDHOVER_IO_SERVER_H_
#define WINDHOVER_IO_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "windhover/io/counter_ids.h"
#include "windhover/io/http/http_counters.h"
#include "windhover/io/served_endpoint.h"
#include "windhover/io/server_config.h"
#include "windhover/io/server_keeping.h"
#include "windhover/io/server_models.h"
#include "windhover/io/tls/certificate_dates.h"
#include "windhover/platform/arena.h"
#include "windhover/platform/clock.h"
#include "windhover/platform/counters.h"
#include "windhover/platform/result.h"
#include "windhover/platform/thread.h"
#include "windhover/runtime/engine.h"

namespace windhover {

// One of several models, before its engine is made (PlannedModel) and with it (HostedModel). Its
// name is what Hello says, and that of its folder: 1 to 63 letters, digits, '_', '-' and '.', the
// first of them no '.'. A Hello that names none means the first model. Names are copied.
struct PlannedModel {
  std::string_view name;
  EngineConfig engine;
};
// `follows`: the name of another model, whose rows this one learns from too (Engine::follow), as a
// challenger does beside its champion. Nobody sends it rows, and no folder keeps it. Empty: none.
struct HostedModel {
  std::string_view name;
  Engine* engine = nullptr;
  std::string_view follows = {};
  // The meaning of a row's columns, for people: GET /v1/schema sends this JSON (the message Schema
  // of http/openapi.json) as it is. Not copied. Empty: unknown.
  std::string_view schema_json = {};
};
// The name of a server's only model where the host gives it none.
inline constexpr std::string_view kOnlyModel = "default";

struct ServerImpl;

class Server {
 public:
  // Bytes of the block that create() needs, computed by the code that lays it out.
  static Result<std::size_t> footprint(const ServerConfig& config,
                                       std::span<const PlannedModel> models) noexcept;
  static Result<std::size_t> footprint(const ServerConfig& config,
                                       const EngineConfig& engine) noexcept;

  // The same, region by region, recorded in `arena` (an Arena::measuring()).
  static Result<std::size_t> plan(const ServerConfig& config, std::span<const PlannedModel> models,
                                  Arena& arena) noexcept;
  static Result<std::size_t> plan(const ServerConfig& config, const EngineConfig& engine,
                                  Arena& arena) noexcept;

  // Lays the server out in `block` (64-byte aligned, footprint() bytes). Engines, `block` and
  // `clock` outlive it. Takes readers_of(config) readers from each engine.
  static Result<std::unique_ptr<Server>> create(const ServerConfig& config,
                                                std::span<const HostedModel> models,
                                                std::span<std::byte> block, Clock& clock) noexcept;
  static Result<std::unique_ptr<Server>> create(const ServerConfig& config, Engine& engine,
                                                std::span<std::byte> block, Clock& clock) noexcept;

  // Closes everything, after request_stop() and join() where start() was called. For a graceful end
  // the host calls these itself first. No thread of the host may be inside a run_...() function.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Reads identities and certificates as reload() does, restores the engines from the folder of
  // ServerConfig::durable (durable/persistence.h; no thread may be in poll() yet), then binds,
  // listens and warms up. Once. The sentence of an error names the file, or the endpoint and its
  // address or path, and lives as long as the server; the number is errno, or 0, or NaN.
  Result<bool> open() noexcept;

  // Reads the files of identities (access/identity_file.h) and certificates again. While serving,
  // from any thread but those of the endpoints, one at a time; no connection ends. An identity that
  // has lost a role loses it with its next request; new connections get the new certificate. A
  // wrong file changes nothing: the sentence is then "FILE: what" or "FILE:LINE: what", good until
  // the next call. The value: how many identities there are.
  Result<std::size_t> reload() noexcept;
  // Whether there is a file of identities.
  bool asks_who() const noexcept;
  // The dates of the certificate that new connections get, and of the authorities by which those of
  // clients are judged; unknown without TLS. Any thread.
  TlsDates certificates() const noexcept;

  // The server's models, and what it keeps of them on disk.
  ServerModels& models() noexcept;
  const ServerModels& models() const noexcept;
  ServerKeeping& kept() noexcept;
  const ServerKeeping& kept() const noexcept;

  // Serve one endpoint on the calling thread until it has stopped. Each once, after open();
  // run_observe() is then the engines' only observe() caller.
  void run_observe() noexcept;
  void run_query() noexcept;
  // The same for HTTP, if it is on: until both endpoints have ended.
  void run_http() noexcept;

  // Instead of run_...(): serves on threads of its own, by default named wh-observe and wh-query,
  // and wh-http. When it returns they are at work.
  static ThreadOptions observe_thread_options() noexcept;
  static ThreadOptions query_thread_options() noexcept;
  Status start(const ThreadOptions& observe = observe_thread_options(),
               const ThreadOptions& query = query_thread_options()) noexcept;

  // Stops gracefully: no new connections, what has been received is handled and answered, then
  // connections close, after drain_timeout at the latest. Any thread, also a signal handler.
  void request_stop() noexcept;

  // Waits for the threads of start(). What has been accepted is in the log then.
  void join() noexcept;

  // Any thread.
  Counters<IoCounter>& counters() noexcept;
  const Counters<HttpCounter>* http_counters() const noexcept;  // null: HTTP is off
  ServedEndpoint observe() const noexcept;
  ServedEndpoint query() const noexcept;
  ServedEndpoint http() const noexcept;

 private:
  explicit Server(std::unique_ptr<ServerImpl> impl) noexcept;
  std::unique_ptr<ServerImpl> impl_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_SERVER_H_
