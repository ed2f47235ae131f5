#include "windhover/tools/cli/reading_options.h"

#include <string>

#include "windhover/tools/cli/command_numbers.h"
#include "windhover/tools/data/table.h"
#include "windhover/tools/error.h"

namespace windhover {

void add_reading_options(CLI::App& command, InspectOptions& o) {
  command.add_option_function<std::string>(
      "--separator", [&o](const std::string& text) { o.separator = parse_separator(text); },
      "One character, \"tab\" or \"space\"; nothing: found");
  auto* header = command.add_flag_callback(
      "--header", [&o] { o.header = true; }, "The first row names the columns; nothing: found");
  command
      .add_flag_callback(
          "--no-header", [&o] { o.header = false; }, "The first row is data; columns are numbers")
      ->excludes(header);
  command
      .add_option_function<std::string>(
          "--decimal", [&o](const std::string& text) { o.decimal = text.front(); },
          "The decimal sign, . or ,; nothing: found")
      ->check(CLI::IsMember({".", ","}));
  auto* offset = command.add_option_function<std::string>(
      "--offset",
      [&o](const std::string& column) {
        o.offset = {column, false};
      },
      "A column that is added to the linear predictor of its row, in units of the target, log "
      "counts or log-odds; no feature");
  command
      .add_option_function<std::string>(
          "--exposure",
          [&o](const std::string& column) {
            o.offset = {column, true};
          },
          "A column of what counts are of: hours, kilometres, people. Its logarithm is the offset")
      ->excludes(offset);
  command
      .add_option_function<std::string>(
          "--trials", [&o](const std::string& column) { o.trials = column; },
          "A column of how many trials the target, a count of successes, is of; no feature")
      ->excludes(offset);
  command.add_option_function<std::string>(
      "--weight", [&o](const std::string& column) { o.weight = column; },
      "A column that says how many equal rows its row counts as, 1e-6 to 1e6; no feature");
  command.add_option("--positive", o.positive, "The target's text that means 1; others are 0");
  command
      .add_option_function<std::string>(
          "--dates",
          [&o](const std::string& text) {
            o.dates = text == "day-month-year" ? Reads::kDayMonthYear : Reads::kMonthDayYear;
          },
          "Where dates may be either")
      ->check(CLI::IsMember({"day-month-year", "month-day-year"}));
  command
      .add_option("--missing-text", o.missing_texts,
                  "A text that says that there is no value, beside an empty cell, NA, N/A, NaN, "
                  "null and ?; several times")
      ->allow_extra_args(false);
  command.add_flag("--skip-missing", o.skip_missing,
                   "Leave rows with an empty cell out, instead of taking the column's mean");
  command.add_option("--leave-out", o.leave_out, "A column that is no feature; several times")
      ->allow_extra_args(false);
  command
      .add_option("--category", o.categories,
                  "A column of categories though they look like numbers; several times")
      ->allow_extra_args(false);
  command
      .add_option("--spline", o.splines,
                  "A column of numbers that is to be a curve, not a straight line; several times")
      ->allow_extra_args(false);
  command.add_option("--interaction", o.interactions,
                     "Two columns whose features are multiplied too: --interaction sqm district; "
                     "several times");
  command
      .add_option("--most", o.most_categories,
                  "Categories of a column at most; the others are taken as one")
      ->transform(whole_number(1'000'000))
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

}  // namespace windhover
