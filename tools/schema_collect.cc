// Filling in a draft schema from a file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "windhover/tools/error.h"
#include "windhover/tools/schema.h"

namespace windhover {
namespace {

// What one pass finds out about one rule. Mean and variance by Welford's recurrence.
struct Seen {
  double count = 0;
  double mean = 0;
  double squares = 0;
  std::map<std::string, std::uint64_t, std::less<>> categories;

  void add(double value) {
    count += 1;
    const double delta = value - mean;
    mean += delta / count;
    squares += delta * (value - mean);
  }
  void add(std::string_view category) {
    const auto found = categories.find(category);
    if (found != categories.end()) {
      ++found->second;
    } else {
      categories.emplace(category, 1);
    }
  }
};

// The most frequent ones, in alphabetic order, so that the result does not depend on counts alone.
std::vector<std::string> chosen(const Seen& seen, std::uint32_t most) {
  std::vector<std::pair<std::string, std::uint64_t>> all(seen.categories.begin(),
                                                         seen.categories.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (most > 0 && all.size() > most) all.resize(most);
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const auto& [name, count] : all) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Schema Schema::collected_from(const std::string& data_path) const {
  Table table(data_path, table_options());
  (void)table.column(target_);
  struct Source {
    std::size_t column;
    const DerivedField* derived;
  };
  std::vector<Source> sources;
  for (const FeatureRule& rule : rules_) {
    const DerivedField* derived = derived_field(rule.field);
    sources.push_back({table.column(derived != nullptr ? derived->from : rule.field), derived});
  }
  std::vector<Seen> seen(rules_.size());
  while (table.next()) {
    for (std::size_t r = 0; r < rules_.size(); ++r) {
      const std::string_view text = table.text(sources[r].column);
      const bool category = rules_[r].kind == FeatureRule::Kind::kCategory;
      if (category && sources[r].derived == nullptr) {
        if (!text.empty()) seen[r].add(text);
        continue;
      }
      const auto value =
          sources[r].derived != nullptr ? derive(*sources[r].derived, text) : parse_number(text);
      if (!value) continue;
      if (category) {
        seen[r].add(fmt::format("{}", *value));
      } else {
        seen[r].add(*value);
      }
    }
  }
  Schema schema = *this;
  for (std::size_t r = 0; r < rules_.size(); ++r) {
    FeatureRule& rule = schema.rules_[r];
    if (rule.kind == FeatureRule::Kind::kCategory && rule.categories.empty()) {
      rule.categories = chosen(seen[r], rule.most);
      if (rule.categories.empty()) {
        throw UserError(fmt::format("{} has no value of {}", data_path, rule.field));
      }
    }
    if (rule.kind == FeatureRule::Kind::kNumber && (!rule.shift || !rule.scale)) {
      if (seen[r].count == 0) {
        throw UserError(fmt::format("{} has no number of {}", data_path, rule.field));
      }
      const double sd = std::sqrt(seen[r].squares / seen[r].count);
      if (!rule.shift) rule.shift = seen[r].mean;
      if (!rule.scale) rule.scale = sd > 0 ? sd : 1.0;
      if (!std::isfinite(*rule.shift) || !std::isfinite(*rule.scale)) {
        throw UserError(fmt::format("{}: the numbers of {} are too large for a mean and a scale",
                                    data_path, rule.field));
      }
    }
  }
  schema.index_features();
  return schema;
}

}  // namespace windhover
