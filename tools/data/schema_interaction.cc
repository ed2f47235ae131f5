// Interactions: products of the columns of several fields.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "windhover/tools/data/schema.h"

namespace windhover {

// The values of a row in the columns of one factor that are not 0, with their places among these
// columns.
Schema::Products Schema::factor_values(const std::vector<std::size_t>& factor,
                                       const EncodedRow& row, bool scaled) const {
  Products found;
  std::size_t before = 0;  // columns of the factor so far
  for (const std::size_t r : factor) {
    const FeatureRule& rule = parts_.rules[r];
    const std::size_t first = first_columns_[r], count = value_columns(parts_.rules, r);
    const auto add = [&](std::size_t column, double value) {
      if (rule.kind == FeatureRule::Kind::kNumber && !scaled)
        value = (value - *rule.shift) / *rule.scale;
      if (value != 0) found.emplace_back(before + column - first, value);
    };
    if (!parts_.sparse) {
      for (std::size_t column = first; column < first + count; ++column)
        add(column, row.values[column]);
    } else {
      const auto from = std::ranges::lower_bound(row.indices, first);
      const auto to = std::ranges::lower_bound(row.indices, first + count);
      if (from == to && rule.kind == FeatureRule::Kind::kNumber) add(first, 0.0);
      for (auto at = from; at != to; ++at)
        add(*at, row.values[static_cast<std::size_t>(at - row.indices.begin())]);
    }
    before += count;
  }
  return found;
}

void Schema::append_interaction(std::size_t rule, EncodedRow& row, bool scaled) const {
  Products products = {{0, 1.0}};
  for (const auto& factor : factors_of(parts_.rules, rule)) {
    std::size_t columns = 0;
    for (const std::size_t r : factor) columns += value_columns(parts_.rules, r);
    const Products values = factor_values(factor, row, scaled);
    Products next;
    next.reserve(products.size() * values.size());
    for (const auto& [place, product] : products) {
      for (const auto& [column, value] : values)
        next.emplace_back(place * columns + column, product * value);
    }
    products = std::move(next);
  }
  for (const auto& [place, product] : products) append(first_columns_[rule] + place, product, row);
}

}  // namespace windhover
