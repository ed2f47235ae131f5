// The models of a server: those that it was created with, and those that are added and removed.
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

// Server::models(). Invariant: a place has a model from add() to forget(), and at most one model is
// ready and not let in. Places, and the model that is ready, belong to the thread that adds and
// removes; it hands changes to the endpoints.
class ServerModels {
 public:
  explicit ServerModels(ServerImpl& server) noexcept : server_(server) {}
  ServerModels(const ServerModels&) = delete;
  ServerModels& operator=(const ServerModels&) = delete;

  // Bytes of the store that add() needs, beside the engine's block.
  static Result<std::size_t> footprint(const ServerConfig& config) noexcept;

  // add(), let_in(), check(), let_go_of() and forget() are for one thread at a time, none of the
  // server's, while the server serves (ServerConfig::added). They allocate, wait for the disk, and
  // wait until every endpoint's thread has taken the change up. Other models go on undisturbed.
  //
  // Makes a model ready in a free place and returns the place. `store` is memory for it, aligned
  // like the block of Server::create(). Engine and store live until forget(). It takes readers as
  // create() does, and restores what its folder holds. No connection may name the model yet, so the
  // host can write down that it has it before anything of it is acknowledged. Then comes let_in()
  // or forget(); another add() before is refused (kUnavailable). The sentence of an error lives
  // until the next call.
  Result<std::size_t> add(const HostedModel& model, std::span<std::byte> store) noexcept;
  // From now on connections may name the model, and the host polls its engine. Cannot fail.
  // REQUIRES: add() gave this place last.
  void let_in(std::size_t model) noexcept;
  // Whether add() would take the model, as far as can be told without an engine: its name, its
  // size, a free place. Reads the file of identities again. `instead_of`: the place of an added
  // model that it would replace.
  Result<bool> check(std::string_view name, const EngineConfig& engine,
                     std::optional<std::size_t> instead_of = {}) noexcept;
  // Has all endpoints let go of the model: connections that have named it are refused with
  // UNKNOWN_MODEL and closed. What was accepted is in its log. REQUIRES: it was added.
  void let_go_of(std::size_t model) noexcept;
  // Frees the model's place; nothing of it is touched any more. Called after let_go_of() when no
  // thread polls its engine, and after ServerKeeping::checkpoint_at_rest() if that is wanted; or in
  // place of let_in().
  void forget(std::size_t model) noexcept;

  // Orders of operators (HostModel), for the thread that adds and removes. Null without
  // ServerConfig::added.
  ModelOrders* orders() noexcept;

  // Sets which model's posterior answers questions about `model`, by their places: itself, or one
  // that follows it; kInvalidArgument for another. Any thread, while serving.
  Status set_answered_by(std::size_t model, std::size_t by) noexcept;
  std::size_t answered_by(std::size_t model) const noexcept;

  // How many models Server::create() was given, which have the first places in their order, and how
  // many places there are with those for added models.
  std::size_t count() const noexcept;
  std::size_t places() const noexcept;
  // Empty: the place is free. For the thread that adds and removes.
  std::string_view name(std::size_t model) const noexcept;
  // As in Welcome. Any thread.
  std::uint64_t instance_id(std::size_t model = 0) const noexcept;

 private:
  ServerImpl& server_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_SERVER_MODELS_H_
