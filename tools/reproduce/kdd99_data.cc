#include "windhover/tools/reproduce/kdd99_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_set>

#include "windhover/tools/data/table.h"
#include "windhover/tools/reproduce/mnist.h"

namespace windhover::reproduce {
namespace {

constexpr std::size_t kKddColumns = 41;  // without the label
constexpr std::size_t kConstant = 19;
constexpr std::array<std::size_t, 3> kTexts = {1, 2, 3};

bool is_text(std::size_t column) { return std::ranges::find(kTexts, column) != kTexts.end(); }

// The numbers of texts in alphabetical order, for what was numbered as it appeared.
std::vector<double> alphabetical(const std::map<std::string, std::size_t>& appeared) {
  std::vector<double> out(appeared.size());
  double next = 0;
  for (const auto& [text, number] : appeared) out[number] = next++;
  return out;
}

}  // namespace

Connections load_connections(const std::string& path) {
  windhover::Table table(path, {.header = false});
  Connections out;
  std::array<std::map<std::string, std::size_t>, kTexts.size()> texts;
  std::map<std::string, std::size_t> labels;
  std::vector<double> counts;
  std::unordered_set<std::string> seen;
  while (table.next()) {
    std::string row;
    for (std::size_t j = 0; j < kKddColumns; ++j) {
      row.append(table.text(j)).push_back(',');
      if (j == kConstant) continue;
      const auto* text = std::ranges::find(kTexts, j);
      if (text == kTexts.end()) {
        out.data.features.push_back(table.require_number(j));
        continue;
      }
      auto& numbers = texts[static_cast<std::size_t>(text - kTexts.begin())];
      const auto at = numbers.try_emplace(std::string(table.text(j)), numbers.size()).first;
      out.data.features.push_back(static_cast<double>(at->second));
    }
    const auto label =
        labels.try_emplace(std::string(table.text(kKddColumns)), labels.size()).first;
    counts.resize(labels.size());
    counts[label->second] += 1;
    row.append(label->first);
    if (seen.insert(std::move(row)).second) out.distinct.push_back(out.data.targets.size());
    out.data.targets.push_back(static_cast<double>(label->second));
  }

  std::vector<std::pair<double, std::string>> order;
  order.reserve(labels.size());
  for (const auto& [text, number] : labels) order.emplace_back(-counts[number], text);
  std::ranges::sort(order);
  std::vector<double> rank(labels.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    rank[labels.at(order[i].second)] = static_cast<double>(i);
    out.labels.push_back(order[i].second);
  }
  for (double& y : out.data.targets) y = rank[static_cast<std::size_t>(y)];

  constexpr std::size_t kKept = kKddColumns - 1;
  std::array<double, kKept> largest{};
  std::vector<double>& x = out.data.features;
  for (std::size_t i = 0; i < x.size(); ++i)
    largest[i % kKept] = std::max(largest[i % kKept], x[i]);
  std::array<std::vector<double>, kTexts.size()> numbers;
  for (std::size_t t = 0; t < kTexts.size(); ++t) numbers[t] = alphabetical(texts[t]);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t j = i % kKept;
    if (is_text(j)) {
      const std::vector<double>& of = numbers[j - kTexts[0]];
      x[i] = of[static_cast<std::size_t>(x[i])] / static_cast<double>(of.size() - 1);
    } else if (largest[j] > 1) {
      x[i] = std::log1p(x[i]) / std::log1p(largest[j]);
    }
  }
  out.data.target_name = "label";
  describe(out.data, kKept);
  return out;
}

}  // namespace windhover::reproduce
