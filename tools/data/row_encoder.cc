#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "windhover/runtime/observation.h"
#include "windhover/tools/data/schema.h"
#include "windhover/tools/error.h"

namespace windhover {

RowEncoder::RowEncoder(const Schema& schema, const Table& table, RowUse use, bool scaled)
    : schema_(schema),
      scaled_(scaled),
      skips_(use == RowUse::kObservation && schema.parts().missing == MissingPolicy::kSkip) {
  if (use == RowUse::kObservation) target_column_ = table.column(schema.target());
  schema.require_complete();
  if (schema.has_offset()) {
    const std::string& field = schema.parts().offset->field;
    const bool there = std::ranges::find(table.columns(), field) != table.columns().end();
    if (there || use == RowUse::kObservation) offset_column_ = table.column(field);
  }
  if (schema.has_weight() && use == RowUse::kObservation) {
    weight_column_ = table.column(*schema.parts().weight);
  }
  if (schema.has_trials()) {
    const std::string& field = *schema.target_rule().trials;
    const bool there = std::ranges::find(table.columns(), field) != table.columns().end();
    if (there || use == RowUse::kObservation) trials_column_ = table.column(field);
  }
  const auto source_of = [&](const std::string& field) -> Source {
    const DerivedField* derived = schema.derived_field(field);
    const auto& columns = table.columns();
    const bool by_its_own_name = use == RowUse::kQuestion &&
                                 std::find(columns.begin(), columns.end(), field) != columns.end();
    if (by_its_own_name) return {table.column(field), nullptr, derived != nullptr};
    return {table.column(derived != nullptr ? derived->from : field), derived, false};
  };
  for (const FeatureRule& rule : schema.rules()) {
    std::vector<Source>& sources = sources_.emplace_back();
    if (rule.kind == FeatureRule::Kind::kInteraction) continue;  // multiplies columns, not cells
    if (rule.kind != FeatureRule::Kind::kHash) sources.push_back(source_of(rule.field));
    for (const std::string& field : rule.fields) sources.push_back(source_of(field));
  }
}

bool RowEncoder::skip(const Table& table, std::size_t column, EncodedRow& row,
                      const std::string& why) const {
  std::string text = table.place(column) + ": " + why;
  if (!skips_) throw RowError(text);
  row.skipped = {std::move(text), schema_.is_missing(table.text(column))};
  return false;
}

bool RowEncoder::skip_too_large(const Table& table, std::size_t feature, double largest,
                                EncodedRow& row) const {
  const std::vector<Source>& sources = sources_[schema_.rule_of(feature)];
  const std::string most =
      fmt::format("a number has a size of at most {:g}{}", largest, scaled_ ? ", scaled" : "");
  if (!sources.empty()) {
    const std::size_t column = sources.front().column;
    return skip(table, column, row,
                fmt::format("\"{}\" is too large: {}", table.text(column), most));
  }
  std::string text = fmt::format("{}, line {}: {} is too large: {}", table.path(), table.line(),
                                 schema_.feature_name(feature), most);
  if (!skips_) throw RowError(text);
  row.skipped = {std::move(text), false};
  return false;
}

bool RowEncoder::encode(const Table& table, EncodedRow& row) const {
  using Cell = Schema::Cell;
  const SchemaParts& parts = schema_.parts();
  row.indices.clear();
  row.unlisted.clear();
  row.hashed.clear();
  row.words_left_out.clear();
  if (parts.sparse) {
    row.values.clear();
  } else {
    row.values.assign(schema_.features(), 0.0);
  }
  for (std::size_t r = 0; r < sources_.size(); ++r) {
    if (parts.rules[r].kind == FeatureRule::Kind::kInteraction) {
      schema_.append_interaction(r, row, scaled_);
      continue;
    }
    if (parts.rules[r].kind == FeatureRule::Kind::kHash) {
      if (!encode_hash(table, r, row)) return false;
      continue;
    }
    const Source& source = sources_[r][0];
    std::string_view text = table.text(source.column);
    std::string derived;
    if (const auto number = source.own_name ? schema_.own_number(text) : std::nullopt) {
      derived = number_text(*number);
      text = derived;
    } else if (source.derived != nullptr) {
      const std::optional<double> value =
          schema_.is_missing(text) ? std::nullopt : derive(*source.derived, text);
      if (!value) {
        return skip(table, source.column, row,
                    fmt::format("\"{}\" where {} is expected", text, source.derived->format));
      }
      if (parts.rules[r].kind != FeatureRule::Kind::kCategory) {
        schema_.append_number(r, *value, row, scaled_);
        continue;
      }
      derived = number_text(*value);
      text = derived;
    }
    const Cell cell = schema_.encode_cell(r, text, row, scaled_);
    if (cell == Cell::kEncoded) {
      if (!target_column_ && !schema_.lists(r, text)) {
        row.unlisted.emplace_back(parts.rules[r].field, text);
      }
      continue;
    }
    return skip(table, source.column, row, schema_.refusal(r, cell, text));
  }
  const double largest = target_column_ ? kLargestNumber : std::numeric_limits<double>::max();
  if (const auto column = schema_.overflown(row, largest)) {
    return skip_too_large(table, *column, largest, row);
  }
  row.offset = 0;
  if (offset_column_) {
    const std::string_view text = table.text(*offset_column_);
    const std::optional<double> offset = schema_.offset_of(text);
    if (!offset) {
      return skip(table, *offset_column_, row,
                  fmt::format("\"{}\" where {} is expected", text, schema_.offset_text()));
    }
    row.offset = *offset;
  }
  if (weight_column_ && !encode_weight(table, row)) return false;
  row.trials = 1;
  if (trials_column_ && !encode_trials(table, row)) return false;
  return !target_column_ || encode_target(table, row);
}

bool RowEncoder::encode_target(const Table& table, EncodedRow& row) const {
  const TargetRule& rule = schema_.target_rule();
  const std::string_view text = table.text(*target_column_);
  const bool missing = schema_.is_missing(text) && !rule.lists(text);
  const std::optional<double> target =
      missing ? std::nullopt : rule.encode(text, schema_.parts().numbers);
  if (!target) {
    const std::string why = fmt::format("\"{}\" where {} is expected", text, rule.allowed());
    if (missing || !rule.lists_all()) return skip(table, *target_column_, row, why);
    throw RowError(table.place(*target_column_) + ": " + why);
  }
  if (trials_column_ && *target > row.trials) {
    throw RowError(table.place(*target_column_) +
                   fmt::format(": {} is more than its trials, {}: {}", text, *rule.trials,
                               table.text(*trials_column_)));
  }
  if (!(std::abs(*target) <= kLargestNumber)) {
    return skip(table, *target_column_, row,
                fmt::format("\"{}\" is too large: a number has a size of at most {:g}", text,
                            kLargestNumber));
  }
  row.target = *target;
  if (row.trials > 0) return true;
  row.skipped = {table.place(*trials_column_) + ": the row has 0 trials", true};
  return false;
}

// An observation may have 0 trials and y = 0. Such a row says nothing and is skipped.
bool RowEncoder::encode_trials(const Table& table, EncodedRow& row) const {
  const std::string_view text = table.text(*trials_column_);
  const std::optional<double> trials = schema_.trials_of(text);
  if (!trials || (*trials == 0 && !target_column_)) {
    const std::string why = fmt::format("\"{}\" where {} is expected", text, kTrialsExpected);
    if (schema_.is_missing(text)) return skip(table, *trials_column_, row, why);
    throw RowError(table.place(*trials_column_) + ": " + why);
  }
  row.trials = *trials;
  return true;
}

bool RowEncoder::encode_weight(const Table& table, EncodedRow& row) const {
  const std::string_view text = table.text(*weight_column_);
  const std::optional<double> weight = schema_.weight_of(text);
  if (!weight) {
    return skip(table, *weight_column_, row,
                fmt::format("\"{}\" where a weight, a number from {:g} to {:g}, is expected", text,
                            kLeastWeight, kLargestWeight));
  }
  if (*weight == 0) {
    row.skipped = {table.place(*weight_column_) + ": the row has the weight 0", true};
    return false;
  }
  row.weight = *weight;
  return true;
}

}  // namespace windhover
