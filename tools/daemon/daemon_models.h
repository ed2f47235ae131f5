// The configuration of a windhoverd that serves one model, or several:
//
//   [models]
//   price = "price.toml"      what is this model's own: tables model, sampler, engine and labels
//   clicks = "clicks.toml"    beside what this file says for all
//   price-b = {file = "b.toml", follows = "price"}    a challenger: it learns from price's rows
#ifndef WINDHOVER_TOOLS_DAEMON_DAEMON_MODELS_H_
#define WINDHOVER_TOOLS_DAEMON_DAEMON_MODELS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/io/server.h"
#include "windhover/tools/daemon/daemon_config.h"

namespace windhover {

// Invariant: at least one model. Without a table [models] it is that of the file itself, named as a
// server names its only model.
class DaemonModels {
 public:
  struct Model {
    std::string name;
    std::string follows;  // empty: nobody
    // Its tables model, sampler, engine and labels count.
    std::unique_ptr<DaemonConfig> config;
  };

  // Reads the common configuration (file and flags) by `read`, and for each model the same with the
  // model's own file on top. Checks everything. UserError.
  explicit DaemonModels(const std::function<void(DaemonConfig&)>& read);

  // What is for all models: server, threads and so on.
  const DaemonConfig& common() const { return *common_; }
  bool several() const { return !common_->model_files().empty(); }
  const std::vector<Model>& all() const { return models_; }

  // The configuration of a model that is added to those at work (added_models.h). `toml` has the
  // tables of its own; what it leaves out is as in the common file where there is a table [models],
  // otherwise the default. `goes_on`: with what its folder holds, if it has one. Checked.
  // UserError; `name` stands before its line and column.
  std::unique_ptr<DaemonConfig> read_added(std::string_view name, std::string_view toml,
                                           bool goes_on = true) const;

  // For Server::plan(); the views hold as long as this.
  std::vector<PlannedModel> planned() const;
  std::size_t server_bytes() const;
  // Bytes of one block for all: each engine's part rounded up to Arena::kAlignment, then the
  // server's.
  std::size_t block_bytes() const;

 private:
  const Model* find(std::string_view name) const;  // null: none
  void follow(const Model& model, std::string_view leader);
  void check_rows(const Model& model) const;

  std::unique_ptr<DaemonConfig> common_;
  std::vector<Model> models_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_DAEMON_MODELS_H_
