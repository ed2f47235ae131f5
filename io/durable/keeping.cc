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
      observe_(observe),
      kept_(layout.models.size()),
      at_work_(layout.models.size()) {
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (models[i].follows.empty()) make(i, named_);
  }
}

DurableConfig Keeping::config() const noexcept {
  DurableConfig config = config_;
  config.folder = folder_;
  return config;
}

bool Keeping::has_file(std::string_view name) const noexcept {
  return !named_ && Persistence::has_file(name);
}

void Keeping::make(std::size_t place, bool named) {
  ServedModel& model = layout_.models[place].served;
  ModelStore& store = *layout_.models[place].store;
  const std::string folder = named ? folder_ + "/" + std::string(model.name()) : folder_;
  DurableConfig own = config_;
  own.folder = folder;  // copied by Persistence
  kept_[place] =
      std::make_unique<Persistence>(store.persistence, own, *model.engine, store.producers,
                                    model.log, model.checkpoints, *layout_.state.clock);
  kept_[place]->set_wake([](void* self) noexcept { static_cast<Endpoint*>(self)->wake(); },
                         &observe_);
}

Result<bool> Keeping::open(std::size_t place) {
  Persistence& persistence = *kept_[place];
  const Result<bool> opened = persistence.open();
  if (!opened.ok()) return opened;
  ServedModel& model = layout_.models[place].served;
  model.instance_id = persistence.instance();
  if (config_.log) {
    model.durability = Durability::kLogged;
    model.log_capacity_bytes = config_.log_options.bytes;
  }
  model.keeper = {
      [](void* keeper) noexcept { return static_cast<Persistence*>(keeper)->request_checkpoint(); },
      &persistence};
  return true;
}

Result<bool> Keeping::add(std::size_t place, PlaceChange& entry) {
  if (const Status status = start(); !ok(status)) {
    return Error{status, "no thread to keep the other models on disk with", 0};
  }
  make(place, true);
  const Result<bool> opened = open(place);
  if (!opened.ok()) {
    sentence_ = opened.error().sentence;  // outlives the Persistence
    kept_[place].reset();
    return Error{opened.error().status, sentence_.c_str(), opened.error().number,
                 opened.error().is_errno};
  }
  if (const Status status = kept_[place]->start(); !ok(status)) {
    kept_[place].reset();
    return Error{status, "no thread to keep the model on disk with", 0};
  }
  entry.feed = &kept_[place]->feed();
  entry.keeper = kept_[place].get();
  return true;
}

// Makes the data folder of named models, because Persistence makes their own folders but no
// parents.
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
    const Result<bool> opened = open(i);
    if (!opened.ok()) return opened;
    layout_.observe.models[i].feed = &kept_[i]->feed();
    at_work_[i] = kept_[i].get();
  }
  observe_.set_duties(*this);
  return true;
}

Status Keeping::start() noexcept {
  if (started_) return Status::kOk;
  started_ = true;
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
  for (Persistence* const persistence : at_work_) {
    more = (persistence != nullptr && persistence->go_on()) || more;
  }
  return more;
}

void Keeping::on_wake() noexcept {
  for (Persistence* const persistence : at_work_) {
    if (persistence != nullptr) persistence->on_wake();
  }
}

}  // namespace windhover
