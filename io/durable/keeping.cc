#include "windhover/io/durable/keeping.h"

#include "windhover/io/durable/posix_folder.h"
#include "windhover/io/server.h"

namespace windhover {

Keeping::Keeping(const DurableConfig& config, std::span<const HostedModel> models,
                 ServerLayout& layout, Endpoint& observe)
    : config_(config),
      folder_(config.folder),
      named_(!models.front().name.empty()),
      layout_(layout),
      observe_(observe) {
  for (std::size_t i = 0; i < models.size(); ++i) {
    ModelMemory& memory = layout.models[i];
    ServedModel& model = memory.served;
    if (!models[i].follows.empty()) {
      kept_.push_back(nullptr);
      continue;
    }
    const std::string folder = named_ ? folder_ + "/" + std::string(model.name()) : folder_;
    DurableConfig own = config;
    own.folder = folder;  // copied by Persistence
    kept_.push_back(std::make_unique<Persistence>(memory.persistence, own, *model.engine,
                                                  memory.producers, model.log, model.checkpoints,
                                                  *layout.state.clock));
    kept_.back()->set_wake([](void* self) noexcept { static_cast<Endpoint*>(self)->wake(); },
                           &observe);
  }
}

// The folders of the models are made where they are missing, but not their parents.
Result<bool> Keeping::make_parent() {
  if (!named_ || config_.disk != nullptr) return true;
  const Result<PosixFolder> parent = PosixFolder::open(folder_.c_str(), true);
  if (parent.ok()) return true;
  sentence_ = "data folder " + folder_ + ": " + parent.error().sentence;
  return Error{parent.error().status, sentence_.c_str(), parent.error().number};
}

Result<bool> Keeping::open() {
  if (const Result<bool> made = make_parent(); !made.ok()) return made;
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    if (kept_[i] == nullptr) continue;
    Persistence& persistence = *kept_[i];
    const Result<bool> opened = persistence.open();
    if (!opened.ok()) return opened;
    ServedModel& model = layout_.models[i].served;
    model.instance_id = persistence.instance();
    if (config_.log) {
      model.durability = Durability::kLogged;
      model.log_capacity_bytes = config_.log_options.bytes;
    }
    model.keeper = &persistence;
    model.request_checkpoint = [](void* keeper) noexcept {
      return static_cast<Persistence*>(keeper)->request_checkpoint();
    };
    layout_.observe.models[i].feed = &persistence.feed();
  }
  observe_.set_duties(*this);
  return true;
}

Status Keeping::start() noexcept {
  for (const std::unique_ptr<Persistence>& persistence : kept_) {
    if (persistence == nullptr) continue;
    if (const Status status = persistence->start(); !ok(status)) return status;
  }
  return Status::kOk;
}

void Keeping::stop() noexcept {
  for (const std::unique_ptr<Persistence>& persistence : kept_) {
    if (persistence != nullptr) persistence->stop();
  }
}

bool Keeping::go_on() noexcept {
  bool more = false;
  for (const std::unique_ptr<Persistence>& persistence : kept_) {
    more = (persistence != nullptr && persistence->go_on()) || more;
  }
  return more;
}

void Keeping::on_wake() noexcept {
  for (const std::unique_ptr<Persistence>& persistence : kept_) {
    if (persistence != nullptr) persistence->on_wake();
  }
}

}  // namespace windhover
