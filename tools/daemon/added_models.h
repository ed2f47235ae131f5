// Models that operators add to a daemon at work, replace and remove.
#ifndef WINDHOVER_TOOLS_DAEMON_ADDED_MODELS_H_
#define WINDHOVER_TOOLS_DAEMON_ADDED_MODELS_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/io/model_orders.h"
#include "windhover/io/server.h"
#include "windhover/platform/clock.h"
#include "windhover/platform/memory.h"
#include "windhover/platform/thread.h"
#include "windhover/tools/daemon/daemon_log.h"
#include "windhover/tools/daemon/daemon_models.h"
#include "windhover/tools/daemon/learners.h"
#include "windhover/tools/daemon/watcher.h"

namespace windhover {

// Carries out the orders of Server::model_orders() on a thread of its own, wh-models, one after the
// other. Each model lies in memory that is mapped for it, and all of them together never take more
// than server.added.memory. With a data folder the configuration of each stands in added.toml in
// its own folder there: that file is the list of them, and what a restart begins with. The thread
// calls the heap, maps memory and waits for the disk; the threads that serve do not.
class AddedModels {
 public:
  // All outlive it.
  AddedModels(const DaemonModels& models, Server& server, Learners& learners, Watcher& watcher,
              DaemonLog& log, Clock& clock);
  // The server forgets them: they go before it.
  ~AddedModels();
  AddedModels(const AddedModels&) = delete;
  AddedModels& operator=(const AddedModels&) = delete;

  // Called before anything of the data folder is opened. UserError where it lists a model that the
  // configuration has too: it would be unknown whose the folder is. Returns what has been put
  // right, for the log.
  static std::vector<std::string> check_names(const DaemonModels& models);

  // Adds the models that the folder lists, between Server::open() and start(), when the learners
  // are at work, so that a client that connects finds all of them. One that cannot be added is told
  // to the log, and stays in the list.
  void restore();

  // Does nothing where the configuration gives no memory. Errors are Thread::start's.
  Status start() noexcept;
  // The order under way is carried out, or refused.
  void stop() noexcept;
  struct Model {
    std::string name;
    std::string toml;
    std::size_t bytes = 0;  // what it takes of the budget
    MappedBlock block;      // the engine's
    MappedBlock store;      // the server's
    Engine* engine = nullptr;
    std::size_t place = 0;
    std::string schema_json = {};  // the server reads it here
  };
  const std::list<Model>& all() const { return models_; }

 private:
  // A model that is possible; there is nothing of it yet.
  struct Wanted {
    std::string name;
    std::string toml;
    std::unique_ptr<DaemonConfig> config;
    std::size_t bytes;
  };

  static void run(void* self) noexcept;
  void carry_out(const ModelOrder& order, ModelOutcome& outcome) noexcept;
  void add(const std::string& name, const std::string& toml, bool anew, ModelOutcome& outcome);
  void replace(Model& before, const std::string& toml, bool anew, ModelOutcome& outcome);
  void remove(Model& model, bool delete_data, ModelOutcome& outcome);
  Wanted judge(const std::string& name, const std::string& toml, const Model* instead_of, bool anew,
               ModelOutcome& outcome);
  Model make(const Wanted& wanted);
  void host(Model model, bool anew, ModelOutcome& outcome);
  void let_go(Model& model, bool keep);
  void forget(Model& model);
  void checkpoint_now(const Model& model);
  Model* find(std::string_view name);
  std::uint64_t free_bytes() const noexcept { return config_.added.memory_bytes - used_bytes_; }
  void tell(const char* event, std::string_view name, bool refused,
            const ModelOutcome& outcome) noexcept;

  const DaemonModels& daemon_;
  const ServerConfig config_;
  const std::string folder_;  // empty: nothing is kept
  Server& server_;
  Learners& learners_;
  Watcher& watcher_;
  DaemonLog& log_;
  Clock& clock_;
  std::list<Model> models_;
  std::uint64_t used_bytes_ = 0;
  std::unique_ptr<ModelOrder> order_;
  Thread thread_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_ADDED_MODELS_H_
