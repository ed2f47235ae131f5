#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "windhover/io/served_model.h"
#include "windhover/tools/cli/against_option.h"
#include "windhover/tools/cli/commands.h"
#include "windhover/tools/cli/interval_plot.h"
#include "windhover/tools/cli/server_options.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/category_effects.h"
#include "windhover/tools/client/column_units.h"
#include "windhover/tools/data/shown_text.h"
#include "windhover/tools/error.h"
#include "windhover/tools/program/manual.h"

namespace windhover {
namespace {

struct PosteriorOptions {
  ServerOptions server;
  std::string schema;
  std::vector<std::string> against;
  bool json = false;
  bool draws = false;
  std::string plot;
};

// What the parameters are called, and in which units they are shown.
struct Parameters {
  std::vector<std::string> names;
  std::optional<ColumnUnits> units;  // none: as the server has them
  std::size_t stride = 0;            // parameters of each class
  std::vector<CategoryGroup> groups;
};

Parameters parameters_of(const PosteriorOptions& o, const Client& client) {
  const v1::Welcome& welcome = client.welcome();
  Parameters parameters;
  std::vector<std::string>& names = parameters.names;
  const bool variances = welcome.model() == v1::MODEL_KIND_HETEROSCEDASTIC;
  const std::uint32_t outputs = variances ? 2 : std::max(welcome.classes(), 2U) - 1;
  const bool intercept = welcome.dimension() > outputs * welcome.features();
  std::optional<Schema> schema;
  if (!o.schema.empty()) {
    schema = Schema::from_file(o.schema);
    check_schema(client, *schema);
    names = schema->feature_names();
  } else {
    for (std::uint32_t j = 1; j <= welcome.features(); ++j) names.push_back(fmt::format("x{}", j));
  }
  if (intercept) names.emplace_back("intercept");
  // A server without Welcome.network shows that it has a network only by the number of parameters.
  if (welcome.network() || outputs * names.size() != welcome.dimension()) {
    names.clear();
    for (std::uint32_t j = 0; j < welcome.dimension(); ++j) {
      names.push_back(fmt::format("theta{}", j));
    }
    return parameters;
  }
  if (schema) {
    parameters.units.emplace(*schema, outputs, intercept);
    parameters.groups = category_groups(*schema, o.against);
  }
  parameters.stride = names.size();
  if (outputs == 1) return parameters;
  const std::vector<std::string> classes =
      schema ? schema->target_rule().class_names() : std::vector<std::string>{};
  std::vector<std::string> all;
  for (std::uint32_t c = 1; c <= outputs; ++c) {
    const bool is_named = c < classes.size();
    const std::string block = !variances ? (is_named ? classes[c] : fmt::to_string(c)) + ": "
                              : c == 1   ? "log variance: "
                                         : "";
    for (const std::string& name : names) all.push_back(block + name);
  }
  names = std::move(all);
  return parameters;
}

// A learner at work may publish between two questions about one posterior.
void ask_posterior(Client& client, const Parameters& parameters,
                   std::vector<ParameterSummary>& summaries, Provenance& provenance) {
  constexpr int kAttempts = 20;
  for (int i = 0; i < kAttempts; ++i) {
    check_reply(client, client.posterior(summaries, provenance), "asking for the posterior");
    if (summaries.size() != parameters.names.size()) {
      throw RunError(fmt::format("the server sent {} parameters where {} were expected",
                                 summaries.size(), parameters.names.size()));
    }
    if (!parameters.units || parameters.units->convert(client, summaries, provenance)) return;
  }
  throw RunError("the posterior changes from question to question; ask without --schema");
}

// The differences between categories of each field; `draws` as in served_category_effects().
std::vector<CategoryEffect> ask_effects(Client& client, const Parameters& parameters,
                                        const std::vector<ParameterSummary>& summaries,
                                        std::uint32_t& draws) {
  if (parameters.groups.empty()) return {};
  std::vector<double> means;
  for (const ParameterSummary& s : summaries) means.push_back(s.mean);
  return served_category_effects(client, parameters.groups, parameters.stride, means, draws);
}

// The name as a CSV cell, in quotes where it needs them.
std::string cell(const std::string& name) {
  if (name.find_first_of(",\"\n") == std::string::npos) return name;
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// Prints the draws as CSV, a line for each draw and a column for each parameter; the provenance
// goes to standard error.
void print_draws(Client& client, const Parameters& parameters) {
  const std::vector<std::string>& names = parameters.names;
  std::vector<double> theta;
  Provenance provenance;
  check_reply(client, client.draws(theta, provenance), "asking for the draws");
  if (theta.size() != provenance.draws * names.size()) {
    throw RunError(fmt::format("the server sent {} numbers where {} draws of {} were expected",
                               theta.size(), provenance.draws, names.size()));
  }
  std::string line;
  for (const std::string& name : names) line += (line.empty() ? "" : ",") + cell(name);
  fmt::print("{}\n", line);
  for (auto at = theta.begin(); at != theta.end();
       at += static_cast<std::ptrdiff_t>(names.size())) {
    if (parameters.units) parameters.units->convert(std::span(&*at, names.size()));
    fmt::print("{}\n", fmt::join(at, at + static_cast<std::ptrdiff_t>(names.size()), ","));
  }
  fmt::print(stderr, "{}\n", describe(provenance));
}

// Plots all on one axis: coefficients for one standard deviation of their column. An intercept
// means nothing there, and a category only beside the others of its field.
void plot_posterior(const PosteriorOptions& o, const Parameters& parameters,
                    const std::vector<ParameterSummary>& summaries, const Provenance& provenance,
                    const nlohmann::ordered_json& effects) {
  const std::optional<ColumnUnits>& units = parameters.units;
  IntervalPlot plot{fmt::format("{} rows, {}", provenance.n_eff, to_string(provenance.status)),
                    units ? kEffectLabel : "parameter, with its 90 % interval",
                    {}};
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    if (units && summaries.size() > 1 && units->is_intercept(i)) continue;
    const double scale = units ? units->scale(i) : 1;
    const ParameterSummary& s = summaries[i];
    plot.intervals.push_back({parameters.names[i], s.mean * scale, s.q5 * scale, s.q95 * scale});
  }
  show_category_effects(effects, plot);
  draw_intervals(plot, o.plot);
}

// While the stream drifts, prints the parameters with which the newest rows disagree most, the
// farthest first.
void print_moved(const std::vector<std::string>& names,
                 const std::vector<ParameterSummary>& summaries, const Provenance& provenance) {
  constexpr std::size_t kMost = 5;
  constexpr double kFar = 3;  // standard deviations
  if (provenance.reason != StatusReason::kDrift) return;
  std::vector<std::size_t> moved;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::abs(summaries[i].drift_score) > kFar) moved.push_back(i);
  }
  std::ranges::sort(moved, std::greater(),
                    [&](std::size_t i) { return std::abs(summaries[i].drift_score); });
  moved.resize(std::min(moved.size(), kMost));
  std::string text;
  for (const std::size_t i : moved) {
    text += fmt::format("{}{} {:+.1f} sd", text.empty() ? "" : ", ", shown_text(names[i]),
                        summaries[i].drift_score);
  }
  if (!text.empty()) fmt::print("moved in the newest tenth: {}\n", text);
}

void run_posterior(const PosteriorOptions& o) {
  if (!o.plot.empty()) check_plot_path(o.plot);
  Client client;
  connect_or_throw(client, o.server);
  if (client.welcome().dimension() > kMostDescribed) {
    throw UserError(
        fmt::format("the server's model has {} parameters, and up to {} are told one by one; ask "
                    "with `windhover predict` what they say of a row",
                    client.welcome().dimension(), kMostDescribed));
  }
  const Parameters parameters = parameters_of(o, client);
  const std::vector<std::string>& names = parameters.names;
  if (o.draws) return print_draws(client, parameters);
  std::vector<ParameterSummary> summaries;
  Provenance provenance;
  ask_posterior(client, parameters, summaries, provenance);
  std::uint32_t draws = 0;
  const std::vector<CategoryEffect> told = ask_effects(client, parameters, summaries, draws);
  const nlohmann::ordered_json effects = to_json(parameters.groups, told, names, draws);
  if (!o.plot.empty()) return plot_posterior(o, parameters, summaries, provenance, effects);
  if (o.json) {
    nlohmann::ordered_json out;
    out["parameters"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < names.size(); ++i) {
      nlohmann::ordered_json entry = {{"name", names[i]}};
      entry.update(to_json(summaries[i]));
      out["parameters"].push_back(std::move(entry));
    }
    if (!parameters.groups.empty()) out["category_effects"] = effects;
    out["provenance"] = to_json(provenance);
    fmt::print("{}\n", out.dump(2));
    return;
  }
  std::size_t width = 9;
  for (const std::string& name : names) width = std::max(width, shown_text(name).size());
  fmt::print("{:<{}} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>9} {:>8} {:>8} {:>7} {:>9}\n",
             "parameter", width, "mean", "sd", "sd_robust", "q5", "q50", "q95", "mcse_mean",
             "ess_bulk", "ess_tail", "r_hat", "prior");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ParameterSummary& s = summaries[i];
    fmt::print(
        "{:<{}} {:>10.4g} {:>10.4g} {:>10.4g} {:>10.4g} {:>10.4g} {:>10.4g} {:>9.2g} {:>8.0f} "
        "{:>8.0f} {:>7.3f} {:>9.4g}\n",
        shown_text(names[i]), width, s.mean, s.sd, s.sd_robust, s.q5, s.q50, s.q95, s.mcse_mean,
        s.ess_bulk, s.ess_tail, s.r_hat, s.prior_precision);
  }
  print_moved(names, summaries, provenance);
  fmt::print(
      "{}\n(prior: the precision of each parameter's{})\n({})\n{}", describe(provenance),
      parameters.units ? "; each for one unit of its column, the intercept where all are 0" : "",
      kChainsLegend, category_effects_table(effects));
}

}  // namespace

void add_posterior(CLI::App& app) {
  CLI::App* command = app.add_subcommand("posterior", "Show a server's posterior, by parameter");
  auto options = std::make_shared<PosteriorOptions>();
  add_server_options(*command, options->server);
  command->add_option(
      "--schema", options->schema,
      "TOML schema: names, and parameters for one unit of a column instead of one scale");
  add_against_option(*command, options->against)->needs("--schema");
  CLI::Option* json = command->add_flag("--json", options->json, "One JSON object");
  command->add_flag("--draws", options->draws, "The draws themselves, as CSV: a line each")
      ->excludes(json);
  command
      ->add_option("--plot", options->plot,
                   "Instead of the table a picture: FILE.svg; -: in the terminal")
      ->excludes(json)
      ->excludes("--draws");
  add_examples(*command,
               {{"windhover posterior --to 127.0.0.1:7172 --schema S.toml",
                 "each parameter with its interval, by the names of the schema"},
                {"windhover posterior --to 127.0.0.1:7172 --schema S.toml --draws > draws.csv",
                 "draws of all parameters together, for tools that take samples"}});
  command->callback([options] { run_posterior(*options); });
}

}  // namespace windhover
