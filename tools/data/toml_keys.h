#ifndef WINDHOVER_TOOLS_DATA_TOML_KEYS_H_
#define WINDHOVER_TOOLS_DATA_TOML_KEYS_H_

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "windhover/tools/data/nearest.h"
#include "windhover/tools/error.h"

namespace windhover {

// One TOML table. finish() refuses keys that nobody asked for. UserError names the place, the key,
// and what is allowed.
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
  // A list of finite numbers; nothing where the key is missing or not a list.
  std::optional<std::vector<double>> numbers(std::string_view key) {
    const toml::array* list = has(key) ? table_[key].as_array() : nullptr;
    if (list == nullptr) return std::nullopt;
    std::vector<double> values;
    for (const toml::node& node : *list) {
      const auto value = node.value<double>();
      if (!value || !std::isfinite(*value)) fail(fmt::format("{} must be finite numbers", key));
      values.push_back(*value);
    }
    return values;
  }
  // Different texts; at least `least` of them where the key exists.
  std::vector<std::string> texts(std::string_view key, std::size_t least) {
    std::vector<std::string> values;
    if (!has(key)) return values;
    const toml::array* list = table_[key].as_array();
    std::set<std::string> seen;
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const auto value = (*list)[i].value<std::string>();
      if (!value || !seen.insert(*value).second)
        fail(fmt::format("{} must be different texts in quotes", key));
      values.push_back(*value);
    }
    if (values.size() < least) {
      fail(fmt::format("{} must be a list of at least {} text{}", key, least,
                       least == 1 ? "" : "s"));
    }
    return values;
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
      fail(fmt::format("unknown key \"{}\"{}; allowed here are {}", key.str(),
                       did_you_mean(key.str(), std::vector(asked_.begin(), asked_.end())),
                       fmt::join(asked_, ", ")));
    }
  }

  [[noreturn]] void fail(const std::string& sentence) const {
    throw UserError(place_ + ": " + sentence);
  }

 private:
  const toml::table& table_;
  std::string place_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_TOML_KEYS_H_
