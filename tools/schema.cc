#include "windhover/tools/schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "windhover/tools/error.h"

namespace windhover {
namespace {

// The number that the characters under `letter` form; nothing when one is no digit or none is
// there.
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

bool Schema::is_draft() const {
  return std::any_of(rules_.begin(), rules_.end(), [](const FeatureRule& rule) {
    switch (rule.kind) {
      case FeatureRule::Kind::kNumber:
        return !rule.shift || !rule.scale;
      case FeatureRule::Kind::kCategory:
        return rule.categories.empty();
      default:
        return false;
    }
  });
}

void Schema::index_features() {
  names_.clear();
  first_columns_.clear();
  category_index_.assign(rules_.size(), {});
  for (std::size_t r = 0; r < rules_.size(); ++r) {
    const FeatureRule& rule = rules_[r];
    first_columns_.push_back(names_.size());
    switch (rule.kind) {
      case FeatureRule::Kind::kNumber:
        names_.push_back(rule.field);
        break;
      case FeatureRule::Kind::kHarmonic:
        for (std::uint32_t k = 1; k <= rule.harmonics; ++k) {
          names_.push_back(fmt::format("{} sin {}", rule.field, k));
          names_.push_back(fmt::format("{} cos {}", rule.field, k));
        }
        break;
      case FeatureRule::Kind::kCategory:
        for (const std::string& category : rule.categories) {
          category_index_[r].emplace(category, static_cast<std::uint32_t>(names_.size()));
          names_.push_back(fmt::format("{}={}", rule.field, category));
        }
        if (rule.other == FeatureRule::Other::kColumn)
          names_.push_back(fmt::format("{}=other", rule.field));
        break;
    }
  }
}

std::uint32_t Schema::max_nonzeros() const {
  std::uint32_t count = 0;
  for (const FeatureRule& rule : rules_) {
    count += rule.kind == FeatureRule::Kind::kHarmonic ? 2 * rule.harmonics : 1;
  }
  return count;
}

std::string Schema::target_description() const {
  if (positive_above_) return fmt::format("{} > {}", target_, *positive_above_);
  if (positive_) return fmt::format("{} is {}", target_, *positive_);
  return target_;
}

const DerivedField* Schema::derived_field(std::string_view name) const {
  const auto found = std::find_if(derived_.begin(), derived_.end(),
                                  [&](const DerivedField& field) { return field.name == name; });
  return found != derived_.end() ? &*found : nullptr;
}

void Schema::append(std::size_t column, double value, EncodedRow& row) const {
  if (!sparse_) {
    row.values[column] = value;
  } else if (value != 0.0) {
    row.values.push_back(value);
    row.indices.push_back(static_cast<std::uint32_t>(column));
  }
}

void Schema::encode_number(std::size_t rule, double value, EncodedRow& row) const {
  const FeatureRule& r = rules_[rule];
  const std::size_t first = first_columns_[rule];
  if (r.kind == FeatureRule::Kind::kNumber) {
    append(first, (value - *r.shift) / *r.scale, row);
    return;
  }
  for (std::uint32_t k = 1; k <= r.harmonics; ++k) {
    const double angle = 2.0 * std::numbers::pi * k * value / r.period;
    append(first + 2 * (k - 1), std::sin(angle), row);
    append(first + 2 * (k - 1) + 1, std::cos(angle), row);
  }
}

bool Schema::encode_category(std::size_t rule, std::string_view text, EncodedRow& row) const {
  const auto& index = category_index_[rule];
  const auto found = index.find(text);
  if (found != index.end()) {
    append(found->second, 1.0, row);
    return true;
  }
  if (rules_[rule].other == FeatureRule::Other::kRefuse) return false;
  if (rules_[rule].other == FeatureRule::Other::kZero) return true;
  append(first_columns_[rule] + rules_[rule].categories.size(), 1.0, row);
  return true;
}

std::string Schema::unknown_category(std::size_t rule, std::string_view text) const {
  const FeatureRule& r = rules_[rule];
  constexpr std::size_t kListed = 12;
  const auto listed = std::span(r.categories).first(std::min(r.categories.size(), kListed));
  return fmt::format("\"{}\" is no {} of the schema {}; there are {} of them: {}{}", text, r.field,
                     path_, r.categories.size(), fmt::join(listed, ", "),
                     r.categories.size() > kListed ? ", ..." : "");
}

std::optional<double> Schema::encode_target(std::string_view text) const {
  if (text.empty()) return std::nullopt;
  if (positive_) return text == *positive_ ? 1.0 : 0.0;
  const std::optional<double> value = parse_number(text);
  if (!value || !positive_above_) return value;
  return *value > *positive_above_ ? 1.0 : 0.0;
}

EncodedRow Schema::encode(const std::map<std::string, std::string>& fields) const {
  if (is_draft()) {
    throw UserError(fmt::format(
        "{} is a draft: complete it with `windhover schema FILE --schema {}`", path_, path_));
  }
  EncodedRow row;
  if (!sparse_) row.values.assign(names_.size(), 0.0);
  std::vector<std::string> known;
  for (std::size_t r = 0; r < rules_.size(); ++r) {
    const FeatureRule& rule = rules_[r];
    known.push_back(rule.field);
    const DerivedField* derived = derived_field(rule.field);
    if (derived != nullptr) known.push_back(derived->from);
    const auto given = fields.find(rule.field);
    std::string text;
    if (given != fields.end()) {
      text = given->second;
    } else if (derived != nullptr && fields.contains(derived->from)) {
      const std::string& source = fields.at(derived->from);
      const std::optional<double> value = derive(*derived, source);
      if (!value) {
        throw UserError(fmt::format("{} = \"{}\" does not have the form {}", derived->from, source,
                                    derived->format));
      }
      text = fmt::format("{}", *value);
    } else {
      throw UserError(
          fmt::format("the schema {} also needs {}: give {}=VALUE", path_, rule.field, rule.field));
    }
    if (rule.kind == FeatureRule::Kind::kCategory) {
      if (!encode_category(r, text, row)) throw UserError(unknown_category(r, text));
      if (!category_index_[r].contains(text)) row.unlisted.push_back(rule.field);
      continue;
    }
    const std::optional<double> value = parse_number(text);
    if (!value) {
      throw UserError(
          fmt::format("{} = \"{}\" is not allowed: a finite number is expected", rule.field, text));
    }
    encode_number(r, *value, row);
  }
  for (const auto& [name, value] : fields) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    throw UserError(fmt::format("\"{}\" is no field of the schema {}; its fields are {}", name,
                                path_, fmt::join(known, ", ")));
  }
  return row;
}

RowEncoder::RowEncoder(const Schema& schema, const Table& table, RowUse use)
    : schema_(schema),
      skips_(use == RowUse::kObservation && schema.missing_ == MissingPolicy::kSkip) {
  if (use == RowUse::kObservation) target_column_ = table.column(schema.target_);
  if (schema.is_draft()) {
    throw UserError(
        fmt::format("{} is a draft: complete it with `windhover schema FILE --schema {}`",
                    schema.path_, schema.path_));
  }
  for (const FeatureRule& rule : schema.rules_) {
    const DerivedField* derived = schema.derived_field(rule.field);
    const auto& columns = table.columns();
    const bool by_its_own_name =
        use == RowUse::kQuestion &&
        std::find(columns.begin(), columns.end(), rule.field) != columns.end();
    if (by_its_own_name) derived = nullptr;
    sources_.push_back({table.column(derived != nullptr ? derived->from : rule.field), derived});
  }
}

bool RowEncoder::encode(const Table& table, EncodedRow& row) const {
  row.indices.clear();
  if (schema_.sparse_) {
    row.values.clear();
  } else {
    row.values.assign(schema_.names_.size(), 0.0);
  }
  for (std::size_t r = 0; r < sources_.size(); ++r) {
    const Source& source = sources_[r];
    const std::string_view text = table.text(source.column);
    if (schema_.rules_[r].kind == FeatureRule::Kind::kCategory && source.derived == nullptr) {
      if (schema_.encode_category(r, text, row)) continue;
      if (skips_) return false;
      throw RowError(table.place(source.column) + ": " + schema_.unknown_category(r, text));
    }
    const std::optional<double> value =
        source.derived != nullptr ? derive(*source.derived, text) : parse_number(text);
    if (!value) {
      if (skips_) return false;
      throw RowError(fmt::format(
          "{}: \"{}\" where {} is expected", table.place(source.column), text,
          source.derived != nullptr ? source.derived->format : std::string("a finite number")));
    }
    if (schema_.rules_[r].kind == FeatureRule::Kind::kCategory) {
      const std::string category = fmt::format("{}", *value);
      if (schema_.encode_category(r, category, row)) continue;
      if (skips_) return false;
      throw RowError(table.place(source.column) + ": " + schema_.unknown_category(r, category));
    }
    schema_.encode_number(r, *value, row);
  }
  if (!target_column_) return true;
  const std::optional<double> target = schema_.encode_target(table.text(*target_column_));
  if (!target) {
    if (skips_) return false;
    throw RowError(fmt::format("{}: \"{}\" where a finite number is expected",
                               table.place(*target_column_), table.text(*target_column_)));
  }
  row.target = *target;
  return true;
}

}  // namespace windhover
