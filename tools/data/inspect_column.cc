#include "windhover/tools/data/inspect_column.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "windhover/tools/data/inspect_notes.h"
#include "windhover/tools/data/toml_text.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

// If this share of the cells agrees, the others look like mistakes.
constexpr double kNearlyAll = 0.9;
constexpr double kDaysOfAWeek = 7;
constexpr double kDaysOfAYear = 365.2425;

bool nearly_all(std::uint64_t count, std::uint64_t of) {
  return static_cast<double>(count) >= kNearlyAll * static_cast<double>(of);
}

[[noreturn]] void refuse_cell(const std::string& path, const std::string& name,
                              const ColumnFacts::Cell& cell, const std::string& why) {
  throw UserError(
      fmt::format("{}, line {}, column {}: \"{}\" {}", path, cell.line, name, cell.text, why));
}

// A rule, and how it treats cells without a value.
FeatureRule rule_of(const std::string& name, FeatureRule::Kind kind, const ColumnFacts& facts,
                    const ColumnChoices& choices, FeatureRule::Missing missing) {
  FeatureRule rule;
  rule.field = name;
  rule.kind = kind;
  const bool stands_for = facts.missing() > 0 && !choices.skip_missing;
  rule.missing = stands_for ? missing : FeatureRule::Missing::kRow;
  return rule;
}

ColumnPlan number_plan(const std::string& name, const ColumnFacts& facts,
                       const ColumnChoices& choices, Reads reads) {
  using Missing = FeatureRule::Missing;
  ColumnPlan plan;
  const auto kind = choices.spline ? FeatureRule::Kind::kSpline : FeatureRule::Kind::kNumber;
  FeatureRule& rule =
      plan.rules.emplace_back(rule_of(name, kind, facts, choices, Missing::kColumn));
  rule.reads = reads;
  if (choices.spline) rule.most = FeatureRule::kUsualKnots;
  switch (reads) {
    case Reads::kNumber:
      plan.reads_as = "number";
      plan.note = oddities_note(name, facts);
      return plan;
    case Reads::kBoolean:
      plan.reads_as = "yes or no";
      plan.note = "yes is 1";
      rule.scale = 1.0;
      if (rule.missing == Missing::kRow) rule.shift = 0.0;
      return plan;
    case Reads::kTime:
      plan.reads_as = "time of day";
      plan.note = "in hours";
      return plan;
    default:
      break;
  }
  plan.reads_as = "date";
  plan.note =
      fmt::format("{}: days since 1970-01-01", reads == Reads::kYearMonthDay   ? "year-month-day"
                                               : reads == Reads::kDayMonthYear ? "day-month-year"
                                                                               : "month-day-year");
  const auto add_wave = [&](double period, std::uint32_t harmonics, const char* of) {
    FeatureRule& wave = plan.rules.emplace_back(
        rule_of(name, FeatureRule::Kind::kHarmonic, facts, choices, Missing::kZero));
    wave.reads = reads;
    wave.period = period;
    wave.harmonics = harmonics;
    plan.note += fmt::format(", and a wave of the {}", of);
  };
  // Activity over a day has more than one peak.
  if (facts.has_time_of_day()) add_wave(1.0, 3, "time of day");
  const bool series = facts.has_time_of_day() || facts.each_day_later(reads);
  if (series && facts.days_spanned(reads) >= 4 * kDaysOfAWeek) add_wave(kDaysOfAWeek, 1, "week");
  if (facts.days_spanned(reads) >= 2 * kDaysOfAYear) add_wave(kDaysOfAYear, 1, "season");
  return plan;
}

// Proposes so many buckets that few texts share one.
std::string hash_proposal(const std::string& name, const ColumnFacts& facts) {
  constexpr std::size_t kRoom = 16, kFew = 4'096, kMany = 262'144;
  const std::size_t buckets =
      facts.many_texts() ? kMany : std::max(kFew, std::bit_ceil(kRoom * facts.different_texts()));
  return fmt::format("[[feature]] with hash = [{}] and buckets = {}, and sparse = true",
                     toml_text(name), buckets);
}

ColumnPlan category_plan(const std::string& name, const ColumnFacts& facts,
                         const ColumnChoices& choices) {
  using Other = FeatureRule::Other;
  ColumnPlan plan;
  FeatureRule& rule = plan.rules.emplace_back(
      rule_of(name, FeatureRule::Kind::kCategory, facts, choices, FeatureRule::Missing::kColumn));
  plan.reads_as = "category";
  // The only text has a column, so that empty cells need none.
  if (facts.constant() && rule.missing == FeatureRule::Missing::kColumn)
    rule.missing = FeatureRule::Missing::kZero;
  const std::size_t different = facts.different_texts();
  const bool listed = !facts.many_texts() && different <= choices.most_categories;
  rule.other = listed ? Other::kZero : Other::kColumn;
  if (!listed) rule.most = choices.most_categories;
  plan.note = listed ? fmt::format("{} categories", different)
                     : fmt::format(
                           "the {} most frequent of {}{} categories, the others as one; a "
                           "logistic model can have them all: {}",
                           rule.most, facts.many_texts() ? "more than " : "", different,
                           hash_proposal(name, facts));
  if (different == 1) plan.note = "one category";
  return plan;
}

// The order of dates if the cells are dates.
std::optional<Reads> date_order(const std::string& name, const ColumnFacts& facts,
                                const ColumnChoices& choices, const std::string& path) {
  const std::uint64_t cells = facts.cells();
  if (facts.dates(Reads::kYearMonthDay) == cells) return Reads::kYearMonthDay;
  const bool day_first = facts.dates(Reads::kDayMonthYear) == cells;
  const bool month_first = facts.dates(Reads::kMonthDayYear) == cells;
  if (day_first && month_first) {
    if (choices.dates) return choices.dates;
    throw UserError(
        fmt::format("{}, column {}: its dates may have the day or the month first, and no day of "
                    "them is above 12; say --dates day-month-year or --dates month-day-year",
                    path, name));
  }
  if (day_first) return Reads::kDayMonthYear;
  if (month_first) return Reads::kMonthDayYear;
  const ColumnFacts::Cell& cell = facts.first_no_date();
  if (cell.line == 0) {
    throw UserError(
        fmt::format("{}, column {}: no one order of day, month and year is that of all its dates; "
                    "write them year-month-day, or say --leave-out \"{}\"",
                    path, name, name));
  }
  std::uint64_t most = 0;
  for (const Reads order : {Reads::kYearMonthDay, Reads::kDayMonthYear, Reads::kMonthDayYear})
    most = std::max(most, facts.dates(order));
  if (nearly_all(most, cells)) {
    refuse_cell(path, name, cell,
                fmt::format("is no date as the others are; write a date or NA there, or say "
                            "--missing-text \"{}\" or --leave-out \"{}\"",
                            cell.text, name));
  }
  return std::nullopt;
}

}  // namespace

void check_adorned(const std::string& name, const ColumnFacts& facts, char decimal,
                   const std::string& path, std::string_view as_categories) {
  if (const auto two = facts.of_two_units(); two && facts.all_numbers(decimal)) {
    refuse_cell(path, name, two->second,
                fmt::format("is not of the unit of \"{}\" in line {}: write them alike, {}",
                            two->first.text, two->first.line, as_categories));
  }
  const bool most = 2 * facts.plain_or_adorned(decimal) > facts.cells();
  if (facts.adorned() == 0 || facts.all_numbers(decimal) || !most) return;
  refuse_cell(path, name, facts.first_adorned(),
              fmt::format("has a currency or percent sign or thousands separators, and not all "
                          "of the column can be read so: write 1234.5 or NA everywhere, or say "
                          "--decimal \",\" for decimal commas, {}",
                          as_categories));
}

void check_numbers(const std::string& name, const ColumnFacts& facts, char decimal,
                   const std::string& path, std::string_view as_categories) {
  const std::uint64_t numbers = facts.numbers(decimal);
  if (numbers < facts.cells() && nearly_all(numbers, facts.cells())) {
    const ColumnFacts::Cell& cell = facts.first_no_number();
    refuse_cell(path, name, cell,
                fmt::format("is no number, and {} of {} cells are; write a number or NA there, or "
                            "say --missing-text \"{}\", {}",
                            numbers, facts.cells(), cell.text, as_categories));
  }
}

namespace {

ColumnPlan usual_plan(const std::string& name, const ColumnFacts& facts,
                      const ColumnChoices& choices, const std::string& path) {
  const auto left_out = [](const std::string& why) { return ColumnPlan{{}, "left out", why}; };
  if (choices.leave_out) return left_out("as asked for");
  if (facts.cells() == 0) return left_out("no cell holds anything");
  if (facts.constant() && (facts.missing() == 0 || choices.skip_missing))
    return left_out("all its cells are the same");
  if (choices.category || facts.constant()) return category_plan(name, facts, choices);
  if (const auto order = date_order(name, facts, choices, path))
    return number_plan(name, facts, choices, *order);
  const std::string instead =
      fmt::format("--category \"{}\" for categories, or --leave-out \"{}\"", name, name);
  check_adorned(name, facts, choices.decimal, path, instead);
  if (facts.all_numbers(choices.decimal)) return number_plan(name, facts, choices, Reads::kNumber);
  if (facts.all_booleans()) return number_plan(name, facts, choices, Reads::kBoolean);
  if (facts.times() == facts.cells()) return number_plan(name, facts, choices, Reads::kTime);
  check_numbers(name, facts, choices.decimal, path, instead);
  ColumnPlan plan =
      !facts.identifies_rows()
          ? category_plan(name, facts, choices)
          : left_out(fmt::format(
                "{}{} different texts in {} rows: an identifier or free text (a [[feature]] with "
                "hash = [{}] and words = true makes features of its words)",
                facts.many_texts() ? "more than " : "", facts.different_texts(), facts.cells(),
                toml_text(name)));
  plan.note += mostly_numbers_note(facts, choices.decimal);
  return plan;
}

}  // namespace

ColumnPlan plan_column(const std::string& name, const ColumnFacts& facts,
                       const ColumnChoices& choices, const std::string& path) {
  ColumnPlan plan = usual_plan(name, facts, choices, path);
  if (!choices.spline) return plan;
  const bool curve = !plan.rules.empty() && plan.rules.front().kind == FeatureRule::Kind::kSpline &&
                     plan.rules.front().reads != Reads::kBoolean;
  if (!curve || facts.different_texts() < FeatureRule::kFewestKnots) {
    throw UserError(fmt::format("{}, column {}: it cannot be a spline: {}{}", path, name,
                                plan.reads_as,
                                curve ? " with fewer than 3 different values" : ", not numbers"));
  }
  return plan;
}

}  // namespace windhover
