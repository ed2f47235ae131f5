#include "windhover/tools/data/schema_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace windhover {
namespace {

using nlohmann::ordered_json;

const char* kind_text(TargetRule::Kind kind) {
  switch (kind) {
    case TargetRule::Kind::kCount:
      return "count";
    case TargetRule::Kind::kPositive:
      return "positive-number";
    case TargetRule::Kind::kBinary:
      return "binary";
    case TargetRule::Kind::kClasses:
      return "classes";
    case TargetRule::Kind::kUnstated:
    case TargetRule::Kind::kNumber:
      break;
  }
  return "number";
}

const char* reads_word(Reads reads) {
  switch (reads) {
    case Reads::kBoolean:
      return "boolean";
    case Reads::kYearMonthDay:
    case Reads::kDayMonthYear:
    case Reads::kMonthDayYear:
      return "date";
    case Reads::kTime:
      return "time";
    case Reads::kNumber:
      break;
  }
  return "number";
}

const char* other_word(FeatureRule::Other other) {
  if (other == FeatureRule::Other::kRefuse) return "refuse";
  return other == FeatureRule::Other::kColumn ? "column" : "zero";
}

const char* missing_word(const FeatureRule& rule) {
  if (!rule.stands_for_missing()) return "row";
  return rule.missing == FeatureRule::Missing::kColumn ? "column" : "zero";
}

ordered_json feature(const Schema& schema, std::size_t place) {
  const FeatureRule& rule = schema.rules()[place];
  const std::size_t first = schema.first_column(place);
  const std::size_t count = all_columns(schema.rules(), place);
  ordered_json json = {{"field", rule.field}};
  const bool hash = rule.kind == FeatureRule::Kind::kHash;
  const bool always = !hash && rule.kind != FeatureRule::Kind::kInteraction;
  if (always || rule.missing != FeatureRule::Missing::kUnsaid) json["missing"] = missing_word(rule);
  if (hash) {  // too many columns to name
    json["kind"] = "hash";
    json["fields"] = rule.fields;
    json["first_column"] = first;
    json["buckets"] = rule.buckets;
    if (rule.words) json["words"] = rule.most;
    return json;
  }
  json["columns"] = ordered_json::array();
  for (std::size_t i = 0; i < count; ++i) json["columns"].push_back(schema.feature_name(first + i));
  switch (rule.kind) {
    case FeatureRule::Kind::kNumber:
      json["kind"] = "number";
      json["reads"] = reads_word(rule.reads);
      json["shift"] = rule.shift.value_or(0);
      json["scale"] = rule.scale.value_or(1);
      break;
    case FeatureRule::Kind::kHarmonic:
      json["kind"] = "harmonic";
      json["reads"] = reads_word(rule.reads);
      json["period"] = rule.period;
      break;
    case FeatureRule::Kind::kCategory:
      json["kind"] = "category";
      json["categories"] = rule.categories;
      json["other"] = other_word(rule.other);
      break;
    case FeatureRule::Kind::kSpline:
      json["kind"] = "spline";
      json["reads"] = reads_word(rule.reads);
      json["knots"] = rule.knots;
      break;
    case FeatureRule::Kind::kInteraction:
      json["kind"] = "interaction";
      json["fields"] = rule.fields;
      break;
    case FeatureRule::Kind::kHash:
      break;  // above
  }
  return json;
}

// The form of the schema's files, where it is not the usual one.
ordered_json file_form(const SchemaParts& parts) {
  ordered_json json = ordered_json::object();
  if (parts.table.separator != ',') json["separator"] = std::string(1, parts.table.separator);
  if (!parts.table.header) json["header"] = false;
  if (!parts.table.quotes) json["quotes"] = false;
  if (parts.numbers.decimal != '.') json["decimal"] = std::string(1, parts.numbers.decimal);
  return json;
}

}  // namespace

std::string to_json_text(const Schema& schema) {
  ordered_json json;
  json["target"] = schema.target();
  json["target_description"] = schema.target_description();
  json["target_kind"] = kind_text(schema.target_rule().kind);
  json["classes"] = schema.target_rule().class_names();
  if (schema.has_offset()) {
    const OffsetRule& offset = *schema.parts().offset;
    json[offset.exposure ? "exposure" : "offset"] = offset.field;
  }
  if (schema.has_trials()) json["trials"] = *schema.target_rule().trials;
  if (schema.has_weight()) json["weight"] = *schema.parts().weight;
  if (!schema.parts().missing_texts.empty()) json["missing_texts"] = schema.parts().missing_texts;
  if (ordered_json form = file_form(schema.parts()); !form.empty()) json["file"] = std::move(form);
  if (schema.sparse()) json["sparse"] = true;
  json["fingerprint"] = fmt::format("{:016x}", schema.fingerprint());
  json["features"] = ordered_json::array();
  for (std::size_t i = 0; i < schema.rules().size(); ++i) {
    json["features"].push_back(feature(schema, i));
  }
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace windhover
