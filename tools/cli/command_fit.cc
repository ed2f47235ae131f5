#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>

#include "windhover/tools/cli/against_option.h"
#include "windhover/tools/cli/command_numbers.h"
#include "windhover/tools/cli/commands.h"
#include "windhover/tools/cli/engine_options.h"
#include "windhover/tools/cli/fit_report.h"
#include "windhover/tools/cli/interval_plot.h"
#include "windhover/tools/cli/progress.h"
#include "windhover/tools/cli/reading_options.h"
#include "windhover/tools/daemon/sampler_options.h"
#include "windhover/tools/error.h"
#include "windhover/tools/fit/fit.h"
#include "windhover/tools/program/manual.h"

namespace windhover {
namespace {

struct FitCommand {
  FitOptions fit;
  std::string reference;
  std::string prior_precision = "0";
  std::string prior_groups = "one";
  bool no_intercept = false;
  bool json = false;
  std::string plot;
};

IntervalPlot plot_of(const std::string& path, const nlohmann::ordered_json& result) {
  IntervalPlot plot{path, kEffectLabel, {}};
  const auto& parameters = result["parameters"];
  for (const auto& p : parameters) {
    const double scale = p["column_sd"].is_null() ? 0 : p["column_sd"].get<double>();
    if (scale == 0 && parameters.size() > 1) continue;  // an intercept's place there says nothing
    const auto in_sd = [&](const char* key) { return scale * p[key].get<double>(); };
    plot.intervals.push_back({p["name"], in_sd("mean"), in_sd("q5"), in_sd("q95")});
  }
  if (result.contains("category_effects")) show_category_effects(result["category_effects"], plot);
  return plot;
}

// A fit of many columns takes minutes: its progress is shown after two seconds.
nlohmann::ordered_json fit_and_tell(FitOptions& options) {
  using Clock = std::chrono::steady_clock;
  Progress bar(false);
  Clock::time_point drawn = Clock::now() + std::chrono::seconds(2);
  options.tell = [&](std::uint64_t steps) {
    const Clock::time_point now = Clock::now();
    if (now < drawn) return;
    drawn = now + std::chrono::milliseconds(200);
    const double part = static_cast<double>(steps) / static_cast<double>(options.steps);
    bar.draw_with_rest(part, "of the steps");
  };
  return fit(options);
}

void run_fit(FitCommand& o) {
  if (!o.plot.empty()) check_plot_path(o.plot);
  if (o.fit.data.target.empty() && !o.fit.schema) {
    throw UserError(
        fmt::format("which column is to be predicted? Say --target COLUMN, or --schema FILE; the "
                    "columns of {} are {}",
                    o.fit.path, fmt::join(columns_of(o.fit.path, o.fit.data), ", ")));
  }
  if (!o.reference.empty()) o.fit.reference = o.reference;
  o.fit.intercept = !o.no_intercept;
  o.fit.learn_prior_precision = o.prior_precision == "learn";
  o.fit.prior_group_a_feature = o.prior_groups == "features";
  if (!o.fit.learn_prior_precision) {
    const std::optional<double> value = parse_number(o.prior_precision);
    if (!value) {
      throw UserError(fmt::format(
          "--prior-precision \"{}\" is not allowed: a number greater than 0, 0 for the default, or "
          "\"learn\"",
          o.prior_precision));
    }
    o.fit.prior_precision = *value;
  }
  const nlohmann::ordered_json result = fit_and_tell(o.fit);
  if (o.json) {
    fmt::print("{}\n", result.dump(2));
  } else {
    fmt::print("{}", describe_fit(result));
  }
  if (!o.plot.empty()) draw_intervals(plot_of(o.fit.path, result), o.plot);
}

}  // namespace

void add_fit(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "fit", "Fit a file in-process and measure the draws against its exact posterior");
  auto options = std::make_shared<FitCommand>();
  FitCommand& o = *options;
  command->add_option("FILE", o.fit.path, "CSV, plain or .gz")->required();
  auto* target =
      command->add_option("--target", o.fit.data.target, "Column, by name or number from 1");
  command
      ->add_option("--schema", o.fit.schema,
                   "A complete TOML schema, instead of --target and what is found out of the file; "
                   "numbers enter by its shift and scale")
      ->excludes(target);
  add_reading_options(*command, o.fit.data);
  command
      ->add_option(
          "--model", o.fit.model,
          "Nothing: what the target asks for; of numbers what has predicted the file's rows best")
      ->check(CLI::IsMember(model_names()));
  command->add_flag("--standardize", o.fit.standardize, "Features to mean 0 and sd 1");
  command->add_flag("--no-intercept", o.no_intercept, "Add no constant as the last column");
  command
      ->add_option(
          "--noise-variance", o.fit.noise_variance,
          "Linear: of y given x; student-t: squared scale; log-normal: of log y; a number, "
          "\"learn\", or \"reference\"")
      ->capture_default_str();
  command->add_option("--degrees-of-freedom", o.fit.degrees_of_freedom, "Of student-t")
      ->capture_default_str();
  command->add_option("--classes", o.fit.classes, "Of softmax; 0: as many as the file shows")
      ->transform(whole_number(UINT32_MAX));
  command->add_option("--hidden", o.fit.hidden, "Units of a network's first hidden layer")
      ->transform(whole_number(UINT32_MAX))
      ->capture_default_str();
  command->add_option("--hidden2", o.fit.hidden2, "Of its second; 0: none")
      ->transform(whole_number(UINT32_MAX))
      ->capture_default_str();
  command->add_option("--activation", o.fit.activation, "Of its hidden units")
      ->transform(CLI::CheckedTransformer(
                      std::map<std::string, Activation>{{"tanh", Activation::kTanh},
                                                        {"relu", Activation::kRelu},
                                                        {"logistic", Activation::kLogistic}})
                      .description(""))
      ->type_name("{tanh,relu,logistic}")
      ->default_str("tanh");
  command
      ->add_option(
          "--prior-precision", o.prior_precision,
          "Of every coefficient but the intercept; a number, or \"learn\"; 0: an sd of 2.5 "
          "sd(y) / sd(x)")
      ->capture_default_str();
  command->add_option("--prior-groups", o.prior_groups, "What learns a precision of its own")
      ->check(CLI::IsMember({"one", "features"}))
      ->capture_default_str();
  command
      ->add_option("--intercept-precision", o.fit.intercept_precision,
                   "0: the same with the default prior, otherwise 0.1")
      ->capture_default_str();
  command->add_option("--sampler", o.fit.sampler)
      ->check(CLI::IsMember(sampler_names()))
      ->capture_default_str();
  add_options(*command, sampler_options(o.fit.sampler_config));
  add_options(*command, {horizon_option(o.fit.horizon.horizon)});
  add_options(*command, horizon_options(o.fit.horizon));
  command->add_option("--steps", o.fit.steps, "Of all chains together")
      ->transform(whole_number())
      ->capture_default_str();
  command->add_option("--seed", o.fit.seed)->transform(whole_number())->capture_default_str();
  command->add_option("--reference", o.reference, "JSON file with the exact posterior");
  add_against_option(*command, o.fit.against);
  command->add_flag("--json", o.json, "One JSON object");
  command->add_option("--plot", o.plot,
                      "FILE.svg that gets a picture of the parameters; -: the terminal");
  add_examples(*command,
               {{"windhover fit house.csv --target price",
                 "learns from the file, and measures the result against the exact posterior"},
                {"windhover fit house.csv --target price --json > fit.json",
                 "the same, with all numbers, for a script"}});
  command->callback([options] { run_fit(*options); });
}

}  // namespace windhover
