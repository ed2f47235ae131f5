// Fills in a draft schema from a file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <utility>

#include "windhover/tools/data/byte_source.h"
#include "windhover/tools/data/schema.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

// A sample of at most kMost numbers, each equally probable (Vitter's algorithm R). Its quantiles
// lie within 0.6 % of all numbers from theirs.
class SampleOfNumbers {
 public:
  void add(double value) {
    ++seen_;
    if (kept_.size() < kMost) {
      kept_.push_back(value);
      return;
    }
    const std::uint64_t place = std::uniform_int_distribution<std::uint64_t>(0, seen_ - 1)(random_);
    if (place < kMost) kept_[place] = value;
  }
  // Knots that split the numbers into equal parts, a twentieth of them beyond either end. Where too
  // many numbers are nearly equal, the different ones are split.
  std::vector<double> knots(std::uint32_t most) {
    if (kept_.empty()) return {};
    std::ranges::sort(kept_);
    std::vector<double> found = apart(quantiles(kept_, most));
    if (found.size() == most) return found;
    std::vector<double> others = apart(quantiles(apart(kept_), most));
    return others.size() > found.size() ? others : found;
  }

 private:
  static std::vector<double> quantiles(const std::vector<double>& sorted, std::uint32_t most) {
    std::vector<double> found;
    const auto last = static_cast<double>(sorted.size() - 1);
    for (std::uint32_t k = 0; k < most; ++k) {
      const double part = kBeyond + (1 - 2 * kBeyond) * k / (most - 1);
      found.push_back(sorted[static_cast<std::size_t>(std::lround(part * last))]);
    }
    return found;
  }
  // Leaves out numbers closer to the one before than a thousandth of the range.
  static std::vector<double> apart(const std::vector<double>& sorted) {
    constexpr double kNear = 1e-3;
    const double least = kNear * (sorted.back() - sorted.front());
    std::vector<double> found = {sorted.front()};
    for (const double value : sorted) {
      if (value > found.back() && value - found.back() >= least) found.push_back(value);
    }
    return found;
  }

  static constexpr std::size_t kMost = 65'536;
  static constexpr double kBeyond = 0.05;
  std::uint64_t seen_ = 0;
  std::vector<double> kept_;
  std::mt19937_64 random_{1};
};

// What the passes collect for one rule.
struct Seen {
  double count = 0;
  double sum = 0;
  double mean = 0;
  double squares = 0;  // sum of squared distances from the mean
  std::map<std::string, std::uint64_t, std::less<>> categories;
  SampleOfNumbers numbers;  // for a spline

  void add(std::string_view category) {
    const auto found = categories.find(category);
    if (found != categories.end()) {
      ++found->second;
    } else {
      categories.emplace(category, 1);
    }
  }
};

// The `most` most frequent categories (0: all), in alphabetic order. Among equally frequent ones
// the first in the alphabet are taken.
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
  struct Source {
    std::size_t column = 0;
    const DerivedField* derived = nullptr;
  };
  refuse_pipe(data_path);
  std::vector<Seen> seen(parts_.rules.size());
  TargetTexts target_texts;
  // Two passes: the mean must be known before the squares can be summed without losing digits.
  for (const bool second : {false, true}) {
    Table table(data_path, table_options());
    const std::size_t target = table.column(parts_.target);
    std::vector<Source> sources;
    for (const FeatureRule& rule : parts_.rules) {
      if (rule.kind == FeatureRule::Kind::kInteraction) {
        sources.push_back({});
        continue;
      }
      if (rule.kind == FeatureRule::Kind::kHash) {  // has nothing to fill in
        for (const std::string& field : rule.fields) {
          const DerivedField* derived = derived_field(field);
          (void)table.column(derived != nullptr ? derived->from : field);
        }
        sources.push_back({});
        continue;
      }
      const DerivedField* derived = derived_field(rule.field);
      sources.push_back({table.column(derived != nullptr ? derived->from : rule.field), derived});
    }
    while (table.next()) {
      if (const auto text = table.text(target);
          !second && (!is_missing(text) || parts_.target_rule.lists(text))) {
        target_texts.add(text);
      }
      for (std::size_t r = 0; r < parts_.rules.size(); ++r) {
        const FeatureRule& rule = parts_.rules[r];
        const bool category = rule.kind == FeatureRule::Kind::kCategory;
        if (rule.kind == FeatureRule::Kind::kHash || rule.kind == FeatureRule::Kind::kInteraction ||
            (second && category)) {
          continue;
        }
        const std::string_view text = table.text(sources[r].column);
        if (category && sources[r].derived == nullptr) {
          const bool counts =
              rule.missing == FeatureRule::Missing::kUnsaid ? !text.empty() : !is_missing(text);
          if (counts) seen[r].add(text);
          continue;
        }
        if (is_missing(text)) continue;  // also texts such as -999, which would be numbers
        const auto value = sources[r].derived != nullptr
                               ? derive(*sources[r].derived, text)
                               : read_cell(text, rule.reads, parts_.numbers);
        if (!value) continue;
        if (category) {
          seen[r].add(fmt::format("{}", *value));
        } else if (second) {
          seen[r].squares += (*value - seen[r].mean) * (*value - seen[r].mean);
        } else {
          if (rule.kind == FeatureRule::Kind::kSpline && rule.knots.empty())
            seen[r].numbers.add(*value);
          seen[r].count += 1;
          seen[r].sum += *value;
        }
      }
    }
    for (Seen& s : seen) s.mean = s.count > 0 ? s.sum / s.count : 0.0;
  }
  SchemaParts parts = parts_;
  complete(parts.target_rule, target_texts, parts.target, data_path);
  for (std::size_t r = 0; r < parts.rules.size(); ++r) {
    FeatureRule& rule = parts.rules[r];
    if (rule.kind == FeatureRule::Kind::kCategory && rule.categories.empty()) {
      rule.categories = chosen(seen[r], rule.most);
      if (rule.categories.empty()) {
        throw UserError(fmt::format("{} has no value of {}", data_path, rule.field));
      }
    }
    if (rule.kind == FeatureRule::Kind::kSpline && rule.knots.empty()) {
      rule.knots = seen[r].numbers.knots(rule.most);
      rule.most = 0;
      if (!NaturalSpline::can_be(rule.knots)) {
        throw UserError(
            fmt::format("{}: too few different numbers of {} for a spline, or too large ones; take "
                        "kind = \"number\", or say where its knots are",
                        data_path, rule.field));
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
  return Schema(std::move(parts));
}

}  // namespace windhover
