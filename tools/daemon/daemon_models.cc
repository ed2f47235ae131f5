#include "windhover/tools/daemon/daemon_models.h"

#include <fmt/format.h>

#include "windhover/platform/arena.h"
#include "windhover/runtime/engine.h"
#include "windhover/tools/error.h"

namespace windhover {

DaemonModels::DaemonModels(const std::function<void(DaemonConfig&)>& read)
    : common_(std::make_unique<DaemonConfig>()) {
  read(*common_);
  for (const DaemonConfig::ModelFile& file : common_->model_files()) {
    Model& model = models_.emplace_back(file.name, std::make_unique<DaemonConfig>());
    read(*model.config);
    try {
      model.config->read_model_file(file.path);
      model.config->check();
    } catch (const UserError& error) {
      throw UserError(fmt::format("{}: models.{}: {}", file.source, file.name, error.what()));
    }
  }
  if (models_.empty()) {
    Model& only = models_.emplace_back(std::string(kOnlyModel), std::make_unique<DaemonConfig>());
    read(*only.config);
    only.config->check();
  }
  (void)server_bytes();
}

std::vector<PlannedModel> DaemonModels::planned() const {
  std::vector<PlannedModel> planned;
  // The only one has no name of its own: its folder is the data folder itself.
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
