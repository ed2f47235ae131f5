#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "windhover/tools/cli/command_numbers.h"
#include "windhover/tools/cli/commands.h"
#include "windhover/tools/cli/engine_options.h"
#include "windhover/tools/cli/reading_options.h"
#include "windhover/tools/daemon/sampler_options.h"
#include "windhover/tools/error.h"
#include "windhover/tools/evaluate/evaluate.h"
#include "windhover/tools/program/manual.h"

namespace windhover {
namespace {

struct EvaluateCommand {
  EvaluateOptions evaluate;
  bool json = false;
};

void run_evaluate(EvaluateCommand& o) {
  if (o.evaluate.data.target.empty() && !o.evaluate.schema) {
    throw UserError(fmt::format(
        "which column is to be predicted? Say --target COLUMN, or --schema FILE; the "
        "columns of {} are {}",
        o.evaluate.path, fmt::join(columns_of(o.evaluate.path, o.evaluate.data), ", ")));
  }
  const nlohmann::ordered_json result = evaluate(o.evaluate);
  fmt::print("{}\n", o.json ? result.dump(2) : describe_evaluation(result));
}

}  // namespace

void add_evaluate(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "evaluate",
      "Take a file as a stream: predict each row before learning from it, and score it");
  auto options = std::make_shared<EvaluateCommand>();
  EvaluateCommand& o = *options;
  command->add_option("FILE", o.evaluate.path, "CSV, plain or .gz, in the order of time")
      ->required();
  auto* target =
      command->add_option("--target", o.evaluate.data.target, "Column, by name or number from 1");
  command
      ->add_option("--schema", o.evaluate.schema,
                   "A complete TOML schema, instead of --target and what is found out of the file")
      ->excludes(target);
  add_reading_options(*command, o.evaluate.data);
  command
      ->add_option(
          "--model", o.evaluate.model,
          "Nothing: what the target asks for; of numbers what has predicted the file's rows best")
      ->check(CLI::IsMember(model_names()));
  command->add_option("--chunk", o.evaluate.chunk, "Rows that arrive together, 1 to 4096")
      ->transform(whole_number(UINT32_MAX))
      ->capture_default_str();
  add_options(*command, {horizon_option(o.evaluate.horizon)});
  add_options(*command, horizon_options(o.evaluate.engine));
  command->add_flag(
      "--against", o.evaluate.against,
      "Also a Kalman filter and SGD, each with what would have been its best setting");
  command->add_option("--seed", o.evaluate.seed)->transform(whole_number())->capture_default_str();
  command->add_flag("--json", o.json, "One JSON object");
  add_examples(*command,
               {{"windhover evaluate house.csv --target price",
                 "what the predictions would have been worth, and whether their intervals held"},
                {"windhover evaluate house.csv --target price --chunk 100 --against",
                 "beside a Kalman filter and SGD, 100 rows at a time"}});
  command->callback([options] { run_evaluate(*options); });
}

}  // namespace windhover
