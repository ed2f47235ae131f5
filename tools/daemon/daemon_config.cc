#include "windhover/tools/daemon/daemon_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "windhover/io/server.h"
#include "windhover/platform/arena.h"
#include "windhover/runtime/chosen_horizon.h"
#include "windhover/runtime/engine.h"
#include "windhover/tools/daemon/chosen_sizes.h"
#include "windhover/tools/daemon/daemon_values.h"
#include "windhover/tools/data/schema.h"
#include "windhover/tools/data/schema_json.h"
#include "windhover/tools/error.h"
#include "windhover/tools/kept/kept_needs.h"

namespace windhover {

DaemonConfig::DaemonConfig() : values_(std::make_unique<Values>()) { describe_options(); }
DaemonConfig::~DaemonConfig() = default;

void DaemonConfig::begin_as(const DaemonConfig& other) {
  *values_ = *other.values_;
  sources_ = other.sources_;
}

void DaemonConfig::set(std::string_view name, std::string_view given, const std::string& source) {
  const auto option = std::find_if(options_.begin(), options_.end(),
                                   [&](const DaemonOption& o) { return o.name == name; });
  if (option == options_.end()) throw UserError(fmt::format("{}: no option {}", source, name));
  if (!option->parse(given)) {
    throw UserError(fmt::format("{}: {} = \"{}\" is not allowed: {} is expected", source, name,
                                given, option->allowed));
  }
  sources_[option->name] = source;
}

namespace {

// For each feature, the index of its [[feature]] in the schema.
std::vector<std::uint32_t> fields_of(const Schema& schema) {
  std::vector<std::uint32_t> fields(schema.features());
  for (std::size_t rule = 0; rule < schema.rules().size(); ++rule) {
    std::fill(fields.begin() + static_cast<std::ptrdiff_t>(schema.first_column(rule)), fields.end(),
              static_cast<std::uint32_t>(rule));
  }
  return fields;
}

}  // namespace

void DaemonConfig::check() {
  try {
    judge();
  } catch (const UserError& error) {
    const std::string source = source_of(error.what());
    if (source.empty()) throw;
    throw UserError(fmt::format("{}: {}", source, error.what()));
  }
}

void DaemonConfig::judge() {
  Values& v = *values_;
  if (v.schema.empty() && v.prior_groups == Values::PriorGroups::kFields) {
    throw UserError("model.prior_groups = \"fields\" needs the fields of a model.schema");
  }
  if (!v.schema.empty()) {
    const Schema schema = Schema::from_file(v.schema);
    if (schema.is_draft()) {
      throw UserError(fmt::format(
          "model.schema = \"{}\" is a draft; complete it with `windhover schema`", v.schema));
    }
    check_model(schema.target_rule(), v.model, schema.target(), v.schema);
    v.target = schema.target_rule();
    v.schema_json = to_json_text(schema);
    const std::uint32_t classes = v.target.class_count();
    const std::uint32_t said = v.engine.model.classes;
    if (classes > 0 && said != classes && said != ModelConfig().classes) {
      throw UserError(
          fmt::format("model.classes = {} contradicts the schema {}, whose target {} has {} "
                      "categories; leave model.classes out",
                      said, v.schema, schema.target(), classes));
    }
    if (classes > 0) v.engine.model.classes = classes;
    v.engine.model.features = schema.features();
    v.engine.model.max_nonzeros = schema.sparse() ? schema.max_nonzeros() : 0;
    v.engine.schema_fingerprint = schema.fingerprint();
    v.engine.model.offset = v.engine.model.offset || schema.has_offset();
    v.engine.model.weight = v.engine.model.weight || schema.has_weight();
    if (v.prior_groups == Values::PriorGroups::kFields) v.prior_group = fields_of(schema);
    v.missing_features = schema.missing_features();
    if (v.target.shift && v.engine.standardize_target == Standardize::kChosen) {
      v.engine.standardize_target = Standardize::kGiven;
      v.engine.target_shift = *v.target.shift;
      v.engine.target_scale = *v.target.scale;
    }
  }
  if (v.prior_groups == Values::PriorGroups::kFeatures) {
    v.prior_group.resize(v.engine.model.features);
    std::iota(v.prior_group.begin(), v.prior_group.end(), 0U);
  }
  value_or_refuse(windhover::check(engine()));
  if (const std::string wrong = v.data.contradiction(v.server.frame_cap); !wrong.empty()) {
    throw UserError(wrong);
  }
  value_or_refuse(windhover::check(server(), engine()));
  v.process.check();
}

EngineConfig DaemonConfig::engine() const {
  EngineConfig engine = values_->engine;
  // The view is of the registry's names or of the option's text; both live as long as this object.
  engine.model.name =
      values_->model == "auto" ? values_->target.default_model() : std::string_view(values_->model);
  engine.sampler.name = values_->sampler;
  if (values_->silence_is_no_outcome)
    engine.labels.timeout_outcome = LabelsConfig{}.timeout_outcome;
  engine.model.prior_groups = values_->prior_group;
  engine.feature_shift = values_->feature_shift;
  engine.feature_scale = values_->feature_scale;
  engine.missing_features = values_->missing_features;
  const std::optional<KeptNeeds>& kept = values_->kept;
  choose_slack(engine, kept ? kept->waiting : 0);
  if (!follows_) values_->data.prepare(engine);  // a model that follows is not kept
  const bool kept_window = kept && kept->horizon == Horizon::kWindow;
  engine.horizon =
      values_->horizon.value_or(kept_window ? Horizon::kWindow : chosen_horizon(engine));
  engine.follows = follows_;
  engine.max_followers += followers_;
  if (engine.max_readers == 0) engine.max_readers = readers_of(server());
  engine.max_watchers = watchers_of(server()) + 1;  // one for the daemon
  return engine;
}

ServerConfig DaemonConfig::server() const {
  ServerConfig server = values_->server;
  server.observe.tcp_address = values_->observe.tcp_address;
  server.observe.unix_path = values_->observe.unix_path;
  server.query.tcp_address = values_->query.tcp_address;
  server.query.unix_path = values_->query.unix_path;
  ListenConfig& http = server.http.listen;
  http.tcp_address = values_->http.tcp_address;
  http.unix_path = values_->http.unix_path;
  if (http.tcp_address.empty() && http.tcp_port != 0) http.tcp_address = "127.0.0.1";
  server.identities_file = values_->identities_file;
  server.tls = {values_->tls.certificate, values_->tls.key, values_->tls.client_ca,
                values_->tls.memory_bytes};
  server.durable = values_->data.config();
  if (server.max_producers == 0) {
    server.max_producers = producers_of_each(
        model_files_.size() + (server.added.enabled() ? server.added.max_models : 0),
        values_->kept_producers);
  }
  return server;
}

std::string_view DaemonConfig::schema_json() const { return values_->schema_json; }

std::size_t DaemonConfig::engine_bytes() const {
  return value_or_refuse(Engine::footprint(engine()));
}

const ProcessOptions& DaemonConfig::process() const { return values_->process; }

void DaemonConfig::use_real_time_profile() { values_->process.use_real_time_profile(); }

const std::string& DaemonConfig::data_folder() const { return values_->data.folder; }

bool DaemonConfig::chooses_horizon() const { return !values_->horizon; }

std::string DaemonConfig::folder_of(std::string_view model) const {
  const std::string& folder = values_->data.folder;
  return model.empty() ? folder : fmt::format("{}/{}", folder, model);
}

void DaemonConfig::go_on_with_kept(std::string_view model) {
  if (!values_->data.folder.empty()) values_->kept = kept_needs(folder_of(model));
}

void DaemonConfig::make_room_for_producers(const std::vector<std::string>& models) {
  if (values_->data.folder.empty() || values_->server.max_producers != 0) return;
  const std::uint32_t chosen = server().max_producers;
  for (const std::string& model : models) {
    const std::optional<KeptNeeds> needs = kept_needs(folder_of(model));
    if (!needs || needs->producers <= chosen / 2) continue;
    values_->kept_producers = std::max(values_->kept_producers, kept_producers(folder_of(model)));
  }
}

namespace {

std::string text_of(const EngineConfig& engine) {
  const std::uint64_t rows = engine.window_size;
  switch (engine.horizon) {
    case Horizon::kAll:
      return "horizon=all: the posterior is of all rows, none is forgotten";
    case Horizon::kFading:
      return fmt::format(
          "horizon=fading rows={}: the posterior is of all rows, older ones count less and "
          "less, together as much as {} rows",
          rows, rows);
    case Horizon::kForgetting:
      return fmt::format(
          "horizon=forgetting rows={}: the posterior is of the last {} rows, older ones count less "
          "and less, together as much as {} rows",
          rows, 2 * rows, rows);
    case Horizon::kAdaptive:
      return fmt::format(
          "horizon=adaptive rows={}: the posterior is of the last {} rows, or of fewer, older ones "
          "counting less, where that has predicted better of late",
          rows, rows);
    case Horizon::kWindow:
      break;
  }
  return fmt::format(
      "horizon=window rows={}: the posterior is of the last {} rows, older ones are forgotten",
      rows, rows);
}

}  // namespace

std::string horizon_text(const DaemonConfig& config) {
  return text_of(config.engine()) + (config.chooses_horizon() ? " (chosen)" : "");
}

void refuse(const Error& error) {
  if (std::isnan(error.number)) throw UserError(error.sentence);
  throw UserError(fmt::format("{}; it is {}", error.sentence, error.number));
}

}  // namespace windhover
