// The schema as TOML: reading, writing, and the canonical description.
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

#include "windhover/tools/error.h"
#include "windhover/tools/schema.h"
#include "windhover/tools/toml_text.h"

namespace windhover {
namespace {

constexpr std::uint32_t kMaxHarmonics = 64;
constexpr std::array<std::pair<std::string_view, DerivedField::Part>, 5> kParts = {{
    {"hour", DerivedField::Part::kHour},
    {"minute", DerivedField::Part::kMinute},
    {"day", DerivedField::Part::kDay},
    {"month", DerivedField::Part::kMonth},
    {"year", DerivedField::Part::kYear},
}};
constexpr std::array<std::pair<std::string_view, FeatureRule::Kind>, 3> kKinds = {{
    {"number", FeatureRule::Kind::kNumber},
    {"harmonic", FeatureRule::Kind::kHarmonic},
    {"category", FeatureRule::Kind::kCategory},
}};

constexpr std::array<std::pair<std::string_view, FeatureRule::Other>, 3> kOthers = {{
    {"refuse", FeatureRule::Other::kRefuse},
    {"column", FeatureRule::Other::kColumn},
    {"zero", FeatureRule::Other::kZero},
}};

template <class Names, class Value>
std::string_view name_of(const Names& names, Value value) {
  for (const auto& [name, named] : names) {
    if (named == value) return name;
  }
  return "?";
}

// One TOML table, every key of which must be asked for by finish().
class Keys {
 public:
  Keys(const toml::table& table, std::string place) : table_(table), place_(std::move(place)) {}

  bool has(std::string_view key) {
    asked_.emplace(key);
    return table_.contains(key);
  }

  template <class T>
  std::optional<T> get(std::string_view key, std::string_view expected) {
    if (!has(key)) return std::nullopt;
    std::optional<T> value = table_[key].value<T>();
    if (!value) fail(fmt::format("{} must be {}", key, expected));
    return value;
  }

  std::optional<std::string> text(std::string_view key) {
    return get<std::string>(key, "a text in quotes");
  }
  std::optional<bool> flag(std::string_view key) { return get<bool>(key, "true or false"); }
  std::optional<double> number(std::string_view key) {
    const auto value = get<double>(key, "a finite number");
    if (value && !std::isfinite(*value)) fail(fmt::format("{} must be a finite number", key));
    return value;
  }
  std::optional<std::uint32_t> count(std::string_view key, std::uint32_t most) {
    const auto value = get<std::int64_t>(key, "a whole number");
    if (!value) return std::nullopt;
    if (*value < 1 || *value > most)
      fail(fmt::format("{} = {} must be 1 to {}", key, *value, most));
    return static_cast<std::uint32_t>(*value);
  }
  std::string required_text(std::string_view key) {
    const auto value = text(key);
    if (!value || value->empty()) fail(fmt::format("{} is missing: a text in quotes", key));
    return *value;
  }

  template <class Names>
  auto required_name(std::string_view key, const Names& names) {
    const std::string given = required_text(key);
    std::vector<std::string_view> allowed;
    for (const auto& [name, value] : names) {
      if (name == given) return value;
      allowed.push_back(name);
    }
    fail(fmt::format("{} = \"{}\" must be one of {}", key, given, fmt::join(allowed, ", ")));
  }

  void finish() {
    for (const auto& [key, value] : table_) {
      if (asked_.contains(key.str())) continue;
      fail(fmt::format("unknown key \"{}\"; allowed here are {}", key.str(),
                       fmt::join(asked_, ", ")));
    }
  }

  [[noreturn]] void fail(const std::string& sentence) const {
    throw UserError(place_ + ": " + sentence);
  }

  const toml::table& table() const { return table_; }

 private:
  const toml::table& table_;
  std::string place_;
  std::set<std::string, std::less<>> asked_;
};

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

FeatureRule read_rule(Keys keys) {
  FeatureRule rule;
  rule.field = keys.required_text("field");
  rule.kind = keys.required_name("kind", kKinds);
  switch (rule.kind) {
    case FeatureRule::Kind::kNumber:
      rule.shift = keys.number("shift");
      rule.scale = keys.number("scale");
      if (rule.scale && !(*rule.scale > 0)) {
        keys.fail(fmt::format("scale = {} must be greater than 0", *rule.scale));
      }
      break;
    case FeatureRule::Kind::kHarmonic:
      rule.period = keys.number("period").value_or(0);
      if (!(rule.period > 0)) keys.fail("period is missing: a number greater than 0");
      rule.harmonics = keys.count("harmonics", kMaxHarmonics).value_or(1);
      break;
    case FeatureRule::Kind::kCategory: {
      if (keys.has("other")) rule.other = keys.required_name("other", kOthers);
      rule.most = keys.count("most", 1'000'000).value_or(0);
      if (!keys.has("categories")) break;
      const toml::array* list = keys.table()["categories"].as_array();
      std::set<std::string> seen;
      if (list != nullptr) {
        for (const toml::node& node : *list) {
          const auto category = node.value<std::string>();
          if (!category || !seen.insert(*category).second) {
            keys.fail("categories must be different texts in quotes");
          }
          rule.categories.push_back(*category);
        }
      }
      if (rule.categories.empty()) keys.fail("categories must be a list of at least one text");
      break;
    }
  }
  keys.finish();
  return rule;
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
  Schema schema;
  schema.path_ = path;
  Keys keys(document, path);
  schema.target_ = keys.required_text("target");
  schema.positive_above_ = keys.number("positive_above");
  schema.positive_ = keys.text("positive");
  if (schema.positive_above_ && schema.positive_)
    keys.fail("give positive or positive_above, not both");
  if (const auto separator = keys.text("separator"))
    schema.separator_ = parse_separator(*separator);
  schema.header_ = keys.flag("header").value_or(true);
  if (keys.has("missing")) {
    constexpr std::array<std::pair<std::string_view, MissingPolicy>, 2> kPolicies = {
        {{"refuse", MissingPolicy::kRefuse}, {"skip", MissingPolicy::kSkip}}};
    schema.missing_ = keys.required_name("missing", kPolicies);
  }
  schema.sparse_ = keys.flag("sparse").value_or(false);

  if (keys.has("derived")) {
    const toml::table* fields = document["derived"].as_table();
    if (fields == nullptr) keys.fail("derived must be written as [derived.NAME]");
    for (const auto& [name, node] : *fields) {
      const std::string place = fmt::format("{}, derived.{}", path, name.str());
      if (!node.is_table()) throw UserError(place + " must be a table with from, format and part");
      schema.derived_.push_back(
          read_derived(std::string(name.str()), Keys(*node.as_table(), place)));
    }
  }
  const toml::array* features = keys.has("feature") ? document["feature"].as_array() : nullptr;
  if (features == nullptr || features->empty()) keys.fail("no [[feature]]; at least one is needed");
  for (const toml::node& node : *features) {
    const std::string place = fmt::format("{}, feature {}", path, schema.rules_.size() + 1);
    if (!node.is_table()) throw UserError(place + " must be written as [[feature]]");
    schema.rules_.push_back(read_rule(Keys(*node.as_table(), place)));
  }
  keys.finish();
  schema.index_features();
  return schema;
}

std::string Schema::to_toml() const {
  std::string out = fmt::format("target = {}\n", toml_text(target_));
  if (positive_above_) out += fmt::format("positive_above = {}\n", toml_number(*positive_above_));
  if (positive_) out += fmt::format("positive = {}\n", toml_text(*positive_));
  out += fmt::format("separator = {}\nheader = {}\nmissing = \"{}\"\nsparse = {}\n",
                     separator_ == '\t' ? "\"tab\"" : toml_text(std::string(1, separator_)),
                     header_, missing_ == MissingPolicy::kSkip ? "skip" : "refuse", sparse_);
  for (const DerivedField& field : derived_) {
    out += fmt::format("\n[derived.{}]\nfrom = {}\nformat = {}\npart = \"{}\"\n",
                       toml_text(field.name), toml_text(field.from), toml_text(field.format),
                       name_of(kParts, field.part));
  }
  for (const FeatureRule& rule : rules_) {
    out += fmt::format("\n[[feature]]\nfield = {}\nkind = \"{}\"\n", toml_text(rule.field),
                       name_of(kKinds, rule.kind));
    if (rule.shift) out += fmt::format("shift = {}\n", toml_number(*rule.shift));
    if (rule.scale) out += fmt::format("scale = {}\n", toml_number(*rule.scale));
    if (rule.kind == FeatureRule::Kind::kHarmonic) {
      out += fmt::format("period = {}\nharmonics = {}\n", toml_number(rule.period), rule.harmonics);
    }
    if (rule.kind == FeatureRule::Kind::kCategory) {
      if (!rule.categories.empty()) {
        out += "categories = [";
        for (std::size_t i = 0; i < rule.categories.size(); ++i) {
          out += fmt::format("{}{}",
                             i == 0        ? ""
                             : i % 10 == 0 ? ",\n  "
                                           : ", ",
                             toml_text(rule.categories[i]));
        }
        out += "]\n";
      } else if (rule.most > 0) {
        out += fmt::format("most = {}\n", rule.most);
      }
      out += fmt::format("other = \"{}\"\n", name_of(kOthers, rule.other));
    }
  }
  return out;
}

// How the file is cut into cells and how missing cells are met does not change what a feature is.
std::string Schema::description() const {
  std::string out = "y: " + target_description() + "\n";
  for (const DerivedField& field : derived_) {
    out += fmt::format("{}: {} of {} as {}\n", field.name, name_of(kParts, field.part), field.from,
                       field.format);
  }
  for (std::size_t r = 0; r < rules_.size(); ++r) {
    const FeatureRule& rule = rules_[r];
    const std::size_t end = r + 1 < rules_.size() ? first_columns_[r + 1] : names_.size();
    for (std::size_t i = first_columns_[r]; i < end; ++i) out += names_[i] + "\n";
    if (rule.kind == FeatureRule::Kind::kNumber) {
      out += fmt::format("  ({} - {}) / {}\n", rule.field, rule.shift.value_or(NAN),
                         rule.scale.value_or(NAN));
    } else if (rule.kind == FeatureRule::Kind::kHarmonic) {
      out += fmt::format("  period {}\n", rule.period);
    } else {
      out += fmt::format("  others: {}\n", name_of(kOthers, rule.other));
    }
  }
  return out;
}

// FNV-1a. 0 is kept free: it means "not stated" in the protocol.
std::uint64_t Schema::fingerprint() const {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : description()) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash != 0 ? hash : 1;
}

}  // namespace windhover
