#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <sstream>

#include "windhover/tools/answers.h"
#include "windhover/tools/command_numbers.h"
#include "windhover/tools/commands.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

struct Options {
  std::string address;
  std::vector<std::string> vectors;
  std::string schema;
  std::vector<std::string> set;
  std::vector<double> quantiles;
  std::vector<double> thresholds;
  std::vector<double> outcomes;
  double interval = 0.9;
  std::uint64_t thompson = 0;
  bool json = false;
};

std::vector<double> parse_vector(const std::string& text) {
  std::vector<double> values;
  std::istringstream in(text + ',');
  std::string part;
  while (std::getline(in, part, ',')) {
    const std::optional<double> value = parse_number(part);
    if (!value) {
      throw UserError(fmt::format("--x \"{}\": \"{}\" is no finite number", text, part));
    }
    values.push_back(*value);
  }
  return values;
}

std::map<std::string, std::string> parse_fields(const std::vector<std::string>& set) {
  std::map<std::string, std::string> fields;
  for (const std::string& text : set) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UserError(fmt::format("--set \"{}\" is not allowed: NAME=VALUE is expected", text));
    }
    if (!fields.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
      throw UserError(fmt::format("--set gives {} twice", text.substr(0, equals)));
    }
  }
  return fields;
}

// The question's rows in the form the server takes.
struct Question {
  std::size_t rows = 0;
  std::vector<double> features;
  std::vector<std::uint32_t> indices;
  std::vector<std::uint32_t> row_ends;
};

// Rows given as numbers are dense; a server of sparse rows gets what is not 0 in them.
Question from_vectors(const std::vector<std::string>& vectors, const v1::Welcome& welcome) {
  Question q;
  for (const std::string& text : vectors) {
    const std::vector<double> x = parse_vector(text);
    if (x.size() != welcome.features()) {
      throw UserError(fmt::format("--x has {} numbers, the server's model has {} features",
                                  x.size(), welcome.features()));
    }
    ++q.rows;
    for (std::size_t j = 0; j < x.size(); ++j) {
      if (welcome.max_nonzeros() > 0) {
        if (x[j] == 0.0) continue;
        q.indices.push_back(static_cast<std::uint32_t>(j));
      }
      q.features.push_back(x[j]);
    }
    if (welcome.max_nonzeros() > 0)
      q.row_ends.push_back(static_cast<std::uint32_t>(q.indices.size()));
  }
  return q;
}

Question from_fields(const Options& o, const Client& client) {
  const Schema schema = Schema::from_file(o.schema);
  const std::map<std::string, std::string> fields = parse_fields(o.set);
  EncodedRow row = schema.encode(fields);
  check_schema(client, schema);
  for (const std::string& field : row.unlisted) {
    fmt::print(stderr, "note: {} = \"{}\" is not listed in {}; answered as for any other {}\n",
               field, fields.at(field), o.schema, field);
  }
  Question q;
  q.rows = 1;
  q.features = std::move(row.values);
  q.indices = std::move(row.indices);
  if (schema.sparse()) q.row_ends = {static_cast<std::uint32_t>(q.indices.size())};
  return q;
}

void check_probability(const char* option, double value) {
  if (value > 0 && value < 1) return;
  throw UserError(
      fmt::format("{} {} is not allowed: a number between 0 and 1 is expected", option, value));
}

void run(const Options& o) {
  if (o.vectors.empty() == o.schema.empty()) {
    throw UserError(
        "give the question either as --x NUMBERS or as --schema FILE with --set fields");
  }
  Client client;
  connect_or_throw(client, o.address);
  const v1::Welcome& welcome = client.welcome();
  const Question q = o.schema.empty() ? from_vectors(o.vectors, welcome) : from_fields(o, client);
  if (!o.outcomes.empty() && o.outcomes.size() != q.rows) {
    throw UserError(
        fmt::format("--outcome is given {} times for {} rows", o.outcomes.size(), q.rows));
  }
  check_probability("--interval", o.interval);
  for (const double p : o.quantiles) check_probability("--quantile", p);
  const bool classes = welcome.model() == v1::MODEL_KIND_LOGISTIC || welcome.classes() > 0;
  if (classes && !o.thresholds.empty()) {
    throw UserError("--threshold is for regression and counts; the server's model has classes");
  }
  PredictRequest request;
  request.rows = q.rows;
  request.features = q.features;
  request.indices = q.indices;
  request.row_ends = q.row_ends;
  request.quantile_probabilities = o.quantiles;
  request.thresholds = o.thresholds;
  request.outcomes = o.outcomes;
  request.interval_probability = o.interval;
  request.thompson_id = o.thompson;
  std::vector<PredictiveSummary> summaries;
  Provenance provenance;
  check_reply(client, client.predict(request, summaries, provenance), "predicting");

  if (o.json) {
    nlohmann::ordered_json out;
    out["predictions"] = nlohmann::ordered_json::array();
    for (const PredictiveSummary& s : summaries) {
      out["predictions"].push_back(to_json(s, request, welcome.model()));
    }
    out["provenance"] = to_json(provenance);
    fmt::print("{}\n", out.dump(2));
    return;
  }
  for (const PredictiveSummary& s : summaries) {
    fmt::print("{}\n", describe(s, request, welcome.model()));
  }
  fmt::print("{}\n", describe(provenance));
}

}  // namespace

void add_predict(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("predict", "Ask a server what it predicts for x, and how sure it is");
  auto options = std::make_shared<Options>();
  Options& o = *options;
  command->add_option("--to", o.address, "host:port or unix:/path")->required();
  command->add_option("--x", o.vectors, "Features, 1,2,3; may be given several times")
      ->allow_extra_args(false);
  command->add_option("--schema", o.schema, "TOML schema for --set");
  command->add_option("--set", o.set, "NAME=VALUE of a field of the schema")
      ->allow_extra_args(false);
  command->add_option("--quantile", o.quantiles, "Probability in (0, 1); several times");
  command->add_option("--threshold", o.thresholds,
                      "Regression and counts: P(y > t); several times");
  command->add_option("--outcome", o.outcomes, "y, to be scored; once a row");
  command->add_option("--interval", o.interval, "Probability of the interval")
      ->capture_default_str();
  command->add_option("--thompson", o.thompson, "Id of a fresh Thompson draw; 0: none")
      ->transform(whole_number());
  command->add_flag("--json", o.json, "One JSON object");
  command->callback([options] { run(*options); });
}

}  // namespace windhover
