#include "windhover/tools/data/nearest.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <utility>

namespace windhover {
namespace {

std::string lowered(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

// Characters to insert, delete or replace (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view name,
                                       const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  constexpr std::size_t kLeastPart = 3;
  const std::string wanted = lowered(name);
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& candidate : names) {
    const std::string other = lowered(candidate);
    const std::size_t apart = distance(wanted, other);
    const bool part =
        wanted.size() >= kLeastPart && other.size() >= kLeastPart &&
        (other.find(wanted) != std::string::npos || wanted.find(other) != std::string::npos);
    const std::size_t size = std::max(wanted.size(), other.size());
    if (part || 3 * apart <= size || (size >= 4 && apart <= 2)) {
      near.emplace_back(apart, candidate);
    }
  }
  std::ranges::stable_sort(near, {}, &std::pair<std::size_t, std::string>::first);
  if (near.size() > kMost) near.resize(kMost);
  std::vector<std::string> out;
  for (auto& [apart, candidate] : near) out.push_back(std::move(candidate));
  return out;
}

}  // namespace windhover
