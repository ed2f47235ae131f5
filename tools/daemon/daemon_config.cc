#include "windhover/tools/daemon/daemon_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>
#include <thread>
#include <type_traits>
#include <utility>

#include "windhover/io/server.h"
#include "windhover/platform/arena.h"
#include "windhover/runtime/engine.h"
#include "windhover/samplers/registry.h"
#include "windhover/tools/daemon/data_options.h"
#include "windhover/tools/daemon/sampler_options.h"
#include "windhover/tools/data/schema.h"
#include "windhover/tools/error.h"

namespace windhover {

struct DaemonConfig::Values {
  EngineConfig engine;
  ServerConfig server;
  std::string schema;
  std::string model = "auto";
  TargetRule target;  // of the schema
  std::string sampler = "calibrated";
  std::vector<double> feature_shift;
  std::vector<double> feature_scale;
  enum class PriorGroups : std::uint8_t { kOne, kFeatures, kFields };
  PriorGroups prior_groups = PriorGroups::kOne;
  std::vector<std::uint32_t> prior_group;  // of each feature
  struct Listen {
    std::string tcp_address = "127.0.0.1";
    std::string unix_path;
  };
  Listen observe, query;
  DataOptions data;
  bool prefault = true;
  bool lock_memory = false;
  ThreadOptions learner{.name = "wh-learner"};
  ThreadOptions observe_thread = Server::observe_thread_options();
  ThreadOptions query_thread = Server::query_thread_options();
  IdleStrategy::Kind idle = IdleStrategy::kPark;
};

namespace {

using Form = DaemonOption::Form;

// A value as the text that a flag would carry; nothing when it is of another form.
std::optional<std::string> text_of(const toml::node& node, Form form) {
  switch (form) {
    case Form::kBoolean:
      if (const auto* value = node.as_boolean()) return value->get() ? "true" : "false";
      return std::nullopt;
    case Form::kNumber:
      if (const auto* value = node.as_integer()) return fmt::format("{}", value->get());
      if (const auto* value = node.as_floating_point()) return fmt::format("{}", value->get());
      return std::nullopt;
    case Form::kText:
      if (const auto* value = node.as_string()) return value->get();
      return std::nullopt;
    case Form::kNumbers: {
      const toml::array* list = node.as_array();
      if (list == nullptr) return std::nullopt;
      std::vector<std::string> parts;
      for (const toml::node& element : *list) {
        const auto part = text_of(element, Form::kNumber);
        if (!part) return std::nullopt;
        parts.push_back(*part);
      }
      return fmt::format("{}", fmt::join(parts, ","));
    }
    case Form::kNumberOrText: {
      const auto number = text_of(node, Form::kNumber);
      return number ? number : text_of(node, Form::kText);
    }
  }
  return std::nullopt;
}

Choices<std::string> model_names() {
  Choices<std::string> names = names_of(model_registry());
  names.emplace_back("auto", "auto");
  return names;
}

// Calls visit(dotted name, node) for every leaf.
void for_each_leaf(const toml::table& table, const std::string& prefix, const auto& visit) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (node.is_table()) {
      for_each_leaf(*node.as_table(), name + ".", visit);
    } else {
      visit(name, node);
    }
  }
}

}  // namespace

void DaemonConfig::describe_options() {
  Values& v = *values_;
  ModelConfig& m = v.engine.model;
  SamplerConfig& s = v.engine.sampler;
  const auto add = [this](std::vector<DaemonOption> more) {
    std::ranges::move(more, std::back_inserter(options_));
  };
  options_ = {
      text("model.schema", "schema of the rows: sets features and max_nonzeros", v.schema),
      choice("model.name", "likelihood; auto: what the schema's target asks for, else linear",
             v.model, model_names()),
      number("model.features", "columns of a row, without the intercept", m.features),
      number("model.max_nonzeros", "of a sparse row; 0: rows are dense", m.max_nonzeros),
      boolean("model.intercept", "a constant 1, the last coefficient", m.intercept),
      number_or("learn", "model.prior_precision",
                "of the coefficients; 0: an sd of 2.5 sd(y) / sd(x); \"learn\": from the rows",
                m.prior_precision, m.learn_prior_precision),
      choice("model.prior_groups", "what learns a prior precision of its own", v.prior_groups,
             Choices<Values::PriorGroups>{{"one", Values::PriorGroups::kOne},
                                          {"features", Values::PriorGroups::kFeatures},
                                          {"fields", Values::PriorGroups::kFields}}),
      number("model.prior_precision_min", "of a learned one", m.prior_precision_min),
      number("model.prior_precision_max", "of a learned one", m.prior_precision_max),
      number("model.intercept_precision", "prior precision of the intercept; 0: chosen",
             m.intercept_precision),
      number("model.noise_variance", "of y given x; student-t: squared scale; 0: learned",
             m.noise_variance),
      number("model.degrees_of_freedom", "student-t: 3 to 1000", m.degrees_of_freedom),
      number("model.classes", "softmax: 2 to 32; targets count from 0", m.classes),
      number("model.hidden", "networks: units of the first hidden layer", m.hidden),
      number("model.hidden2", "networks: of the second; 0: none", m.hidden2),
      choice("model.activation", "networks: of the hidden units", m.activation,
             Choices<Activation>{{"tanh", Activation::kTanh},
                                 {"relu", Activation::kRelu},
                                 {"logistic", Activation::kLogistic}}),
      choice("sampler.name", "how the chains move", v.sampler, names_of(sampler_registry())),
  };
  add(sampler_options(s));
  add(horizon_options(v.engine));
  add({
      number("engine.window_slack", "rows the writer may be ahead", v.engine.window_slack),
      number("engine.max_frame_rows", "rows of one frame", v.engine.max_frame_rows),
      number("engine.draws_per_observation",
             "replay ratio R: minibatch rows a chain draws for each new row; 0: no target",
             v.engine.draws_per_observation),
      choice("engine.standardize", "location and scale of features", v.engine.standardize,
             Choices<Standardize>{{"chosen", Standardize::kChosen},
                                  {"off", Standardize::kOff},
                                  {"cold-start", Standardize::kColdStart},
                                  {"scaled", Standardize::kScaled},
                                  {"given", Standardize::kGiven}}),
      numbers("engine.feature_shift", "standardize = \"given\"", v.feature_shift),
      numbers("engine.feature_scale", "standardize = \"given\"", v.feature_scale),
      choice("engine.standardize_target", "location and scale of y", v.engine.standardize_target,
             Choices<Standardize>{{"chosen", Standardize::kChosen},
                                  {"off", Standardize::kOff},
                                  {"cold-start", Standardize::kColdStart},
                                  {"given", Standardize::kGiven}}),
      number("engine.target_shift", "standardize_target = \"given\"", v.engine.target_shift),
      number("engine.target_scale", "standardize_target = \"given\"", v.engine.target_scale),
      number("engine.retained_draws", "draws in every snapshot", v.engine.retained_draws),
      number("engine.max_readers", "the server takes its own of these", v.engine.max_readers),
      number("engine.max_query_rows", "rows of one question", v.engine.max_query_rows),
      number("engine.seed", "of all random numbers", v.engine.seed),
      text("server.observe.tcp_address", "numeric; empty: no TCP", v.observe.tcp_address),
      number("server.observe.tcp_port", "0: any free one", v.server.observe.tcp_port),
      text("server.observe.unix_path", "empty: none", v.observe.unix_path),
      text("server.query.tcp_address", "numeric; empty: no TCP", v.query.tcp_address),
      number("server.query.tcp_port", "0: any free one", v.server.query.tcp_port),
      text("server.query.unix_path", "empty: none", v.query.unix_path),
      boolean("server.allow_any_address", "listen beyond loopback, without authentication",
              v.server.allow_any_address),
      number("server.max_sessions", "connections at a time, on each endpoint",
             v.server.max_sessions),
      number("server.max_producers", "that will ever be told apart", v.server.max_producers),
      number("server.max_producers_per_connection", "that it may speak for at a time, 1 to 64",
             v.server.max_producers_per_connection),
      number("server.producer_timeout",
             "ms without its rows, then another may speak for a producer",
             v.server.producer_timeout),
      number("server.frame_cap", "bytes of one request", v.server.frame_cap),
      number("server.idle_timeout", "ms without a byte from the peer", v.server.idle_timeout),
      number("server.write_timeout", "ms with an answer not taken", v.server.write_timeout),
      number("server.drain_timeout", "ms that stopping may take", v.server.drain_timeout),
  });
  add(data_options(v.data));
  add({
      boolean("process.prefault", "touch the whole block before ready", v.prefault),
      boolean("process.lock_memory", "keep it in RAM, where permitted", v.lock_memory),
      choice("process.learner_idle", "what the learner does with nothing to do", v.idle,
             Choices<IdleStrategy::Kind>{{"park", IdleStrategy::kPark},
                                         {"spin", IdleStrategy::kSpin}}),
      number("process.learner_threads", "that move the chains; more than 1 with a window only",
             v.engine.learner_threads),
      number("process.learner_cpu", "of the first; -1: anywhere", v.learner.cpu),
      number("process.observe_cpu", "-1: anywhere", v.observe_thread.cpu),
      number("process.query_cpu", "-1: anywhere", v.query_thread.cpu),
      number("process.learner_priority", "SCHED_FIFO 1..99; 0: ordinary", v.learner.fifo_priority),
      number("process.observe_priority", "SCHED_FIFO 1..99; 0: ordinary",
             v.observe_thread.fifo_priority),
      number("process.query_priority", "SCHED_FIFO 1..99; 0: ordinary",
             v.query_thread.fifo_priority),
  });
}

DaemonConfig::DaemonConfig() : values_(std::make_unique<Values>()) { describe_options(); }
DaemonConfig::~DaemonConfig() = default;

void DaemonConfig::set(std::string_view name, std::string_view given, const std::string& source) {
  const auto option = std::find_if(options_.begin(), options_.end(),
                                   [&](const DaemonOption& o) { return o.name == name; });
  if (option == options_.end()) throw UserError(fmt::format("{}: no option {}", source, name));
  if (!option->parse(given)) {
    throw UserError(fmt::format("{}: {} = \"{}\" is not allowed: {} is expected", source, name,
                                given, option->allowed));
  }
}

void DaemonConfig::read_file(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream content;
  content << in.rdbuf();
  if (!in || content.bad() || std::filesystem::is_directory(path)) {
    throw UserError(fmt::format("cannot read the configuration {}", path));
  }
  read_toml(content.str(), path);
}

void DaemonConfig::read_toml(std::string_view content, const std::string& path) {
  toml::table document;
  try {
    document = toml::parse(content, path);
  } catch (const toml::parse_error& error) {
    throw UserError(fmt::format("{}, line {}: {}", path, error.source().begin.line,
                                std::string(error.description())));
  }
  for_each_leaf(document, "", [&](const std::string& name, const toml::node& node) {
    const auto option = std::find_if(options_.begin(), options_.end(),
                                     [&](const DaemonOption& o) { return o.name == name; });
    const std::string place = fmt::format("{}, line {}", path, node.source().begin.line);
    if (option == options_.end()) {
      const std::string table = name.substr(0, name.find('.') + 1);
      std::vector<std::string> near;
      for (const DaemonOption& o : options_) {
        if (o.name.starts_with(table)) near.push_back(o.name);
      }
      throw UserError(
          near.empty() || table.empty()
              ? fmt::format("{}: unknown key {}; the tables are model, sampler, engine, "
                            "server, data and process",
                            place, name)
              : fmt::format("{}: unknown key {}; there are {}", place, name,
                            fmt::join(near, ", ")));
    }
    const std::optional<std::string> value = text_of(node, option->form);
    if (!value) {
      throw UserError(fmt::format("{}: {} must be {}", place, name, option->allowed));
    }
    set(name, *value, place);
  });
}

namespace {

// The place of each feature's [[feature]] in the schema.
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
    if (v.prior_groups == Values::PriorGroups::kFields) v.prior_group = fields_of(schema);
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
  value_or_refuse(windhover::check(server(), engine()));
  for (const auto& [name, options] :
       {std::pair<const char*, const ThreadOptions*>{"learner", &v.learner},
        {"observe", &v.observe_thread},
        {"query", &v.query_thread}}) {
    const int cpus = static_cast<int>(std::thread::hardware_concurrency());
    if (options->cpu < -1 || options->cpu >= cpus) {
      throw UserError(fmt::format("process.{}_cpu = {} is not allowed: -1 to {} is expected", name,
                                  options->cpu, cpus - 1));
    }
    if (options->fifo_priority < 0 || options->fifo_priority > 99) {
      throw UserError(fmt::format("process.{}_priority = {} is not allowed: 0 to 99 is expected",
                                  name, options->fifo_priority));
    }
  }
}

EngineConfig DaemonConfig::engine() const {
  EngineConfig engine = values_->engine;
  // A view of the registry's own names or of the option's text, which lives as long as this.
  engine.model.name =
      values_->model == "auto" ? values_->target.default_model() : std::string_view(values_->model);
  engine.sampler.name = values_->sampler;
  engine.model.prior_groups = values_->prior_group;
  engine.feature_shift = values_->feature_shift;
  engine.feature_scale = values_->feature_scale;
  values_->data.prepare(engine);
  return engine;
}

ServerConfig DaemonConfig::server() const {
  ServerConfig server = values_->server;
  server.observe.tcp_address = values_->observe.tcp_address;
  server.observe.unix_path = values_->observe.unix_path;
  server.query.tcp_address = values_->query.tcp_address;
  server.query.unix_path = values_->query.unix_path;
  server.durable = values_->data.config();
  return server;
}

std::size_t DaemonConfig::engine_bytes() const {
  return value_or_refuse(Engine::footprint(engine()));
}
std::size_t DaemonConfig::server_bytes() const {
  return value_or_refuse(Server::footprint(server(), engine()));
}
std::size_t DaemonConfig::block_bytes() const {
  constexpr std::size_t kAlignment = Arena::kAlignment;
  return (engine_bytes() + kAlignment - 1) / kAlignment * kAlignment + server_bytes();
}

bool DaemonConfig::prefault() const { return values_->prefault; }
bool DaemonConfig::lock_memory() const { return values_->lock_memory; }
ThreadOptions DaemonConfig::learner_thread() const { return values_->learner; }
ThreadOptions DaemonConfig::observe_thread() const { return values_->observe_thread; }
ThreadOptions DaemonConfig::query_thread() const { return values_->query_thread; }
IdleStrategy::Kind DaemonConfig::learner_idle() const { return values_->idle; }

void DaemonConfig::use_real_time_profile() {
  Values& v = *values_;
  const int cpus = static_cast<int>(std::thread::hardware_concurrency());
  // The learner always has work; at a FIFO priority it would shut out whatever shares its
  // processor.
  if (cpus >= 2) {
    v.learner.cpu = cpus - 1;
    v.query_thread.cpu = cpus - 2;
    v.observe_thread.cpu = cpus >= 3 ? cpus - 3 : cpus - 2;
  }
  v.query_thread.fifo_priority = 20;
  v.observe_thread.fifo_priority = 10;
  v.lock_memory = true;
}

std::string DaemonConfig::to_toml() const {
  std::string out;
  std::string table;
  for (const DaemonOption& option : options_) {
    const std::size_t dot = option.name.rfind('.');
    if (option.name.substr(0, dot) != table) {
      table = option.name.substr(0, dot);
      out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", table);
    }
    out += fmt::format("{:<40} # {}\n", option.name.substr(dot + 1) + " = " + option.print(),
                       option.help);
  }
  return out;
}

std::string horizon_text(const EngineConfig& engine) {
  const std::uint64_t rows = engine.window_size;
  switch (engine.horizon) {
    case Horizon::kAll:
      return "horizon=all: the posterior is of all rows, none is forgotten";
    case Horizon::kForgetting:
      return fmt::format(
          "horizon=forgetting rows={}: the posterior is of all rows, older ones count less and "
          "less, together as much as {} rows",
          rows, rows);
    case Horizon::kWindow:
      break;
  }
  return fmt::format(
      "horizon=window rows={}: the posterior is of the last {} rows, older ones are forgotten",
      rows, rows);
}

void refuse(const Error& error) {
  if (std::isnan(error.number)) throw UserError(error.sentence);
  throw UserError(fmt::format("{}; it is {}", error.sentence, error.number));
}

}  // namespace windhover
