#include "windhover/tools/daemon/daemon_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "windhover/platform/arena.h"
#include "windhover/runtime/engine.h"
#include "windhover/tools/daemon/model_folder.h"
#include "windhover/tools/error.h"

namespace windhover {

DaemonModels::DaemonModels(const std::function<void(DaemonConfig&)>& read)
    : common_(std::make_unique<DaemonConfig>()) {
  read(*common_);
  for (const DaemonConfig::ModelFile& file : common_->model_files()) {
    Model& model = models_.emplace_back(file.name, file.follows, std::make_unique<DaemonConfig>());
    model.config->begin_as(*common_);
    try {
      model.config->read_model_file(file.path);
      if (!file.follows.empty()) follow(model, file.follows);
      if (file.follows.empty()) model.config->go_on_with_kept(file.name);
      model.config->check();
    } catch (const UserError& error) {
      throw UserError(fmt::format("{}: models.{}: {}", file.source, file.name, error.what()));
    }
  }
  for (const Model& model : models_) check_rows(model);
  if (models_.empty()) {
    Model& only = models_.emplace_back(std::string(kOnlyModel), std::string(),
                                       std::make_unique<DaemonConfig>());
    only.config->begin_as(*common_);
    only.config->go_on_with_kept("");
    only.config->check();
  }
  std::vector<std::string> kept;
  for (const Model& model : models_) {
    if (model.follows.empty()) kept.push_back(several() ? model.name : "");
  }
  std::ranges::copy(ModelFolder::added_in(common_->data_folder()), std::back_inserter(kept));
  common_->make_room_for_producers(kept);
  (void)server_bytes();
}

const DaemonModels::Model* DaemonModels::find(std::string_view name) const {
  const auto found = std::ranges::find(models_, name, &Model::name);
  return found == models_.end() ? nullptr : &*found;
}

// The leader stands before its follower in the list.
void DaemonModels::follow(const Model& model, std::string_view leader) {
  const Model* const found = find(leader);
  if (found == nullptr || found == &model || !found->follows.empty()) {
    throw UserError(fmt::format(
        "follows = \"{}\" is not allowed: a model that stands before it and follows nobody is "
        "expected",
        leader));
  }
  model.config->set_follows();
  found->config->add_follower();
}

void DaemonModels::check_rows(const Model& model) const {
  if (model.follows.empty()) return;
  const ModelConfig leader = find(model.follows)->config->engine().model;
  const ModelConfig own = model.config->engine().model;
  if (own.features == leader.features && own.max_nonzeros == leader.max_nonzeros) return;
  throw UserError(
      fmt::format("models.{} has {} features, and {}, which it follows, {}; rows are of the same "
                  "features, dense or sparse",
                  model.name, own.features, model.follows, leader.features));
}

std::unique_ptr<DaemonConfig> DaemonModels::read_added(std::string_view name, std::string_view toml,
                                                       bool goes_on) const {
  auto config = std::make_unique<DaemonConfig>();
  // Without [models] the tables model, sampler, engine and labels are those of the only model.
  config->read_toml(common_->to_toml(several()), "the configuration");
  config->read_model_toml(toml, std::string(name));
  if (goes_on) config->go_on_with_kept(name);
  config->check();
  return config;
}

std::vector<PlannedModel> DaemonModels::planned() const {
  std::vector<PlannedModel> planned;
  // The only model has no name of its own: its folder is the data folder itself.
  for (const Model& model : models_) {
    planned.push_back({several() ? std::string_view(model.name) : "", model.config->engine()});
  }
  return planned;
}

std::size_t DaemonModels::server_bytes() const {
  return value_or_refuse(Server::footprint(common_->server(), planned()));
}

std::size_t DaemonModels::block_bytes() const {
  std::size_t bytes = server_bytes();
  for (const Model& model : models_) bytes += Arena::aligned(model.config->engine_bytes());
  return bytes;
}

}  // namespace windhover
