#include "windhover/tools/data/inspect_target.h"

#include <fmt/format.h>

#include "windhover/samplers/registry.h"
#include "windhover/tools/data/csv_form.h"
#include "windhover/tools/data/inspect_column.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

using TargetKind = TargetRule::Kind;

constexpr std::string_view kCategoriesOfTarget =
    "--model softmax for classes, or --positive VALUE for the one that is to be 1";

}  // namespace

bool may_be_counts(const ColumnFacts& column) {
  constexpr double kSmall = 100;
  constexpr double kNextToNone = 10;
  return column.whole() && column.least() >= 0 &&
         (column.greatest() <= kSmall || column.least() < kNextToNone);
}

// Suggests log-normal where it is clearly better: by at least a tenth of a nat per number, and by
// ten nats in all, e^10 to 1. Log-normal numbers with a skewness of 1.2 reach a tenth, those of 0.8
// half of it; numbers that scatter evenly stay below 0.
std::string number_hint(const ColumnFacts& column, bool many, bool with_log_normal) {
  constexpr double kClearGain = 0.1;
  constexpr double kEvidence = 10;
  if (may_be_counts(column)) {
    return std::string("if these are counts, say --model negative-binomial") +
           (many ? "" : "; if classes, --model softmax");
  }
  const double gain = column.log_normal_gain();
  if (!with_log_normal || gain < kClearGain ||
      gain * static_cast<double>(column.cells()) < kEvidence)
    return "";
  return std::string("all above 0 and skewed, their logarithms less: try --model log-normal") +
         (column.whole() ? "; if these are counts, --model negative-binomial" : "");
}

TargetRule target_rule(const TargetFacts& facts, const InspectOptions& options, char decimal,
                       const std::string& path, std::string& hint) {
  const std::string& name = facts.name;
  const ColumnFacts& column = facts.column;
  const TargetTexts& texts = facts.texts;
  const ModelEntry* model = options.model.empty() ? nullptr : find_model(options.model);
  // An exposure is for counts.
  const bool exposure = options.offset && options.offset->exposure;
  if (exposure && !model) model = find_model("negative-binomial");
  if (options.trials && !model) model = find_model("binomial");
  const auto wants = [&](Response response) { return model && model->response == response; };
  const bool wants_number = model && is_number(model->response);
  const auto fail = [&](const std::string& why) {
    throw UserError(fmt::format("{}: the target {} {}", path, name, why));
  };
  TargetRule rule;
  rule.positive = options.positive;
  rule.trials = options.trials;
  if (options.trials && options.positive)
    fail("is either a count of trials or has a --positive value");
  if (column.constant() && !options.trials)
    fail("is the same in every row; there is nothing to learn");
  const bool numbers = column.all_numbers(decimal);
  const std::size_t different = texts.sorted().size();
  if (!numbers && texts.too_many()) {
    for (const std::string& text : texts.sorted()) check_encoding(path, text);
  }
  // Two amounts of money or percentages are not categories unless the user says so.
  const bool two = !texts.too_many() && different == 2 && (column.adorned() == 0 || !numbers);
  const std::string how_many =
      texts.too_many() ? fmt::format("more than {}", kMaxClasses) : fmt::to_string(different);
  const bool categories_said = options.positive || wants(Response::kCategorical);
  if (!categories_said && !numbers) check_capitals(texts, name, path);
  if (!categories_said) check_adorned(name, column, decimal, path, kCategoriesOfTarget);
  if (options.positive || (two && (!model || wants(Response::kBernoulli)))) {
    rule.kind = TargetKind::kBinary;
  } else if (wants(Response::kBernoulli)) {
    fail(
        fmt::format("has {} different values; {} wants 0 or 1: say which one is to be 1 with "
                    "--positive VALUE, or leave --model out",
                    how_many, options.model));
  } else if (wants(Response::kCategorical) || (!numbers && !model)) {
    if (!numbers && !model) check_numbers(name, column, decimal, path, kCategoriesOfTarget);
    rule.kind = TargetKind::kClasses;
    if (texts.too_many()) {
      fail(
          fmt::format("has {} different values, the most classes that a model takes; say which "
                      "one is to be 1 with --positive VALUE{}",
                      how_many, numbers ? ", or --model linear for numbers" : ""));
    }
  } else if (!numbers) {
    check_numbers(name, column, decimal, path, kCategoriesOfTarget);
    fail(
        fmt::format("is text (line {}: \"{}\"), and {} wants numbers; leave {} out to have "
                    "categories",
                    column.first_no_number().line, column.first_no_number().text,
                    options.trials ? "a number of trials" : options.model,
                    options.trials ? "--trials" : "--model"));
  } else if (model && is_whole_number(model->response)) {
    rule.kind = TargetKind::kCount;
    if (const ColumnFacts::Cell& cell = column.first_no_count(); cell.line > 0) {
      fail(
          fmt::format("is \"{}\" in line {}, and {} wants counts, whole numbers of at least 0; "
                      "{}",
                      cell.text, cell.line,
                      exposure         ? "an exposure"
                      : options.trials ? "a number of trials"
                                       : options.model,
                      options.trials ? "leave --trials out" : "say --model linear"));
    }
  } else if (wants(Response::kLogNormal)) {
    rule.kind = TargetKind::kPositive;
    if (const ColumnFacts::Cell& cell = column.first_not_positive(); cell.line > 0) {
      fail(fmt::format("is \"{}\" in line {}, and {} wants numbers greater than 0; say --model {}",
                       cell.text, cell.line, options.model,
                       column.whole() && column.least() >= 0 ? "negative-binomial for counts, or "
                                                               "--model linear"
                                                             : "linear"));
    }
  } else {
    rule.kind = TargetKind::kNumber;
    if (!wants_number) hint = number_hint(column, texts.too_many());
  }
  check_model(rule, options.model, name, path);
  return rule;
}

}  // namespace windhover
