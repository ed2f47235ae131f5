// Writes a schema as TOML, and its canonical description.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "windhover/runtime/config.h"
#include "windhover/samplers/registry.h"
#include "windhover/tools/data/schema.h"
#include "windhover/tools/data/schema_names.h"
#include "windhover/tools/data/toml_text.h"

namespace windhover {

using namespace schema_names;

namespace {

std::string toml_texts(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (std::size_t i = 0; i < texts.size(); ++i) {
    out += i == 0 ? "" : i % 10 == 0 ? ",\n  " : ", ";
    out += toml_text(texts[i]);
  }
  return out + "]";
}

std::string knots_text(const FeatureRule& rule) {
  if (rule.knots.empty()) return fmt::format("{}", rule.most);
  std::vector<std::string> places;
  for (const double knot : rule.knots) places.push_back(toml_number(knot));
  return fmt::format("[{}]", fmt::join(places, ", "));
}

}  // namespace

std::string Schema::to_toml() const {
  const TargetRule& target = parts_.target_rule;
  std::string out = fmt::format("target = {}\n", toml_text(parts_.target));
  if (target.kind != TargetRule::Kind::kUnstated)
    out += fmt::format("target_kind = \"{}\"\n", name_of(kTargetKinds, target.kind));
  if (target.positive_above)
    out += fmt::format("positive_above = {}\n", toml_number(*target.positive_above));
  if (target.positive) out += fmt::format("positive = {}\n", toml_text(*target.positive));
  if (target.negative) out += fmt::format("negative = {}\n", toml_text(*target.negative));
  if (!target.classes.empty()) out += fmt::format("classes = {}\n", toml_texts(target.classes));
  if (target.shift) {
    out += fmt::format("target_shift = {}\ntarget_scale = {}\n", toml_number(*target.shift),
                       toml_number(*target.scale));
  }
  if (!target.model.empty()) out += fmt::format("model = \"{}\"\n", target.model);
  if (parts_.offset) {
    out += fmt::format("{} = {}\n", parts_.offset->exposure ? "exposure" : "offset",
                       toml_text(parts_.offset->field));
  }
  if (target.trials) out += fmt::format("trials = {}\n", toml_text(*target.trials));
  if (parts_.weight) out += fmt::format("weight = {}\n", toml_text(*parts_.weight));
  const char separator = parts_.table.separator;
  out += fmt::format("separator = {}\nheader = {}\n",
                     separator == '\t' ? "\"tab\"" : toml_text(std::string(1, separator)),
                     parts_.table.header);
  if (!parts_.table.quotes) out += "quotes = false\n";
  const NumberForm numbers = parts_.numbers;
  if (numbers.decimal != '.') out += fmt::format("decimal = \"{}\"\n", numbers.decimal);
  if (numbers.thousands) out += "thousands = true\n";
  out +=
      fmt::format("missing = \"{}\"\n", parts_.missing == MissingPolicy::kSkip ? "skip" : "refuse");
  if (!parts_.missing_texts.empty())
    out += fmt::format("missing_texts = {}\n", toml_texts(parts_.missing_texts));
  out += fmt::format("sparse = {}\n", parts_.sparse);
  for (const DerivedField& field : parts_.derived) {
    out += fmt::format("\n[derived.{}]\nfrom = {}\nformat = {}\npart = \"{}\"\n",
                       toml_text(field.name), toml_text(field.from), toml_text(field.format),
                       name_of(kParts, field.part));
  }
  for (const FeatureRule& rule : parts_.rules) {
    if (rule.kind == FeatureRule::Kind::kHash) {
      out += fmt::format("\n[[feature]]\nhash = {}\nbuckets = {}\n", toml_texts(rule.fields),
                         rule.buckets);
      if (rule.words) out += fmt::format("words = true\nmost = {}\n", rule.most);
      if (rule.missing != FeatureRule::Missing::kUnsaid)
        out += fmt::format("missing = \"{}\"\n", name_of(kMissing, rule.missing));
      continue;
    }
    if (rule.kind == FeatureRule::Kind::kInteraction) {
      out += fmt::format("\n[[feature]]\ninteraction = {}\n", toml_texts(rule.fields));
      continue;
    }
    out += fmt::format("\n[[feature]]\nfield = {}\nkind = \"{}\"\n", toml_text(rule.field),
                       name_of(kKinds, rule.kind));
    if (rule.reads != Reads::kNumber)
      out += fmt::format("reads = \"{}\"\n", name_of(kReads, rule.reads));
    if (rule.shift) out += fmt::format("shift = {}\n", toml_number(*rule.shift));
    if (rule.scale) out += fmt::format("scale = {}\n", toml_number(*rule.scale));
    if (rule.kind == FeatureRule::Kind::kHarmonic) {
      out += fmt::format("period = {}\nharmonics = {}\n", toml_number(rule.period), rule.harmonics);
    }
    if (rule.kind == FeatureRule::Kind::kSpline)
      out += fmt::format("knots = {}\n", knots_text(rule));
    if (rule.kind == FeatureRule::Kind::kCategory) {
      if (!rule.categories.empty()) {
        out += fmt::format("categories = {}\n", toml_texts(rule.categories));
      } else if (rule.most > 0) {
        out += fmt::format("most = {}\n", rule.most);
      }
      out += fmt::format("other = \"{}\"\n", name_of(kOthers, rule.other));
    }
    if (rule.missing != FeatureRule::Missing::kUnsaid)
      out += fmt::format("missing = \"{}\"\n", name_of(kMissing, rule.missing));
  }
  return out;
}

// How the file is cut into cells, how missing cells are met and in which units y is learned do not
// change what a row means.
std::string Schema::description() const {
  const TargetRule& target = parts_.target_rule;
  std::string out = "y: " + target_description() + "\n";
  if (target.negative) out += fmt::format("  else {}\n", *target.negative);
  if (!target.classes.empty()) out += fmt::format("  one of {}\n", toml_texts(target.classes));
  if (parts_.offset) {
    out += fmt::format("{}: {}\n", parts_.offset->exposure ? "exposure" : "offset",
                       parts_.offset->field);
  }
  if (parts_.weight) out += fmt::format("weight: {}\n", *parts_.weight);
  const bool marks = std::ranges::any_of(parts_.rules, &FeatureRule::stands_for_missing);
  if (marks && !parts_.missing_texts.empty())
    out += fmt::format("missing: {}\n", toml_texts(parts_.missing_texts));
  for (const DerivedField& field : parts_.derived) {
    out += fmt::format("{}: {} of {} as {}\n", field.name, name_of(kParts, field.part), field.from,
                       field.format);
  }
  for (std::size_t r = 0; r < parts_.rules.size(); ++r) {
    const FeatureRule& rule = parts_.rules[r];
    const std::size_t end = r + 1 < parts_.rules.size() ? first_columns_[r + 1] : features_;
    const bool hash = rule.kind == FeatureRule::Kind::kHash;
    for (std::size_t i = first_columns_[r]; i < end && !hash; ++i) out += feature_name(i) + "\n";
    switch (rule.kind) {
      case FeatureRule::Kind::kHash:
        out += fmt::format("hash({}) 0 to {}\n  of {}\n", rule.field, rule.buckets - 1,
                           toml_texts(rule.fields));
        if (rule.words) out += fmt::format("  words: {} of a row at most\n", rule.most);
        break;
      case FeatureRule::Kind::kNumber:
        out += fmt::format("  ({} - {}) / {}\n", rule.field, rule.shift.value_or(NAN),
                           rule.scale.value_or(NAN));
        break;
      case FeatureRule::Kind::kHarmonic:
        out += fmt::format("  period {}\n", rule.period);
        break;
      case FeatureRule::Kind::kSpline:
        out += fmt::format("  knots {}\n", knots_text(rule));
        break;
      case FeatureRule::Kind::kCategory:
        out += fmt::format("  others: {}\n", name_of(kOthers, rule.other));
        break;
      case FeatureRule::Kind::kInteraction:
        out += fmt::format("  product of {}\n", toml_texts(rule.fields));
        break;
    }
    if (rule.reads != Reads::kNumber)
      out += fmt::format("  reads: {}\n", name_of(kReads, rule.reads));
    if (rule.missing != FeatureRule::Missing::kUnsaid)
      out += fmt::format("  missing: {}\n", name_of(kMissing, rule.missing));
  }
  return out;
}

// FNV-1a. 0 is reserved: the protocol uses it for "not stated".
std::uint64_t Schema::fingerprint() const {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : description()) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash != 0 ? hash : 1;
}

}  // namespace windhover
