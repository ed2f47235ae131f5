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
#include <optional>
#include <span>
#include <string_view>

#include "windhover/io/counter_ids.h"
#include "windhover/io/durable/checkpoint_progress.h"
#include "windhover/io/durable/log_progress.h"
#include "windhover/io/server_config.h"
#include "windhover/platform/arena.h"
#include "windhover/platform/clock.h"
#include "windhover/platform/counters.h"
#include "windhover/platform/histogram.h"
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

class ModelOrders;

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

  // Bytes of the store that add_model() needs, beside the engine's block.
  static Result<std::size_t> model_footprint(const ServerConfig& config) noexcept;

  // Models come and go while the server serves, or before: ServerConfig::added. From one thread at
  // a time, which is none of the server's; these allocate on it, wait for the disk, and wait until
  // every endpoint's thread has taken the change up. Other models do not notice.
  //
  // Makes one ready, in a free place, which is the value; `store` is memory for it, as create()
  // wants its block. Engine and store live until forget_model(). It takes readers as create() does,
  // and takes up what its folder holds. Nobody may name it yet: what the host has to write down of
  // it is on disk before anything of it is acknowledged. Then comes let_in_model(), or
  // forget_model(), and not another one before. The sentence of an error lives until the next call.
  Result<std::size_t> add_model(const HostedModel& model, std::span<std::byte> store) noexcept;
  // From now on connections may name it; the host has its engine polled. Nothing is left to fail.
  // REQUIRES: add_model() gave this place last.
  void let_in_model(std::size_t model) noexcept;
  // Whether add_model() would take it, as far as that can be told before there is an engine: its
  // name, its size, a free place, the file of identities, which is taken up. `instead_of`: the
  // place of one that was added and would have gone.
  Result<bool> check_model(std::string_view name, const EngineConfig& engine,
                           std::optional<std::size_t> instead_of = {}) noexcept;
  // Nobody speaks of it any more: who did is refused with UNKNOWN_MODEL, and closed. What was
  // accepted is in its log. REQUIRES: it was added.
  void let_go_of_model(std::size_t model) noexcept;
  // After let_go_of_model(), when nobody polls its engine either, and after checkpoint_at_rest() if
  // that is wanted; or in place of let_in_model(): its place is free, and nothing of it is touched
  // any more.
  void forget_model(std::size_t model) noexcept;

  // What operators want of the models (HostModel), for the thread that adds and removes. Null
  // without ServerConfig::added.
  ModelOrders* model_orders() noexcept;

  // The threads that keep rows and checkpoints on disk; start() does it, and so does add_model().
  // Nothing without a folder, or when they are at work. After open(), before run_observe().
  Status start_keeping() noexcept;

  // Serve one endpoint on the calling thread until it has stopped. Each once, after open();
  // run_observe() is then the engines' only observe() caller.
  void run_observe() noexcept;
  void run_query() noexcept;
  // Likewise, where there is HTTP: until both endpoints have ended. Otherwise nothing.
  void run_http() noexcept;

  // Instead: on threads of our own, by default named wh-observe and wh-query, and wh-http. When it
  // returns they are at work.
  static ThreadOptions observe_thread_options() noexcept;
  static ThreadOptions query_thread_options() noexcept;
  Status start(const ThreadOptions& observe = observe_thread_options(),
               const ThreadOptions& query = query_thread_options()) noexcept;

  // Of start()'s threads: masks of ThreadWarning.
  std::uint32_t observe_thread_warnings() const noexcept;
  std::uint32_t query_thread_warnings() const noexcept;

  // Stops gracefully: no new connections, what has been received is handled and answered, then the
  // connections close; at the latest after drain_timeout. Any thread, also a signal handler.
  void request_stop() noexcept;

  // Waits for the threads of start(). What has been accepted is in the log then.
  void join() noexcept;

  // After join(), and when the learner's thread has ended: a checkpoint of all there is, so that
  // the next start has nothing to learn again. kUnsupported without a folder; otherwise
  // checkpoints() says why there is none.
  Status checkpoint_at_rest(std::size_t model = 0) noexcept;
  // Any thread, while serving: one more checkpoint as soon as can be. Its number among the
  // requests: checkpoints() says when it has been answered, and whether it was met.
  Result<std::uint64_t> request_checkpoint(std::size_t model = 0) noexcept;
  const LogProgress& log(std::size_t model = 0) const noexcept;
  const CheckpointProgress& checkpoints(std::size_t model = 0) const noexcept;
  // After open(): which checkpoints were not good, and why; empty: none.
  const char* recovery_remarks(std::size_t model = 0) const noexcept;

  // Which model's posterior answers questions about `model`, by their places: itself, or one that
  // follows it. kInvalidArgument for another. Any thread, while serving.
  Status set_answered_by(std::size_t model, std::size_t by) noexcept;
  std::size_t answered_by(std::size_t model) const noexcept;

  // The models by their places, from 0 on: as they were given to create(), and behind them places
  // for those that are added.
  std::size_t models() const noexcept;
  std::size_t places() const noexcept;
  // The thread that adds and removes. Empty: nobody is there.
  std::string_view model_name(std::size_t model) const noexcept;

  // The TCP ports bound by open(); 0 without TCP.
  std::uint16_t observe_port() const noexcept;
  std::uint16_t query_port() const noexcept;
  std::uint16_t http_port() const noexcept;

  // Any thread.
  std::uint64_t instance_id(std::size_t model = 0) const noexcept;  // as in Welcome
  Counters<IoCounter>& counters() noexcept;
  std::uint32_t observe_sessions() const noexcept;  // open now
  std::uint32_t query_sessions() const noexcept;
  // When each endpoint's loop last swept its sessions, by the server's clock: once a second at
  // least from run_...() until it stops. 0: not yet.
  std::int64_t observe_beat_ns() const noexcept;
  std::int64_t query_beat_ns() const noexcept;
  std::int64_t http_beat_ns() const noexcept;  // -1 without HTTP
  // Nanoseconds from a question found in the read buffer to its answer in the write buffer.
  const Histogram& observe_latency() const noexcept;
  const Histogram& query_latency() const noexcept;

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_SERVER_H_
