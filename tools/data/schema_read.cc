// Reads a schema from TOML.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "windhover/runtime/config.h"
#include "windhover/samplers/config.h"
#include "windhover/samplers/registry.h"
#include "windhover/tools/data/schema.h"
#include "windhover/tools/data/schema_names.h"
#include "windhover/tools/data/schema_read_rules.h"
#include "windhover/tools/data/toml_keys.h"
#include "windhover/tools/data/toml_text.h"
#include "windhover/tools/error.h"

namespace windhover {

using namespace schema_names;

namespace {

DerivedField read_derived(std::string name, Keys keys) {
  DerivedField field;
  field.name = std::move(name);
  field.from = keys.required_text("from");
  field.format = keys.required_text("format");
  field.part = keys.required_name("part", kParts);
  const char letter = format_letter(field.part);
  if (field.format.find(letter) == std::string::npos) {
    keys.fail(fmt::format("format = \"{}\" has no {} for the part \"{}\"", field.format, letter,
                          name_of(kParts, field.part)));
  }
  keys.finish();
  return field;
}

// The kind of a draft's target is not known yet.
void read_model(Keys& keys, TargetRule& rule, const std::string& target, const std::string& path) {
  const auto name = keys.text("model");
  if (!name) return;
  const ModelEntry* const entry = find_model(*name);
  if (entry == nullptr)
    keys.fail(fmt::format("model = \"{}\" is no model; `windhover models` lists them", *name));
  if (!rule.is_draft()) check_model(rule, *name, target, path);
  rule.model = entry->name;
}

// The kind follows from the keys of the categories, or is given and must agree with them.
TargetRule read_target(Keys& keys) {
  using Kind = TargetRule::Kind;
  TargetRule rule;
  rule.positive_above = keys.number("positive_above");
  rule.positive = keys.text("positive");
  rule.negative = keys.text("negative");
  rule.classes = keys.texts("classes", 2);
  if (rule.positive_above && rule.positive) keys.fail("give positive or positive_above, not both");
  if (rule.negative && !rule.positive) keys.fail("negative needs positive: the text that means 1");
  if (rule.negative && same_category(*rule.negative, *rule.positive))
    keys.fail(fmt::format("positive and negative are both \"{}\"", *rule.positive));
  const bool binary = rule.positive || rule.positive_above;
  if (binary && !rule.classes.empty()) keys.fail("give classes or a positive one, not both");
  if (rule.classes.size() > kMaxClasses) {
    keys.fail(fmt::format("classes has {} texts; at most {} are allowed", rule.classes.size(),
                          kMaxClasses));
  }
  for (std::size_t i = 0; i < rule.classes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (same_category(rule.classes[i], rule.classes[j]))
        keys.fail(fmt::format("classes \"{}\" and \"{}\" are the same number", rule.classes[j],
                              rule.classes[i]));
    }
  }
  rule.shift = keys.number("target_shift");
  rule.scale = keys.number("target_scale");
  if (rule.shift.has_value() != rule.scale.has_value())
    keys.fail("target_shift and target_scale are given together or not at all");
  if (rule.scale && !(*rule.scale > 0))
    keys.fail(fmt::format("target_scale = {} must be greater than 0", *rule.scale));
  if (binary) rule.kind = Kind::kBinary;
  if (!rule.classes.empty()) rule.kind = Kind::kClasses;
  if (!keys.has("target_kind")) {
    if (rule.shift && rule.kind != Kind::kUnstated)
      keys.fail("target_shift and target_scale are for a target that is a number");
    return rule;
  }
  const Kind said = keys.required_name("target_kind", kTargetKinds);
  if (rule.kind != Kind::kUnstated && rule.kind != said) {
    keys.fail(fmt::format("target_kind = \"{}\" contradicts {}, which means \"{}\"",
                          name_of(kTargetKinds, said), binary ? "the positive one" : "classes",
                          name_of(kTargetKinds, rule.kind)));
  }
  rule.kind = said;
  if (rule.shift && said != Kind::kNumber)
    keys.fail("target_shift and target_scale are for a target that is a number");
  return rule;
}

// An exposure is one of counts.
std::optional<OffsetRule> read_offset(Keys& keys, TargetRule& target) {
  const std::optional<std::string> offset = keys.text("offset");
  const std::optional<std::string> exposure = keys.text("exposure");
  if (offset && exposure) keys.fail("give offset or exposure, not both");
  if (!offset && !exposure) return std::nullopt;
  OffsetRule rule{offset ? *offset : *exposure, exposure.has_value()};
  if (rule.field.empty()) keys.fail("offset and exposure are the name of a field");
  using Kind = TargetRule::Kind;
  if (rule.exposure && target.kind == Kind::kUnstated && !target.shift) target.kind = Kind::kCount;
  if (rule.exposure && target.kind != Kind::kCount) {
    keys.fail("exposure is for counts, target_kind = \"count\"; of another target give an offset");
  }
  return rule;
}

// Trials are those that a count is of.
std::optional<std::string> read_trials(Keys& keys, TargetRule& target, bool has_offset) {
  const std::optional<std::string> trials = keys.text("trials");
  if (!trials) return std::nullopt;
  if (trials->empty()) keys.fail("trials is the name of a field");
  using Kind = TargetRule::Kind;
  if (target.kind == Kind::kUnstated && !target.shift) target.kind = Kind::kCount;
  if (target.kind != Kind::kCount)
    keys.fail("trials are of a count, target_kind = \"count\": how many of them succeeded");
  if (has_offset) keys.fail("a target of trials takes no offset and no exposure");
  return trials;
}

}  // namespace

Schema Schema::from_file(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || text.str().empty()) {
    throw UserError(
        fmt::format("cannot read the schema {}: no such file, not readable, or empty", path));
  }
  return from_text(text.str(), path);
}

Schema Schema::from_text(std::string_view text, const std::string& path) {
  toml::table document;
  try {
    document = toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    throw UserError(fmt::format("{}, line {}: {}", path, error.source().begin.line,
                                std::string(error.description())));
  }
  SchemaParts parts;
  parts.path = path;
  Keys keys(document, path);
  parts.target = keys.required_text("target");
  parts.target_rule = read_target(keys);
  parts.offset = read_offset(keys, parts.target_rule);
  parts.target_rule.trials = read_trials(keys, parts.target_rule, parts.offset.has_value());
  parts.weight = keys.text("weight");
  if (parts.weight && parts.weight->empty()) keys.fail("weight is the name of a field");
  read_model(keys, parts.target_rule, parts.target, path);
  const std::string_view named = parts.target_rule.model;
  if (parts.offset && parts.offset->exposure && !named.empty() &&
      !is_count(find_model(named)->response)) {
    keys.fail(fmt::format("exposure is for models of counts, and {} is none", named));
  }
  if (const auto separator = keys.text("separator"))
    parts.table.separator = parse_separator(*separator);
  parts.table.header = keys.flag("header").value_or(true);
  parts.table.quotes = keys.flag("quotes").value_or(true);
  if (keys.has("decimal")) parts.numbers.decimal = keys.required_name("decimal", kDecimals);
  parts.numbers.thousands = keys.flag("thousands").value_or(false);
  if (keys.has("missing")) {
    constexpr std::array<std::pair<std::string_view, MissingPolicy>, 2> kPolicies = {
        {{"refuse", MissingPolicy::kRefuse}, {"skip", MissingPolicy::kSkip}}};
    parts.missing = keys.required_name("missing", kPolicies);
  }
  parts.missing_texts = keys.texts("missing_texts", 0);
  parts.sparse = keys.flag("sparse").value_or(false);

  if (keys.has("derived")) {
    const toml::table* fields = document["derived"].as_table();
    if (fields == nullptr) keys.fail("derived must be written as [derived.NAME]");
    for (const auto& [name, node] : *fields) {
      const std::string place = fmt::format("{}, derived.{}", path, name.str());
      if (!node.is_table()) throw UserError(place + " must be a table with from, format and part");
      parts.derived.push_back(read_derived(std::string(name.str()), Keys(*node.as_table(), place)));
    }
  }
  const toml::array* features = keys.has("feature") ? document["feature"].as_array() : nullptr;
  if (features == nullptr || features->empty()) keys.fail("no [[feature]]; at least one is needed");
  std::size_t columns = 0;
  for (const toml::node& node : *features) {
    const std::string place = fmt::format("{}, feature {}", path, parts.rules.size() + 1);
    if (!node.is_table()) throw UserError(place + " must be written as [[feature]]");
    const FeatureRule& rule =
        parts.rules.emplace_back(read_rule(Keys(*node.as_table(), place), parts.rules));
    if (rule.kind == FeatureRule::Kind::kHash && !parts.sparse) {
      throw UserError(place +
                      ": hash needs sparse = true at the beginning of the schema: of so many "
                      "columns rows go as indices and values");
    }
    columns += all_columns(parts.rules, parts.rules.size() - 1);
    if (columns > kMostColumns) {
      throw UserError(
          fmt::format("{}: the features up to it have {} columns; at most {} are "
                      "allowed",
                      place, columns, kMostColumns));
    }
  }
  keys.finish();
  return Schema(std::move(parts));
}

}  // namespace windhover
