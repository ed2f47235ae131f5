// The models of a server: those that it was made with, and those that come and go.
#ifndef WINDHOVER_IO_SERVER_MODELS_H_
#define WINDHOVER_IO_SERVER_MODELS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "windhover/io/server_config.h"
#include "windhover/platform/result.h"
#include "windhover/platform/status.h"
#include "windhover/runtime/engine.h"

namespace windhover {

struct HostedModel;
struct ServerImpl;
class ModelOrders;

// Server::models(). Invariant: a place has a model from add() to forget(), and one at most is ready
// and not let in. Places and the one that is ready are the thread's that adds and removes;
// endpoints are handed what changes.
class ServerModels {
 public:
  explicit ServerModels(ServerImpl& server) noexcept : server_(server) {}
  ServerModels(const ServerModels&) = delete;
  ServerModels& operator=(const ServerModels&) = delete;

  // Bytes of the store that add() needs, beside the engine's block.
  static Result<std::size_t> footprint(const ServerConfig& config) noexcept;

  // Models come and go while the server serves, or before: ServerConfig::added. From one thread at
  // a time, which is none of the server's; these allocate on it, wait for the disk, and wait until
  // every endpoint's thread has taken the change up. Other models do not notice.
  //
  // Makes one ready, in a free place, which is the value; `store` is memory for it, as
  // Server::create() wants its block. Engine and store live until forget(). It takes readers as
  // create() does, and takes up what its folder holds. Nobody may name it yet: what the host has to
  // write down of it is on disk before anything of it is acknowledged. Then comes let_in(), or
  // forget(); another one before is refused (kUnavailable). The sentence of an error lives until
  // the next call.
  Result<std::size_t> add(const HostedModel& model, std::span<std::byte> store) noexcept;
  // From now on connections may name it; the host has its engine polled. Nothing is left to fail.
  // REQUIRES: add() gave this place last.
  void let_in(std::size_t model) noexcept;
  // Whether add() would take it, as far as that can be told before there is an engine: its
  // name, its size, a free place, the file of identities, which is taken up. `instead_of`: the
  // place of one that was added and would have gone.
  Result<bool> check(std::string_view name, const EngineConfig& engine,
                     std::optional<std::size_t> instead_of = {}) noexcept;
  // Nobody speaks of it any more: who did is refused with UNKNOWN_MODEL, and closed. What was
  // accepted is in its log. REQUIRES: it was added.
  void let_go_of(std::size_t model) noexcept;
  // Frees the model's place; nothing of it is touched any more. Called after let_go_of(), when
  // nobody polls its engine either, and after ServerKeeping::checkpoint_at_rest() if that is
  // wanted; or in place of let_in().
  void forget(std::size_t model) noexcept;

  // What operators want of the models (HostModel), for the thread that adds and removes. Null
  // without ServerConfig::added.
  ModelOrders* orders() noexcept;

  // Which model's posterior answers questions about `model`, by their places: itself, or one that
  // follows it. kInvalidArgument for another. Any thread, while serving.
  Status set_answered_by(std::size_t model, std::size_t by) noexcept;
  std::size_t answered_by(std::size_t model) const noexcept;

  // The models by their places, from 0 on: as they were given to Server::create(), and behind them
  // places for those that are added.
  std::size_t count() const noexcept;
  std::size_t places() const noexcept;
  // The thread that adds and removes. Empty: nobody is there.
  std::string_view name(std::size_t model) const noexcept;
  // Any thread. As in Welcome.
  std::uint64_t instance_id(std::size_t model = 0) const noexcept;

 private:
  ServerImpl& server_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_SERVER_MODELS_H_
