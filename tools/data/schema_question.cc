// From a question by field names to a row.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "windhover/tools/data/nearest.h"
#include "windhover/tools/data/schema.h"
#include "windhover/tools/error.h"

namespace windhover {

void Schema::check_fields(const std::map<std::string, std::string>& fields) const {
  std::vector<std::string> needed;
  for (const FeatureRule& rule : parts_.rules) {
    if (rule.kind == FeatureRule::Kind::kInteraction) continue;
    const auto& own = rule.kind == FeatureRule::Kind::kHash ? rule.fields : std::vector{rule.field};
    for (const std::string& field : own) {
      if (std::ranges::find(needed, field) == needed.end()) needed.push_back(field);
    }
  }
  std::vector<std::string> known = needed;
  std::vector<std::string> missing;
  for (const std::string& field : needed) {
    const DerivedField* derived = derived_field(field);
    if (derived != nullptr) known.push_back(derived->from);
    const bool given =
        fields.contains(field) || (derived != nullptr && fields.contains(derived->from));
    if (!given) missing.push_back(field);
  }
  if (has_offset()) known.push_back(parts_.offset->field);
  if (has_trials()) known.push_back(*parts_.target_rule.trials);
  if (has_weight()) known.push_back(*parts_.weight);
  std::ranges::sort(known);
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (const auto& [name, value] : fields) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw UserError(fmt::format("\"{}\" is no field of the schema {}{}; its fields are {}", name,
                                parts_.path, did_you_mean(name, known), fmt::join(known, ", ")));
  }
  if (missing.empty()) return;
  throw UserError(fmt::format("the schema {} also needs {}: give {}=VALUE", parts_.path,
                              fmt::join(missing, ", "), fmt::join(missing, "=VALUE, ")));
}

Schema::Given Schema::given_in(const std::map<std::string, std::string>& fields,
                               const std::string& field) const {
  const DerivedField* derived = derived_field(field);
  if (const auto given = fields.find(field); given != fields.end()) {
    const auto number = derived != nullptr ? own_number(given->second) : std::nullopt;
    return {number ? number_text(*number) : given->second, number};
  }
  const auto source = fields.find(derived->from);
  const std::optional<double> value = derive(*derived, source->second);
  if (!value) {
    throw UserError(fmt::format("{} = \"{}\" does not have the form {}", derived->from,
                                source->second, derived->format));
  }
  return {number_text(*value), value};
}

EncodedRow Schema::encode(const std::map<std::string, std::string>& fields) const {
  require_complete();
  check_fields(fields);
  EncodedRow row;
  if (!parts_.sparse) row.values.assign(features_, 0.0);
  for (std::size_t r = 0; r < parts_.rules.size(); ++r) {
    const FeatureRule& rule = parts_.rules[r];
    if (rule.kind == FeatureRule::Kind::kInteraction) {
      append_interaction(r, row, true);
      continue;
    }
    if (rule.kind == FeatureRule::Kind::kHash) {
      std::vector<std::string> owned;
      for (const std::string& field : rule.fields) owned.push_back(given_in(fields, field).text);
      const std::vector<std::string_view> texts(owned.begin(), owned.end());
      if (const Cell cell = encode_hash(r, texts, row); cell != Cell::kEncoded) {
        throw UserError(fmt::format("hash({}): {}", rule.field,
                                    refusal(r, cell, *std::ranges::find_if(texts, [this](auto t) {
                                              return is_missing(t);
                                            }))));
      }
      continue;
    }
    const Given given = given_in(fields, rule.field);
    if (given.derived && rule.kind != FeatureRule::Kind::kCategory) {
      append_number(r, *given.derived, row, true);
      continue;
    }
    const std::string& text = given.text;
    const Cell cell = encode_cell(r, text, row, true);
    if (cell == Cell::kUnlisted) throw UserError(refusal(r, cell, text));
    if (cell != Cell::kEncoded) {
      const bool category = rule.kind == FeatureRule::Kind::kCategory;
      throw UserError(
          fmt::format("{} = \"{}\" is not allowed: {} is expected", rule.field, text,
                      category ? "one of its categories" : reads_text(rule.reads, parts_.numbers)));
    }
    if (!lists(r, text)) row.unlisted.emplace_back(rule.field, text);
  }
  if (const auto column = overflown(row, std::numeric_limits<double>::max())) {
    throw UserError(
        fmt::format("the value of {} is too large in the schema's units", feature_name(*column)));
  }
  if (has_offset()) {
    const std::string& field = parts_.offset->field;
    if (const auto given = fields.find(field); given != fields.end()) {
      const std::optional<double> offset = offset_of(given->second);
      if (!offset) {
        throw UserError(fmt::format("{} = \"{}\" is not allowed: {} is expected", field,
                                    given->second, offset_text()));
      }
      row.offset = *offset;
    }
  }
  if (has_trials()) {
    const std::string& field = *parts_.target_rule.trials;
    if (const auto given = fields.find(field); given != fields.end()) {
      row.trials = trials_of(given->second).value_or(0);
      if (row.trials == 0) {
        throw UserError(fmt::format("{} = \"{}\" is not allowed: {} is expected", field,
                                    given->second, kTrialsExpected));
      }
    }
  }
  return row;
}

}  // namespace windhover
