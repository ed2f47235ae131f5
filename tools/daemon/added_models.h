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

// Carries out the orders of Server::models().orders() one after the other, on a thread of its own,
// wh-models. Each model has memory mapped for it, all together at most server.added.memory. With a
// data folder each has its configuration in added.toml in its own folder there: those files are the
// list of models that a restart begins with. The thread calls the heap, maps memory and waits for
// the disk; the threads that serve do not.
class AddedModels {
 public:
  // All arguments outlive it.
  AddedModels(const DaemonModels& models, Server& server, Learners& learners, Watcher& watcher,
              DaemonLog& log, Clock& clock);
  // Has the server forget the models that were added: the server outlives them.
  ~AddedModels();
  AddedModels(const AddedModels&) = delete;
  AddedModels& operator=(const AddedModels&) = delete;

  // Called before anything in the data folder is opened. UserError where the folder lists a model
  // that the configuration has too: it would not be clear whose folder it is. Returns what was put
  // right, for the log.
  static std::vector<std::string> check_names(const DaemonModels& models);

  // Adds the models that the folder lists. Called after Server::open(), with the learners at work,
  // and before Server::start(), so that a client that connects finds all of them. A model that
  // cannot be added is logged, and stays in the list.
  void restore();

  // Starts the thread; does nothing where the configuration gives no memory. Errors are those of
  // Thread::start().
  Status start() noexcept;
  // Waits until the order under way is carried out or refused, and ends the thread.
  void stop() noexcept;
  struct Model {
    std::string name;
    std::string toml;
    std::size_t bytes = 0;  // of the budget
    MappedBlock block;      // the engine's
    MappedBlock store;      // the server's
    Engine* engine = nullptr;
    std::size_t place = 0;
    std::string schema_json = {};  // the server has a view of it
  };
  const std::list<Model>& all() const { return models_; }

 private:
  // A model that has been judged possible; nothing of it exists yet.
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
