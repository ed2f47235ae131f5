#include "windhover/tools/data/inspect_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "windhover/tools/data/shown_text.h"

namespace windhover {

namespace {

constexpr std::uint64_t kManyRows = 20;

// The first lines of empty cells.
std::string empty_lines(const ColumnFacts& facts) {
  std::string lines = fmt::format("{}", fmt::join(facts.missing_lines(), ", "));
  if (facts.missing() > facts.missing_lines().size()) lines += ", ...";
  return lines;
}

}  // namespace

std::string target_note(const SchemaParts& parts, const std::string& hint, const ColumnFacts& facts,
                        const TargetTexts& texts) {
  const TargetRule& rule = parts.target_rule;
  std::string note;
  switch (rule.kind) {
    case TargetRule::Kind::kBinary:
      note = fmt::format("1 is \"{}\", 0 is {}", *rule.positive,
                         rule.negative ? "\"" + *rule.negative + "\"" : "anything else");
      break;
    case TargetRule::Kind::kClasses:
      note = "classes from 0: " + listed_texts(rule.classes);
      break;
    case TargetRule::Kind::kCount:
      note = rule.trials ? "a count of trials" : "a count";
      break;
    case TargetRule::Kind::kPositive:
      note = "a number greater than 0";
      break;
    default:
      note = "a number";
  }
  if (facts.missing() > 0) {
    note += fmt::format("; empty in lines {}: {} rows are left out", empty_lines(facts),
                        facts.missing());
  }
  const bool classes =
      rule.kind == TargetRule::Kind::kBinary || rule.kind == TargetRule::Kind::kClasses;
  if (!classes) note += placeholder_note(facts);
  if (classes && texts.one_after_the_other()) {
    note += "; all rows of one come before those of the next: shuffle them before they are learned";
  }
  return note + (hint.empty() ? "" : "; ") + hint;
}

std::string missing_note(const ColumnFacts& facts, const FeatureRule& rule) {
  using Missing = FeatureRule::Missing;
  const std::string what = rule.missing == Missing::kRow    ? "their rows are left out"
                           : rule.missing == Missing::kZero ? "they are all 0"
                           : rule.kind != FeatureRule::Kind::kNumber
                               ? "a column of their own is 1"
                               : fmt::format(
                                     "they count as the mean, {:.6g}, and a column of "
                                     "their own is 1",
                                     *rule.shift);
  return fmt::format("empty in lines {}: {}", empty_lines(facts), what);
}

std::string mostly_numbers_note(const ColumnFacts& facts, char decimal) {
  const std::uint64_t numbers = facts.numbers(decimal);
  if (2 * numbers <= facts.cells()) return "";
  return fmt::format("; {} of {} cells are numbers, and \"{}\" in line {} is none", numbers,
                     facts.cells(), facts.first_no_number().text, facts.first_no_number().line);
}

std::string placeholder_note(const ColumnFacts& facts) {
  const auto found = facts.oddities().placeholder();
  if (!found) return "";
  std::string said = fmt::format(
      "; {} {} in {} cells, far from all others: if it says that there is no value,",
      fmt::join(found->texts, " or "), found->texts.size() > 1 ? "are" : "is", found->count);
  for (const std::string& text : found->texts) said += fmt::format(" --missing-text=\"{}\"", text);
  return said;
}

std::string oddities_note(const std::string& name, const ColumnFacts& facts) {
  std::string note;
  const double span = facts.greatest() - facts.least() + 1;
  const bool is_range = span == static_cast<double>(facts.cells());
  if (facts.counts_rows()) {
    note = fmt::format("; counts the rows; if it says no more, --leave-out \"{}\"", name);
  } else if (facts.whole() && facts.oddities().has_leading_zeros()) {
    note = fmt::format("; some begin with 0, as codes do; if it is one, --category \"{}\"", name);
  } else if (facts.whole() && facts.all_different() && facts.cells() >= kManyRows &&
             (is_range || facts.oddities().has_length_of_identifiers())) {
    note = fmt::format("; another in every row; if it only names them, --leave-out \"{}\"", name);
  }
  note += placeholder_note(facts);
  return note.empty() ? note : note.substr(2);
}

std::string offset_note(const SchemaParts& parts, const ColumnFacts& facts) {
  std::string note = parts.offset->exposure
                         ? "its logarithm is added to the linear predictor of its row"
                         : "it is added to the linear predictor of its row";
  if (facts.missing() > 0) note += "; rows where it is empty are left out";
  return note;
}

std::string trials_note(const ColumnFacts& facts) {
  std::string note = "how many trials the target of its row is of; rows where it is 0";
  if (facts.missing() > 0) note += " or empty";
  return note + " are left out";
}

std::string weight_note(const ColumnFacts& facts) {
  std::string note = "how many equal rows its row counts as; rows where it is 0";
  if (facts.missing() > 0) note += " or empty";
  return note + " are left out";
}

}  // namespace windhover
