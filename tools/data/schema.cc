#include "windhover/tools/data/schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "windhover/runtime/observation.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

// The number in `text` at the places of `letter` in `format`; nothing unless all of them are
// digits.
std::optional<double> digits_under(char letter, std::string_view format, std::string_view text) {
  std::optional<double> value;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != letter) continue;
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value.value_or(0.0) * 10.0 + (text[i] - '0');
  }
  return value;
}

}  // namespace

std::string number_text(double value) { return fmt::format("{}", value); }

char format_letter(DerivedField::Part part) {
  switch (part) {
    case DerivedField::Part::kHour:
      return 'h';
    case DerivedField::Part::kMinute:
      return 'm';
    case DerivedField::Part::kDay:
      return 'D';
    case DerivedField::Part::kMonth:
      return 'M';
    case DerivedField::Part::kYear:
      return 'Y';
  }
  return '?';
}

std::optional<double> derive(const DerivedField& field, std::string_view text) {
  if (text.size() != field.format.size()) return std::nullopt;
  const std::optional<double> value = digits_under(format_letter(field.part), field.format, text);
  if (!value || field.part != DerivedField::Part::kHour) return value;
  const double minutes = digits_under('m', field.format, text).value_or(0.0);
  const double seconds = digits_under('s', field.format, text).value_or(0.0);
  return *value + minutes / 60.0 + seconds / 3600.0;
}

Schema::Schema(SchemaParts parts) : parts_(std::move(parts)) { index_features(); }

bool Schema::is_draft() const {
  const auto unfilled = [](const FeatureRule& rule) {
    switch (rule.kind) {
      case FeatureRule::Kind::kNumber:
        return !rule.shift || !rule.scale;
      case FeatureRule::Kind::kCategory:
        return rule.categories.empty();
      case FeatureRule::Kind::kSpline:
        return rule.knots.empty();
      case FeatureRule::Kind::kHarmonic:
      case FeatureRule::Kind::kHash:
      case FeatureRule::Kind::kInteraction:
        break;
    }
    return false;
  };
  return parts_.target_rule.is_draft() || std::ranges::any_of(parts_.rules, unfilled);
}

void Schema::require_complete() const {
  if (!is_draft()) return;
  throw UserError(fmt::format("{} is a draft: complete it with `windhover schema FILE --schema {}`",
                              parts_.path, parts_.path));
}

bool Schema::is_missing(std::string_view text) const {
  return is_missing_text(text) ||
         std::ranges::find(parts_.missing_texts, text) != parts_.missing_texts.end();
}

std::string Schema::target_description() const {
  const TargetRule& rule = parts_.target_rule;
  if (rule.positive_above) return fmt::format("{} > {}", parts_.target, *rule.positive_above);
  if (rule.positive) return fmt::format("{} is {}", parts_.target, *rule.positive);
  if (rule.trials) return fmt::format("{} of {}", parts_.target, *rule.trials);
  return parts_.target;
}

const DerivedField* Schema::derived_field(std::string_view name) const {
  const auto found = std::ranges::find(parts_.derived, name, &DerivedField::name);
  return found != parts_.derived.end() ? &*found : nullptr;
}

void Schema::append(std::size_t column, double value, EncodedRow& row) const {
  if (!parts_.sparse) {
    row.values[column] = value;
  } else if (value != 0.0) {
    row.values.push_back(value);
    row.indices.push_back(static_cast<std::uint32_t>(column));
  }
}

void Schema::append_missing(std::size_t rule, EncodedRow& row, bool scaled) const {
  const FeatureRule& r = parts_.rules[rule];
  if (r.kind == FeatureRule::Kind::kNumber) append_number(rule, *r.shift, row, scaled);
  if (r.missing == FeatureRule::Missing::kColumn)
    append(first_columns_[rule] + value_columns(parts_.rules, rule), 1.0, row);
}

void Schema::append_number(std::size_t rule, double value, EncodedRow& row, bool scaled) const {
  const FeatureRule& r = parts_.rules[rule];
  const std::size_t first = first_columns_[rule];
  if (r.kind == FeatureRule::Kind::kNumber) {
    append(first, scaled ? (value - *r.shift) / *r.scale : value, row);
    return;
  }
  if (r.kind == FeatureRule::Kind::kSpline) {
    std::vector<double> weights(r.knots.size());
    splines_[rule]->weights(value, weights);
    weights.erase(weights.begin() +
                  static_cast<std::ptrdiff_t>(NaturalSpline::reference_knot(weights.size())));
    for (std::size_t k = 0; k < weights.size(); ++k) append(first + k, weights[k], row);
    return;
  }
  for (std::uint32_t k = 1; k <= r.harmonics; ++k) {
    const double angle = 2.0 * std::numbers::pi * k * value / r.period;
    append(first + 2 * (k - 1), std::sin(angle), row);
    append(first + 2 * (k - 1) + 1, std::cos(angle), row);
  }
}

bool Schema::append_category(std::size_t rule, std::string_view text, EncodedRow& row) const {
  const FeatureRule& r = parts_.rules[rule];
  const auto found = category_index_[rule].find(text);
  if (found != category_index_[rule].end()) {
    append(found->second, 1.0, row);
    return true;
  }
  if (r.other == FeatureRule::Other::kRefuse) return false;
  if (r.other == FeatureRule::Other::kColumn)
    append(first_columns_[rule] + r.categories.size(), 1.0, row);
  return true;
}

Schema::Cell Schema::encode_cell(std::size_t rule, std::string_view text, EncodedRow& row,
                                 bool scaled) const {
  const FeatureRule& r = parts_.rules[rule];
  const bool any_category =
      r.kind == FeatureRule::Kind::kCategory && r.missing == FeatureRule::Missing::kUnsaid;
  if (!any_category && is_missing(text)) {
    if (!r.stands_for_missing()) return Cell::kMissing;
    append_missing(rule, row, scaled);
    return Cell::kEncoded;
  }
  if (r.kind == FeatureRule::Kind::kCategory)
    return append_category(rule, text, row) ? Cell::kEncoded : Cell::kUnlisted;
  const std::optional<double> value = read_cell(text, r.reads, parts_.numbers);
  if (!value) return Cell::kUnreadable;
  append_number(rule, *value, row, scaled);
  return Cell::kEncoded;
}

bool Schema::lists(std::size_t rule, std::string_view text) const {
  const FeatureRule& r = parts_.rules[rule];
  return r.kind != FeatureRule::Kind::kCategory || category_index_[rule].contains(text) ||
         (r.stands_for_missing() && is_missing(text));
}

std::optional<double> Schema::offset_of(std::string_view text) const {
  if (is_missing(text)) return std::nullopt;
  const std::optional<double> value = read_cell(text, Reads::kNumber, parts_.numbers);
  if (!value || !parts_.offset->exposure) return value;
  return *value > 0 ? std::optional(std::log(*value)) : std::nullopt;
}

const char* Schema::offset_text() const {
  return parts_.offset->exposure ? "an exposure, a number greater than 0," : "an offset, a number,";
}

std::optional<double> Schema::weight_of(std::string_view text) const {
  if (is_missing(text)) return std::nullopt;
  const std::optional<double> value = read_cell(text, Reads::kNumber, parts_.numbers);
  const bool usable =
      value && (*value == 0 || (*value >= kLeastWeight && *value <= kLargestWeight));
  return usable ? value : std::nullopt;
}

std::optional<double> Schema::trials_of(std::string_view text) const {
  if (is_missing(text)) return std::nullopt;
  const std::optional<double> value = read_cell(text, Reads::kNumber, parts_.numbers);
  return value && (*value == 0 || is_number_of_trials(*value)) ? value : std::nullopt;
}

std::string Schema::refusal(std::size_t rule, Cell cell, std::string_view text) const {
  const FeatureRule& r = parts_.rules[rule];
  if (cell != Cell::kUnlisted && r.kind == FeatureRule::Kind::kCategory)
    return fmt::format("\"{}\" where a category of {} is expected", text, r.field);
  if (r.kind == FeatureRule::Kind::kHash)
    return fmt::format("\"{}\" where a text of {} is expected", text, r.field);
  if (cell != Cell::kUnlisted)
    return fmt::format("\"{}\" where {} is expected", text, reads_text(r.reads, parts_.numbers));
  constexpr std::size_t kListed = 12;
  const auto listed = std::span(r.categories).first(std::min(r.categories.size(), kListed));
  return fmt::format("\"{}\" is no {} of the schema {}; there are {} of them: {}{}", text, r.field,
                     parts_.path, r.categories.size(), fmt::join(listed, ", "),
                     r.categories.size() > kListed ? ", ..." : "");
}

}  // namespace windhover
