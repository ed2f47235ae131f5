#include "windhover/tools/daemon/added_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "windhover/runtime/engine.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/daemon/whole_file.h"
#include "windhover/tools/error.h"
#include "windhover/tools/heap/heap_counter.h"

namespace windhover {
namespace {

namespace fs = std::filesystem;

constexpr const char* kListFile = "added.toml";

// An order that is refused: nothing has changed.
struct Refused {
  Status status;
  std::string sentence;
};

[[noreturn]] void refuse_order(const Error& error) {
  std::string text = error.sentence;
  if (error.is_errno) {
    text += fmt::format(": {}", std::strerror(errno_of(error)));
  } else if (!std::isnan(error.number) && error.number != 0) {
    text += fmt::format("; it is {}", error.number);
  }
  throw Refused{error.status, text};
}

void check_written(int why, const std::string& path) {
  if (why != 0) throw Refused{Status::kIoError, fmt::format("{}: {}", path, std::strerror(why))};
}

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

std::string AddedModels::folder_of(const std::string& name) const {
  return folder_.empty() ? "" : folder_ + "/" + name;
}

AddedModels::Model* AddedModels::find(std::string_view name) {
  const auto found = std::ranges::find(models_, name, &Model::name);
  return found == models_.end() ? nullptr : &*found;
}

void AddedModels::restore() {
  if (folder_.empty() || !config_.added.enabled()) return;
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ignored)) {
    if (fs::exists(entry.path() / kListFile, ignored)) names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  for (const std::string& name : names) {
    std::ifstream in(WholeFile(folder_of(name), kListFile).path());
    std::ostringstream toml;
    toml << in.rdbuf();
    ModelOutcome outcome;
    try {
      add(name, toml.str(), 0, false, outcome);
    } catch (const Refused& refused) {
      outcome.say(refused.status, refused.sentence);
    } catch (const std::exception& error) {
      outcome.say(Status::kInvalidConfig, error.what());
    }
    tell("model_added", name, outcome);
  }
}

Status AddedModels::start() noexcept {
  ModelOrders* const orders = server_.model_orders();
  if (orders == nullptr) return Status::kOk;
  orders->begin();
  return thread_.start({.name = "wh-models"}, &AddedModels::run, this);
}

void AddedModels::stop() noexcept {
  if (!thread_.joinable()) return;
  server_.model_orders()->end();
  thread_.join();
}

void AddedModels::run(void* self) noexcept {
  leave_out_of_heap_calls();
  auto& models = *static_cast<AddedModels*>(self);
  ModelOrders& orders = *models.server_.model_orders();
  while (orders.wait(*models.order_)) {
    ModelOutcome outcome;
    outcome.number = models.order_->number;
    models.carry_out(*models.order_, outcome);
    orders.finish(outcome);
  }
}

void AddedModels::carry_out(const ModelOrder& order, ModelOutcome& outcome) noexcept {
  const char* event = "model_added";
  try {
    const std::string name = order.name.data();
    const std::string toml(order.configuration());
    Model* const there = find(name);
    if (order.action != HostAction::kAdd && there == nullptr) {
      throw Refused{Status::kInvalidArgument,
                    fmt::format("no model {} has been added: the others are those of the "
                                "configuration file, and stay",
                                name)};
    }
    if (order.action == HostAction::kAdd) {
      add(name, toml, 0, order.delete_data, outcome);
    } else if (order.action == HostAction::kReplace) {
      event = "model_replaced";
      replace(*there, toml, order.delete_data, outcome);
    } else {
      event = "model_removed";
      remove(*there, order.delete_data, outcome);
    }
    outcome.free_bytes = free_bytes();
  } catch (const Refused& refused) {
    outcome.say(refused.status, refused.sentence);
  } catch (const std::exception& error) {
    outcome.say(Status::kInvalidConfig, error.what());
  }
  tell(event, order.name.data(), outcome);
}

// What it takes, where there is so much besides `freed`.
std::size_t AddedModels::check_room(const DaemonConfig& config, std::size_t freed,
                                    ModelOutcome& outcome) const {
  outcome.needed_bytes =
      Arena::aligned(config.engine_bytes()) + value_or_refuse(Server::model_footprint(config_));
  outcome.free_bytes = free_bytes() + freed;
  if (outcome.needed_bytes <= outcome.free_bytes) return outcome.needed_bytes;
  throw Refused{Status::kArenaTooSmall,
                fmt::format("the model needs {} bytes, and {} of server.added.memory are free",
                            outcome.needed_bytes, outcome.free_bytes)};
}

void AddedModels::add(const std::string& name, const std::string& toml, std::size_t freed,
                      bool delete_data, ModelOutcome& outcome) {
  for (std::size_t i = 0; i < server_.places(); ++i) {
    if (server_.model_name(i) == name) {
      throw Refused{Status::kInvalidArgument, fmt::format("there is a model {} already", name)};
    }
  }
  const std::unique_ptr<DaemonConfig> config = daemon_.read_added(name, toml);
  const std::size_t bytes = check_room(*config, freed, outcome);
  if (delete_data && !folder_.empty()) fs::remove_all(folder_of(name));
  const std::size_t engine_bytes = config->engine_bytes();
  Model model{name, toml, bytes, MappedBlock(engine_bytes),
              MappedBlock(bytes - Arena::aligned(engine_bytes))};
  if (!model.block.valid() || !model.store.valid()) {
    throw Refused{Status::kUnavailable, "the system has no memory for it"};
  }
  if (daemon_.common().process().prefault) {
    prefault(model.block.bytes());
    prefault(model.store.bytes());
  }
  const Result<Engine*> engine = Engine::create(config->engine(), model.block.bytes(), clock_);
  if (!engine.ok()) refuse_order(engine.error());
  model.engine = engine.value();
  model.schema_json = config->schema_json();
  host(std::move(model), outcome);
}

void AddedModels::host(Model model, ModelOutcome&) {
  models_.push_back(std::move(model));
  Model& hosted = models_.back();
  const Result<std::size_t> place =
      server_.add_model({hosted.name, hosted.engine, {}, hosted.schema_json}, hosted.store.bytes());
  if (!place.ok()) {
    models_.pop_back();
    refuse_order(place.error());
  }
  hosted.place = place.value();
  used_bytes_ += hosted.bytes;
  // There are as many places with the learners as with the server.
  (void)learners_.add(*hosted.engine);
  watcher_.add(*hosted.engine, hosted.place);
  WholeFile list(folder_of(hosted.name), kListFile);
  if (const int why = list.write(hosted.toml); why != 0) {
    let_go(hosted, true);
    check_written(why, list.path());
  }
}

// Nobody touches it any more; `keep`: what it has learned is on disk.
void AddedModels::let_go(Model& model, bool keep) {
  server_.let_go_of_model(model.place);
  learners_.remove(*model.engine);
  watcher_.remove(model.place);
  if (keep && !folder_.empty()) (void)server_.checkpoint_at_rest(model.place);
  server_.forget_model(model.place);
  used_bytes_ -= model.bytes;
  models_.remove_if([&](const Model& one) { return &one == &model; });
}

void AddedModels::remove(Model& model, bool delete_data, ModelOutcome& outcome) {
  const std::string folder = folder_of(model.name);
  outcome.needed_bytes = model.bytes;
  WholeFile list(folder, kListFile);
  check_written(list.remove(), list.path());
  let_go(model, !delete_data);
  if (delete_data && !folder.empty()) fs::remove_all(folder);
}

// What can be judged is judged before the one that is there goes. Where the next one cannot be all
// the same, say because its folder is another configuration's, the one before is hosted again.
void AddedModels::replace(Model& before, const std::string& toml, bool delete_data,
                          ModelOutcome& outcome) {
  const std::string name = before.name;
  const std::string toml_before = before.toml;
  (void)check_room(*daemon_.read_added(name, toml), before.bytes, outcome);
  let_go(before, true);
  std::string why;
  Status status = Status::kInvalidConfig;
  try {
    return add(name, toml, 0, delete_data, outcome);
  } catch (const Refused& refused) {
    why = refused.sentence;
    status = refused.status;
  } catch (const std::exception& error) {
    why = error.what();
  }
  ModelOutcome again;
  add(name, toml_before, 0, false, again);
  throw Refused{status, why + "; the model before it serves again"};
}

void AddedModels::tell(const char* event, std::string_view name,
                       const ModelOutcome& outcome) noexcept {
  const bool done = ok(outcome.status);
  LogLine line =
      done ? log_.line(LogLevel::kInfo, event) : log_.line(LogLevel::kWarning, "model_refused");
  line.add("model", name).add("free_bytes", free_bytes());
  if (!done) line.add("refused", std::string_view(outcome.error.data()));
  log_.write(line);
}

}  // namespace windhover
