// Which columns a schema has, and what they are called.
#include <fmt/format.h>

#include <algorithm>

#include "windhover/tools/data/schema.h"

namespace windhover {

std::size_t FeatureRule::value_columns() const {
  switch (kind) {
    case Kind::kNumber:
      return 1;
    case Kind::kHarmonic:
      return 2 * std::size_t{harmonics};
    case Kind::kHash:
      return buckets;
    case Kind::kCategory:
      break;
  }
  return categories.size() + (other == Other::kColumn ? 1 : 0);
}

void Schema::index_features() {
  first_columns_.clear();
  category_index_.assign(parts_.rules.size(), {});
  std::size_t column = 0;
  for (std::size_t r = 0; r < parts_.rules.size(); ++r) {
    const FeatureRule& rule = parts_.rules[r];
    first_columns_.push_back(column);
    for (std::size_t i = 0; i < rule.categories.size(); ++i)
      category_index_[r].emplace(rule.categories[i], static_cast<std::uint32_t>(column + i));
    column += rule.value_columns() + (rule.missing == FeatureRule::Missing::kColumn ? 1 : 0);
  }
  features_ = static_cast<std::uint32_t>(column);
}

std::string Schema::feature_name(std::size_t column) const {
  const auto after = std::ranges::upper_bound(first_columns_, column);
  const auto r = static_cast<std::size_t>(after - first_columns_.begin()) - 1;
  const FeatureRule& rule = parts_.rules[r];
  const std::size_t place = column - first_columns_[r];
  const bool hash = rule.kind == FeatureRule::Kind::kHash;
  const std::string name = hash ? fmt::format("hash({})", rule.field) : rule.field;
  if (place >= rule.value_columns()) return name + " missing";
  switch (rule.kind) {
    case FeatureRule::Kind::kNumber:
      break;
    case FeatureRule::Kind::kHarmonic:
      return fmt::format(
          "{}{} {} {}", name,
          rule.reads == Reads::kNumber ? std::string() : fmt::format(" period {:g}", rule.period),
          place % 2 == 0 ? "sin" : "cos", place / 2 + 1);
    case FeatureRule::Kind::kCategory:
      return fmt::format("{}={}", name,
                         place < rule.categories.size() ? rule.categories[place] : "other");
    case FeatureRule::Kind::kHash:
      return fmt::format("{} {}", name, place);
  }
  return name;
}

std::vector<std::string> Schema::feature_names() const {
  std::vector<std::string> names;
  names.reserve(features_);
  for (std::uint32_t j = 0; j < features_; ++j) names.push_back(feature_name(j));
  return names;
}

bool Schema::has_hashes() const {
  return std::ranges::any_of(
      parts_.rules, [](const FeatureRule& r) { return r.kind == FeatureRule::Kind::kHash; });
}

std::uint32_t Schema::max_nonzeros() const {
  std::uint32_t count = 0;
  for (const FeatureRule& rule : parts_.rules) {
    count += rule.kind == FeatureRule::Kind::kHarmonic ? 2 * rule.harmonics
             : rule.words                              ? std::min(rule.most, rule.buckets)
                                                       : 1;
  }
  return count;
}

}  // namespace windhover
