#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "windhover/tools/cli/command_numbers.h"
#include "windhover/tools/cli/commands.h"
#include "windhover/tools/cli/interval_plot.h"
#include "windhover/tools/cli/question_numbers.h"
#include "windhover/tools/cli/server_options.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/question_file.h"
#include "windhover/tools/client/questions.h"
#include "windhover/tools/error.h"
#include "windhover/tools/program/manual.h"
#include "windhover/tools/program/say.h"

namespace windhover {
namespace {

struct PredictOptions {
  ServerOptions server;
  std::vector<std::string> vectors;
  std::string schema;
  std::vector<std::string> set;
  std::string file;
  std::vector<double> quantiles;
  std::vector<double> thresholds;
  std::vector<std::string> outcomes;
  std::vector<double> offsets;
  std::vector<double> trials;
  double interval = 0.9;
  std::uint64_t thompson = 0;
  bool json = false;
  std::string plot;
};

QuestionRows from_fields(const Schema& schema, const std::vector<WhatIf>& questions) {
  QuestionRows q;
  std::set<std::string> unlisted;
  for (const WhatIf& question : questions) {
    const EncodedRow row = schema.encode(question.fields);
    q.add(row, schema);
    for (const auto& [field, value] : row.unlisted) {
      if (!unlisted.insert(field + "=" + value).second) continue;
      say("note", unlisted_text(schema, field, value));
    }
  }
  return q;
}

void check_probability(const char* option, double value) {
  if (value > 0 && value < 1) return;
  throw UserError(
      fmt::format("{} {} is not allowed: a number between 0 and 1 is expected", option, value));
}

bool has_classes(const v1::Welcome& welcome) {
  return welcome.model() == v1::MODEL_KIND_LOGISTIC || welcome.classes() > 0;
}

// The options that say what is asked, and what is asked for.
void check_options(const PredictOptions& o, const v1::Welcome& welcome) {
  check_probability("--interval", o.interval);
  for (const double p : o.quantiles) check_probability("--quantile", p);
  if (has_classes(welcome) && !o.thresholds.empty()) {
    throw UserError("--threshold is for regression and counts; the server's model has classes");
  }
  if (!o.plot.empty()) check_plot_path(o.plot);
  if (o.file.empty()) return;
  if (!o.plot.empty()) throw UserError("--plot is not allowed with --file: its answers are CSV");
  if (!o.set.empty()) throw UserError("give either --file or --set, not both");
  if (!o.outcomes.empty()) throw UserError("--outcome is not allowed with --file");
  if (o.json) throw UserError("--json is not allowed with --file: its answers are CSV");
}

PredictRequest wanted(const PredictOptions& o) {
  PredictRequest request;
  request.quantile_probabilities = o.quantiles;
  request.thresholds = o.thresholds;
  request.interval_probability = o.interval;
  request.thompson_id = o.thompson;
  return request;
}

void run_file(const PredictOptions& o, Client& client) {
  QuestionFile file;
  file.path = o.file;
  file.wanted = wanted(o);
  file.on_skipped = [](const std::string& text) { say("skipped", text); };
  file.on_unlisted = [](const std::string& text) { say("note", text); };
  file.on_lines = [](std::string_view lines) {
    fmt::print("{}", lines);
    if (std::fflush(stdout) != 0) throw RunError("the answers cannot be written");
  };
  const QuestionReport report = answer_questions(client, Schema::from_file(o.schema), file);
  fmt::print(stderr,
             "{} questions answered, {} of them with categories not listed, {} rows skipped{}{}\n",
             report.answered, report.unlisted, report.skipped, report.answered > 0 ? "; " : "",
             report.answered > 0 ? describe(report.provenance) : "");
  if (report.skipped > 0) {
    throw RunError(fmt::format("{} rows of {} could not be read and are not answered",
                               report.skipped, o.file));
  }
}

// Plots a line for each question; where there are several classes, a line for each class of each
// question.
void plot_answers(const PredictOptions& o, const std::vector<PredictiveSummary>& answers,
                  const std::vector<WhatIf>& questions, const AnswerForm& form,
                  const std::string& target) {
  const double percent = 100 * o.interval;
  const bool two_classes = form.model == v1::MODEL_KIND_LOGISTIC;
  const bool classes = answers.front().classes > 0;
  IntervalPlot plot{"predicted",
                    fmt::format("{}, with its {:g} % interval",
                                two_classes || classes ? "probability" : target, percent),
                    {}};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const PredictiveSummary& s = answers[i];
    std::string name = i < questions.size() ? questions[i].label : o.vectors[i];
    if (name.empty()) name = target;
    for (std::size_t c = 0; c < s.classes; ++c) {
      const std::string of =
          c < form.class_names.size() ? form.class_names[c] : fmt::format("{}", c);
      plot.intervals.push_back({answers.size() > 1 ? name + ": " + of : of, s.probs[c],
                                s.probs_eti_lower[c], s.probs_eti_upper[c]});
    }
    if (s.classes > 0) continue;
    plot.intervals.push_back(
        {name, two_classes ? s.epred_mean : s.mean, s.interval_lower, s.interval_upper});
  }
  draw_intervals(plot, o.plot);
}

// An outcome is written as the target in a file of the schema, or as a number where there is no
// schema or its target is no class.
std::vector<double> outcomes_of(const std::vector<std::string>& texts,
                                const std::optional<Schema>& schema) {
  std::vector<double> values;
  for (const std::string& text : texts) {
    const TargetRule* rule = schema ? &schema->target_rule() : nullptr;
    std::optional<double> value;
    if (rule != nullptr) value = rule->encode(text, schema->parts().numbers);
    if (!value && (rule == nullptr || rule->class_names().empty())) value = parse_number(text);
    if (!value) {
      throw UserError(fmt::format("--outcome \"{}\" is not allowed: {} is expected", text,
                                  rule != nullptr ? rule->allowed() : "a number"));
    }
    values.push_back(*value);
  }
  return values;
}

void run_predict(const PredictOptions& o) {
  if (o.vectors.empty() == o.schema.empty()) {
    throw UserError(
        "give the question either as --x NUMBERS or as --schema FILE with --set fields or --file "
        "CSV");
  }
  if (!o.schema.empty() && !o.offsets.empty())
    throw UserError("--offset is for --x; with --schema give the field of the offset by --set");
  if (!o.schema.empty() && !o.trials.empty())
    throw UserError("--trials is for --x; with --schema give the field of the trials by --set");
  if (o.schema.empty() && !o.file.empty()) throw UserError("--file needs --schema FILE");
  Client client;
  connect_or_throw(client, o.server);
  const v1::Welcome& welcome = client.welcome();
  check_options(o, welcome);
  if (!o.file.empty()) return run_file(o, client);
  std::optional<Schema> schema;
  if (!o.schema.empty()) schema = Schema::from_file(o.schema);
  std::vector<WhatIf> questions;
  QuestionRows q;
  if (o.schema.empty()) {
    q = from_vectors(o.vectors, welcome);
    q.offsets = o.offsets;
    q.trials = o.trials;
  } else {
    questions = what_ifs(o.set, std::max(welcome.max_query_rows(), 1U));
    q = from_fields(*schema, questions);
    check_schema(client, *schema);
  }
  const std::vector<double> outcomes = outcomes_of(o.outcomes, schema);
  if (!outcomes.empty() && outcomes.size() != q.rows) {
    throw UserError(
        fmt::format("--outcome is given {} times for {} rows", outcomes.size(), q.rows));
  }
  if (!q.offsets.empty() && q.offsets.size() != q.rows)
    throw UserError(
        fmt::format("--offset is given {} times for {} rows", q.offsets.size(), q.rows));
  if (!q.trials.empty() && q.trials.size() != q.rows)
    throw UserError(fmt::format("--trials is given {} times for {} rows", q.trials.size(), q.rows));
  PredictRequest request = wanted(o);
  request.outcomes = outcomes;
  q.put_into(request);
  std::vector<PredictiveSummary> summaries;
  Provenance provenance;
  check_reply(client, client.predict(request, summaries, provenance), "predicting");
  AnswerForm form{request, welcome.model()};
  if (schema && has_classes(welcome)) form.class_names = schema->target_rule().class_names();

  if (o.json) {
    nlohmann::ordered_json out;
    out["predictions"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < summaries.size(); ++i) {
      auto answer = to_json(summaries[i], form);
      if (i < questions.size()) answer["question"] = questions[i].fields;
      out["predictions"].push_back(std::move(answer));
    }
    out["provenance"] = to_json(provenance);
    fmt::print("{}\n", out.dump(2));
  } else {
    for (std::size_t i = 0; i < summaries.size(); ++i) {
      if (questions.size() > 1) fmt::print("{}: ", questions.at(i).label);
      fmt::print("{}\n", describe(summaries[i], form));
    }
    fmt::print("{}\n", describe(provenance));
  }
  if (!o.plot.empty()) plot_answers(o, summaries, questions, form, schema ? schema->target() : "y");
}

}  // namespace

void add_predict(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("predict", "Ask a server what it predicts for x, and how sure it is");
  auto options = std::make_shared<PredictOptions>();
  PredictOptions& o = *options;
  add_server_options(*command, o.server);
  command
      ->add_option("--x", o.vectors,
                   "Features, 1,2,3; may be given several times; nan: there is no value, where the "
                   "server's schema takes it")
      ->allow_extra_args(false);
  command->add_option("--schema", o.schema, "TOML schema for --set and --file");
  command
      ->add_option(
          "--set", o.set,
          "NAME=VALUE of a field of the schema; a field given several times takes each value "
          "in turn")
      ->allow_extra_args(false);
  command->add_option("--file", o.file,
                      "CSV of questions, plain or .gz; -: standard input; answered as CSV");
  command->add_option("--quantile", o.quantiles, "Probability in (0, 1); several times");
  command->add_option("--threshold", o.thresholds,
                      "Regression and counts: P(y > t); several times");
  command->add_option("--outcome", o.outcomes,
                      "y, to be scored; once a row; with --schema as in a file");
  command->add_option(
      "--offset", o.offsets,
      "With --x: of a model with offsets, added to the linear predictor; once a row");
  command->add_option("--trials", o.trials,
                      "With --x: of a binomial model, how many trials y is of; once a row");
  command->add_option("--interval", o.interval, "Probability of the interval")
      ->capture_default_str();
  command->add_option("--thompson", o.thompson, "Id of a fresh Thompson draw; 0: none")
      ->transform(whole_number());
  command->add_flag("--json", o.json, "One JSON object");
  command->add_option("--plot", o.plot, "FILE.svg that gets a picture too; -: the terminal");
  add_examples(
      *command,
      {{"windhover predict --to 127.0.0.1:7172 --schema S.toml --set sqm=85 --set district=north",
        "one question, a field each"},
       {"windhover predict --to 127.0.0.1:7172 --schema S.toml --file questions.csv > answers.csv",
        "a question a row; the answers are columns behind those of the file"}});
  command->callback([options] { run_predict(*options); });
}

}  // namespace windhover
