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
// Two endpoints of one protocol (windhover.proto): the observe endpoint takes Observe and
// questions, the query endpoint only questions, so that these do not wait behind ingest. Each has
// its own io_context, thread and sessions; counters are shared. With ServerConfig::http a third
// listens for HTTP: metrics, health, questions in JSON (http/README.md).
//
// Memory: sessions, their buffers, the producer table and scratch lie in the block. The Server
// itself and its Asio objects (io_context, sockets, timers) are made on the heap by create() and
// open(); after open() nothing is, because open() has opened every descriptor and armed every timer
// once, which is when Asio allocates for them. The HTTP thread is not held to that: its connections
// are made by create(), and it calls the heap for each request, but not while nobody asks.
#ifndef WINDHOVER_IO_SERVER_H_
#define WINDHOVER_IO_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "windhover/io/counter_ids.h"
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

// One of several models, before there are engines and with one. Names are what Hello says, and the
// folders that keep the models: 1 to 63 letters, digits, '_', '-' and '.'. A Hello that names none
// means the first. Copied.
struct PlannedModel {
  std::string_view name;
  EngineConfig engine;
};
// `follows`: another of the models, whose rows this one learns from too (Engine::follow): a
// challenger beside its champion. Nobody sends it rows, and no folder keeps it. Empty: none.
struct HostedModel {
  std::string_view name;
  Engine* engine = nullptr;
  std::string_view follows = {};
  // What the columns of a row are, for people: GET /v1/schema sends this JSON (the message Schema
  // of http/openapi.json) as it stands. Not copied. Empty: not said.
  std::string_view schema_json = {};
};
// The name of the only model of a host that gives it none.
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

  // Closes everything at once; request_stop() and join() come first for a graceful end. No thread
  // may be inside run_observe() or run_query().
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Takes up what ServerConfig::durable's folder holds (durable/persistence.h; the engine becomes
  // what is there, so nobody may be in poll() yet), then binds, listens and warms up. Once. The
  // sentence of an error names the endpoint and its address or path, and lives as long as the
  // server; the number is errno, or 0.
  Result<bool> open() noexcept;

  // Takes up identities (access/identity_file.h) and certificates as their files are now. Beside
  // everything else, from any thread but those of the endpoints; no connection ends. Who has lost a
  // role loses it with the next request; new connections get the new certificate. A file that is
  // wrong changes nothing: the sentence is then "FILE:LINE: what", good until the next call. The
  // value: how many identities there are.
  Result<std::size_t> reload() noexcept;
  // Whether there is such a file.
  bool asks_who() const noexcept;
  // When the certificate is good that new connections get; any thread. Unknown without TLS.
  CertificateDates certificate() const noexcept;

  // Its models, and what it keeps of them on disk.
  ServerModels& models() noexcept;
  const ServerModels& models() const noexcept;
  ServerKeeping& kept() noexcept;
  const ServerKeeping& kept() const noexcept;

  // Serve one endpoint on the calling thread until it has stopped. Each once, after open();
  // run_observe() is then the engines' only observe() caller.
  void run_observe() noexcept;
  void run_query() noexcept;
  // The same for HTTP, where there is any: until both endpoints have ended.
  void run_http() noexcept;

  // Instead: on threads of our own, by default named wh-observe and wh-query, and wh-http. When it
  // returns they are at work.
  static ThreadOptions observe_thread_options() noexcept;
  static ThreadOptions query_thread_options() noexcept;
  Status start(const ThreadOptions& observe = observe_thread_options(),
               const ThreadOptions& query = query_thread_options()) noexcept;

  // Stops gracefully: no new connections, what has been received is handled and answered, then the
  // connections close; at the latest after drain_timeout. Any thread, also a signal handler.
  void request_stop() noexcept;

  // Waits for the threads of start(). What has been accepted is in the log then.
  void join() noexcept;

  // Any thread.
  Counters<IoCounter>& counters() noexcept;
  ServedEndpoint observe() const noexcept;
  ServedEndpoint query() const noexcept;
  ServedEndpoint http() const noexcept;

 private:
  explicit Server(std::unique_ptr<ServerImpl> impl) noexcept;
  std::unique_ptr<ServerImpl> impl_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_SERVER_H_
