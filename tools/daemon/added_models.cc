#include "windhover/tools/daemon/added_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "windhover/io/durable/error_text.h"
#include "windhover/runtime/engine.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/daemon/model_folder.h"
#include "windhover/tools/daemon/order_refusal.h"
#include "windhover/tools/error.h"
#include "windhover/tools/heap/heap_counter.h"

namespace windhover {
namespace {

constexpr const char* kBeginAnew = "; to begin without what the folder holds: --delete-data";

}  // namespace

AddedModels::AddedModels(const DaemonModels& models, Server& server, Learners& learners,
                         Watcher& watcher, DaemonLog& log, Clock& clock)
    : daemon_(models),
      config_(models.common().server()),
      folder_(config_.durable.folder),
      server_(server),
      learners_(learners),
      watcher_(watcher),
      log_(log),
      clock_(clock),
      order_(std::make_unique<ModelOrder>()) {}

AddedModels::~AddedModels() {
  stop();
  while (!models_.empty()) let_go(models_.front(), false);
}

AddedModels::Model* AddedModels::find(std::string_view name) {
  const auto found = std::ranges::find(models_, name, &Model::name);
  return found == models_.end() ? nullptr : &*found;
}

std::vector<std::string> AddedModels::check_names(const DaemonModels& models) {
  std::vector<std::string> told;
  const std::string folder(models.common().server().durable.folder);
  if (folder.empty()) return told;
  for (const DaemonModels::Model& model : models.all()) {
    const std::string& name = model.name;
    check_done(ModelFolder::put_right_new(folder, name, told));  // a new folder left unfinished
    if (ModelFolder::is_listed(folder, name)) {
      throw UserError(fmt::format(
          "the configuration has a model {0}, and {1}/{0}/added.toml says that one of this name "
          "was added by `windhover model add`: remove that file, and the configuration's goes on "
          "from what the other one has learned; or have the configuration name another",
          name, folder));
    }
    if (ModelFolder::is_aside(folder, name)) {
      throw UserError(fmt::format(
          "the configuration has a model {0}, and {1}/.{0}.before is one of this name that was "
          "being replaced when windhoverd ended: start once without {0} in the configuration, "
          "which puts that right, or remove {1}/.{0}.before",
          name, folder));
    }
  }
  return told;
}

void AddedModels::restore() {
  if (folder_.empty()) return;
  std::vector<std::string> told;
  const std::vector<FileFault> faults = ModelFolder::put_right(folder_, told);
  for (const FileFault& fault : faults) told.push_back(text_of(fault));
  for (const std::string& text : told) {
    LogLine line = log_.line(LogLevel::kWarning, "warning");
    log_.write(line.add("text", text));
  }
  for (const std::string& name : ModelFolder::added_in(folder_)) {
    ModelOutcome outcome;
    const auto refused = refusal_of([&] {
      std::string toml;
      check_done(ModelFolder::read_toml(folder_, name, toml));
      add(name, toml, false, outcome);
    });
    if (refused) outcome.say(refused->status, refused->sentence);
    tell("model_added", name, refused.has_value(), outcome);
  }
}

Status AddedModels::start() noexcept {
  ModelOrders* const orders = server_.models().orders();
  if (orders == nullptr) return Status::kOk;
  orders->begin();
  return thread_.start({.name = "wh-models"}, &AddedModels::run, this);
}

void AddedModels::stop() noexcept {
  if (!thread_.joinable()) return;
  server_.models().orders()->end();
  thread_.join();
}

void AddedModels::run(void* self) noexcept {
  leave_out_of_heap_calls();
  auto& models = *static_cast<AddedModels*>(self);
  ModelOrders& orders = *models.server_.models().orders();
  while (orders.wait(*models.order_)) {
    ModelOutcome outcome;
    outcome.number = models.order_->number;
    models.carry_out(*models.order_, outcome);
    orders.finish(outcome);
  }
}

void AddedModels::carry_out(const ModelOrder& order, ModelOutcome& outcome) noexcept {
  const char* event = "model_added";
  const auto refused = refusal_of([&] {
    const std::string name = order.name.data();
    const std::string toml(order.configuration());
    if (order.action == HostAction::kAdd) return add(name, toml, order.delete_data, outcome);
    Model* const there = find(name);
    if (there == nullptr) {
      throw OrderRefusal{Status::kInvalidArgument,
                         fmt::format("no model {} has been added: the others are those of the "
                                     "configuration file, and stay",
                                     name)};
    }
    if (order.action == HostAction::kReplace) {
      event = "model_replaced";
      return replace(*there, toml, order.delete_data, outcome);
    }
    event = "model_removed";
    remove(*there, order.delete_data, outcome);
  });
  if (refused) {
    outcome.say(refused->status, refused->sentence);
  } else {
    outcome.free_bytes = free_bytes();
  }
  tell(event, order.name.data(), refused.has_value(), outcome);
}

// Judges whether the model is possible and there is memory for it. `instead_of`, unless null,
// counts as gone.
AddedModels::Wanted AddedModels::judge(const std::string& name, const std::string& toml,
                                       const Model* instead_of, bool anew, ModelOutcome& outcome) {
  Wanted wanted{name, toml, daemon_.read_added(name, toml, !anew), 0};
  std::optional<std::size_t> place;
  if (instead_of != nullptr) place = instead_of->place;
  const Result<bool> possible = server_.models().check(name, wanted.config->engine(), place);
  if (!possible.ok()) refuse_order(possible.error());
  wanted.bytes = Arena::aligned(wanted.config->engine_bytes()) +
                 value_or_refuse(ServerModels::footprint(config_));
  outcome.needed_bytes = wanted.bytes;
  outcome.free_bytes = free_bytes() + (instead_of != nullptr ? instead_of->bytes : 0);
  if (outcome.needed_bytes <= outcome.free_bytes) return wanted;
  throw OrderRefusal{Status::kArenaTooSmall,
                     fmt::format("the model needs {} bytes, and {} of server.added.memory are free",
                                 outcome.needed_bytes, outcome.free_bytes)};
}

// Maps the memory of the model and makes its engine, which nothing refers to yet.
AddedModels::Model AddedModels::make(const Wanted& wanted) {
  const std::size_t engine_bytes = wanted.config->engine_bytes();
  Model model{wanted.name, wanted.toml, wanted.bytes, MappedBlock(engine_bytes),
              MappedBlock(wanted.bytes - Arena::aligned(engine_bytes))};
  if (!model.block.valid() || !model.store.valid()) {
    throw OrderRefusal{Status::kUnavailable, "the system has no memory for it"};
  }
  if (daemon_.common().process().prefault) {
    prefault(model.block.bytes());
    prefault(model.store.bytes());
  }
  const Result<Engine*> engine =
      Engine::create(wanted.config->engine(), model.block.bytes(), clock_);
  if (!engine.ok()) refuse_order(engine.error());
  model.engine = engine.value();
  model.schema_json = wanted.config->schema_json();
  return model;
}

void AddedModels::add(const std::string& name, const std::string& toml, bool anew,
                      ModelOutcome& outcome) {
  host(make(judge(name, toml, nullptr, anew, outcome)), anew, outcome);
}

// Has the server serve the model, with what its folder holds, or, `anew`, with nothing. After a
// refusal the folder is as it was. All that can fail comes first; then the list is written; only
// then may clients in. So the next start knows of every model that has acknowledged rows.
void AddedModels::host(Model model, bool anew, ModelOutcome& outcome) {
  ModelFolder folder(folder_, model.name);
  check_done(folder.begin(anew, model.toml));
  models_.push_back(std::move(model));
  Model& hosted = models_.back();
  const Result<std::size_t> place = server_.models().add(
      {hosted.name, hosted.engine, {}, hosted.schema_json}, hosted.store.bytes());
  if (!place.ok()) {
    models_.pop_back();
    const Error& error = place.error();
    const bool of_another = error.status == Status::kInvalidConfig && !folder_.empty() && !anew;
    throw OrderRefusal{error.status, error_text(error) + (of_another ? kBeginAnew : "")};
  }
  hosted.place = place.value();
  used_bytes_ += hosted.bytes;
  const auto refused = refusal_of([&] {
    watcher_.add(*hosted.engine, hosted.place);
    check_done(folder.keep());
  });
  if (refused) {
    watcher_.remove(hosted.place);
    forget(hosted);
    throw OrderRefusal{*refused};
  }
  // Cannot fail: the learners have as many places as the server.
  (void)learners_.add(*hosted.engine);
  server_.models().let_in(hosted.place);
  if (const FileFault fault = folder.delete_before(); fault.why != 0) {
    outcome.say(Status::kIoError,
                fmt::format("the model is served, but not all that was on disk of the one before "
                            "is deleted, which the next start tries again: {}",
                            text_of(fault)));
  }
}

// Logs an order: done, done in part, or refused.
void AddedModels::tell(const char* event, std::string_view name, bool refused,
                       const ModelOutcome& outcome) noexcept {
  const bool whole = ok(outcome.status);
  LogLine line =
      log_.line(whole ? LogLevel::kInfo : LogLevel::kWarning, refused ? "model_refused" : event);
  line.add("model", name).add("free_bytes", free_bytes());
  if (!whole) line.add(refused ? "refused" : "but", std::string_view(outcome.error.data()));
  log_.write(line);
}

}  // namespace windhover
