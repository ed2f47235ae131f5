// The columns of a schema and their names.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "windhover/runtime/config.h"
#include "windhover/tools/data/schema.h"
#include "windhover/tools/error.h"

namespace windhover {

namespace {

std::size_t value_columns(const std::vector<FeatureRule>& rules,
                          const std::vector<std::size_t>& of) {
  std::size_t sum = 0;
  for (const std::size_t r : of) sum += value_columns(rules, r);
  return sum;
}

}  // namespace

bool same_fields(const FeatureRule& a, const FeatureRule& b) {
  return std::ranges::is_permutation(a.fields, b.fields);
}

std::vector<std::vector<std::size_t>> factors_of(const std::vector<FeatureRule>& rules,
                                                 std::size_t interaction) {
  std::vector<std::vector<std::size_t>> factors;
  for (const std::string& field : rules[interaction].fields) {
    std::vector<std::size_t>& of_field = factors.emplace_back();
    for (std::size_t r = 0; r < interaction; ++r) {
      const bool of_one_field = rules[r].kind != FeatureRule::Kind::kHash &&
                                rules[r].kind != FeatureRule::Kind::kInteraction;
      if (of_one_field && rules[r].field == field) of_field.push_back(r);
    }
  }
  return factors;
}

std::size_t value_columns(const std::vector<FeatureRule>& rules, std::size_t rule) {
  using Kind = FeatureRule::Kind;
  const FeatureRule& r = rules[rule];
  switch (r.kind) {
    case Kind::kNumber:
      return 1;
    case Kind::kHarmonic:
      return 2 * std::size_t{r.harmonics};
    case Kind::kSpline:
      return r.knots.empty() ? 0 : r.knots.size() - 1;
    case Kind::kHash:
      return r.buckets;
    case Kind::kInteraction: {
      std::size_t product = 1;
      for (const auto& factor : factors_of(rules, rule)) {
        // The bounds keep products beyond kMostColumns above it, without overflow.
        product = std::min(product, 2 * std::size_t{kMostColumns}) *
                  std::min(value_columns(rules, factor), 2 * std::size_t{kMostColumns});
      }
      return product;
    }
    case Kind::kCategory:
      break;
  }
  return r.categories.size() + (r.other == FeatureRule::Other::kColumn ? 1 : 0);
}

std::size_t all_columns(const std::vector<FeatureRule>& rules, std::size_t rule) {
  const bool marked = rules[rule].missing == FeatureRule::Missing::kColumn;
  return value_columns(rules, rule) + (marked ? 1 : 0);
}

void Schema::index_features() {
  first_columns_.clear();
  category_index_.assign(parts_.rules.size(), {});
  splines_.assign(parts_.rules.size(), std::nullopt);
  std::size_t column = 0;
  for (std::size_t r = 0; r < parts_.rules.size(); ++r) {
    const FeatureRule& rule = parts_.rules[r];
    first_columns_.push_back(column);
    for (std::size_t i = 0; i < rule.categories.size(); ++i)
      category_index_[r].emplace(rule.categories[i], static_cast<std::uint32_t>(column + i));
    if (!rule.knots.empty()) splines_[r].emplace(rule.knots);
    column += all_columns(parts_.rules, r);
  }
  if (column > kMostColumns) {
    throw UserError(fmt::format("{}: the features have {} columns; at most {} are allowed",
                                parts_.path, column, kMostColumns));
  }
  features_ = static_cast<std::uint32_t>(column);
}

std::string Schema::feature_name(std::size_t column) const {
  using Kind = FeatureRule::Kind;
  const std::size_t r = rule_of(column);
  const FeatureRule& rule = parts_.rules[r];
  std::size_t place = column - first_columns_[r];
  const bool hash = rule.kind == Kind::kHash;
  const std::string name = hash ? fmt::format("hash({})", rule.field) : rule.field;
  if (place >= value_columns(parts_.rules, r)) return name + " missing";
  switch (rule.kind) {
    case Kind::kNumber:
      break;
    case Kind::kHarmonic:
      return fmt::format(
          "{}{} {} {}", name,
          rule.reads == Reads::kNumber ? std::string() : fmt::format(" period {:g}", rule.period),
          place % 2 == 0 ? "sin" : "cos", place / 2 + 1);
    case Kind::kSpline:
      if (place >= NaturalSpline::reference_knot(rule.knots.size())) ++place;
      return fmt::format("{} at {}", name, rule.knots[place]);
    case Kind::kCategory:
      return fmt::format("{}={}", name,
                         place < rule.categories.size() ? rule.categories[place] : "other");
    case Kind::kHash:
      return fmt::format("{} {}", name, place);
    case Kind::kInteraction:
      return product_name(r, place);
  }
  return name;
}

// The last field's columns run fastest.
std::string Schema::product_name(std::size_t interaction, std::size_t place) const {
  std::vector<std::string> names;
  const auto factors = factors_of(parts_.rules, interaction);
  for (auto factor = factors.rbegin(); factor != factors.rend(); ++factor) {
    const std::size_t columns = value_columns(parts_.rules, *factor);
    std::size_t at = place % columns;
    place /= columns;
    auto rule = factor->begin();
    while (at >= value_columns(parts_.rules, *rule)) at -= value_columns(parts_.rules, *rule++);
    names.push_back(feature_name(first_columns_[*rule] + at));
  }
  std::ranges::reverse(names);
  return fmt::format("{}", fmt::join(names, " x "));
}

std::vector<std::string> Schema::feature_names() const {
  std::vector<std::string> names;
  names.reserve(features_);
  for (std::uint32_t j = 0; j < features_; ++j) names.push_back(feature_name(j));
  return names;
}

// Columns that may be NaN. In a product NaN stands for 0 where one of the factors may be missing.
std::vector<MissingFeature> Schema::missing_features() const {
  const std::vector<FeatureRule>& rules = parts_.rules;
  std::vector<MissingFeature> features(features_);
  const auto may_lack = [&](std::size_t r) { return rules[r].stands_for_missing(); };
  bool any = false;
  for (std::size_t r = 0; r < rules.size(); ++r) {
    bool lacks = may_lack(r);
    if (rules[r].kind == FeatureRule::Kind::kInteraction) {
      for (const auto& factor : factors_of(rules, r))
        lacks = lacks || std::ranges::any_of(factor, may_lack);
    }
    if (!lacks) continue;
    any = true;
    const std::size_t marker = first_columns_[r] + value_columns(rules, r);
    const bool marked = rules[r].missing == FeatureRule::Missing::kColumn;
    for (std::size_t j = first_columns_[r]; j < marker; ++j) {
      features[j].fill = 0;
      if (marked) features[j].marker = static_cast<std::uint32_t>(marker);
    }
  }
  if (!any || parts_.sparse) features.clear();
  return features;
}

std::size_t Schema::rule_of(std::size_t column) const {
  const auto after = std::ranges::upper_bound(first_columns_, column);
  return static_cast<std::size_t>(after - first_columns_.begin()) - 1;
}

std::optional<std::size_t> Schema::overflown(const EncodedRow& row, double largest) const {
  const auto found =
      std::ranges::find_if(row.values, [&](double x) { return !(std::abs(x) <= largest); });
  if (found == row.values.end()) return std::nullopt;
  const auto place = static_cast<std::size_t>(found - row.values.begin());
  return parts_.sparse ? row.indices[place] : place;
}

bool Schema::has_hashes() const {
  return std::ranges::any_of(
      parts_.rules, [](const FeatureRule& r) { return r.kind == FeatureRule::Kind::kHash; });
}

std::uint32_t Schema::max_nonzeros() const {
  std::vector<std::uint32_t> of_rules;
  for (std::size_t r = 0; r < parts_.rules.size(); ++r) {
    const FeatureRule& rule = parts_.rules[r];
    std::uint32_t& most = of_rules.emplace_back(1);
    switch (rule.kind) {
      case FeatureRule::Kind::kHarmonic:
      case FeatureRule::Kind::kSpline:
        most = static_cast<std::uint32_t>(value_columns(parts_.rules, r));
        break;
      case FeatureRule::Kind::kHash:
        if (rule.words) most = std::min(rule.most, rule.buckets);
        break;
      case FeatureRule::Kind::kInteraction:
        for (const auto& factor : factors_of(parts_.rules, r)) {
          std::uint32_t sum = 0;
          for (const std::size_t f : factor) sum += of_rules[f];
          most *= sum;
        }
        break;
      case FeatureRule::Kind::kNumber:
      case FeatureRule::Kind::kCategory:
        break;
    }
  }
  std::uint32_t count = 0;
  for (const std::uint32_t most : of_rules) count += most;
  return count;
}

}  // namespace windhover
