#include "windhover/tools/data/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

namespace windhover {
namespace {

constexpr std::size_t kMost = 3;
constexpr std::size_t kLeastPart = 3;
constexpr std::size_t kFartherThanNearest = 1;
constexpr std::size_t kOfParts = 2;

std::string lowered(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

// The number of insertions, deletions, replacements and swaps of neighbours from one to the other
// (optimal string alignment).
std::size_t slips_between(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({replaced, d[i - 1][j] + 1, d[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

bool is_part(const std::string& wanted, const std::string& other) {
  if (wanted.empty()) return false;
  if (other.starts_with(wanted)) return true;
  return wanted.size() >= kLeastPart && other.size() >= kLeastPart &&
         (other.find(wanted) != std::string::npos || wanted.find(other) != std::string::npos);
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string> names) {
  const std::string wanted = lowered(name);
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& candidate : names) {
    const std::string other = lowered(candidate);
    const std::size_t slips = slips_between(wanted, other);
    const std::size_t size = std::max(wanted.size(), other.size());
    if (is_part(wanted, other)) {
      near.emplace_back(std::min(slips, kOfParts), candidate);
    } else if (3 * slips <= size || (slips <= 2 && std::min(wanted.size(), other.size()) >= 4)) {
      near.emplace_back(slips, candidate);
    }
  }
  std::ranges::stable_sort(near, {}, &std::pair<std::size_t, std::string>::first);
  std::vector<std::string> out;
  for (auto& [slips, candidate] : near) {
    if (out.size() == kMost || slips > near.front().first + kFartherThanNearest) break;
    out.push_back(std::move(candidate));
  }
  return out;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> names) {
  const std::vector<std::string> near = nearest_names(name, names);
  return near.empty() ? "" : fmt::format("; did you mean {}", fmt::join(near, " or "));
}

}  // namespace windhover
