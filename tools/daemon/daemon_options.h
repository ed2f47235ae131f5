// Options of a program, and how those of each kind are read and written as text, so that a TOML
// file, flags and the printed configuration come from one list.
#ifndef WINDHOVER_TOOLS_DAEMON_DAEMON_OPTIONS_H_
#define WINDHOVER_TOOLS_DAEMON_DAEMON_OPTIONS_H_

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "windhover/tools/data/table.h"
#include "windhover/tools/data/toml_text.h"

namespace windhover {

struct DaemonOption {
  enum class Form : std::uint8_t { kBoolean, kNumber, kText, kNumbers, kNumberOrText };
  std::string name;
  std::string help;
  Form form;
  std::string allowed;                          // for the refusal: "a whole number of 0 to 65535"
  std::function<bool(std::string_view)> parse;  // false: not allowed
  std::function<std::string()> print;           // as TOML
  std::vector<std::string> choices = {};        // the only words that it takes; empty: not a choice

  // The help with the words that are allowed, for places that do not list them.
  std::string help_with_choices() const;
  // The type of a flag: its words in the form in which CLI11 writes those of a validator, so that
  // shells complete them.
  std::string flag_type() const;
};

// Each refers to `value`, which outlives it and holds the default.
DaemonOption boolean(std::string name, std::string help, bool& value);
DaemonOption text(std::string name, std::string help, std::string& value);
DaemonOption numbers(std::string name, std::string help, std::vector<double>& values);
// Takes a finite number, or `word`, which sets `chosen` and leaves `value` as it is.
DaemonOption number_or(std::string word, std::string name, std::string help, double& value,
                       bool& chosen);

template <class T>
bool parse_into(std::string_view text, T& value) {
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

// Whole numbers of any width, durations in milliseconds, and real numbers.
template <class T>
DaemonOption number(std::string name, std::string help, T& value) {
  if constexpr (std::is_same_v<T, std::chrono::milliseconds>) {
    return {std::move(name),
            std::move(help),
            DaemonOption::Form::kNumber,
            "a whole number of milliseconds, 1 to 86400000",
            [&value](std::string_view text) {
              std::int64_t count = 0;
              if (!parse_into(text, count) || count < 1 || count > 86'400'000) return false;
              value = std::chrono::milliseconds(count);
              return true;
            },
            [&value] { return fmt::format("{}", value.count()); }};
  } else {
    std::string allowed = "a finite number";
    if constexpr (std::is_integral_v<T>) {
      allowed = fmt::format("a whole number of {} to {}", std::numeric_limits<T>::min(),
                            std::numeric_limits<T>::max());
    }
    return {std::move(name),
            std::move(help),
            DaemonOption::Form::kNumber,
            std::move(allowed),
            [&value](std::string_view text) {
              T parsed{};
              if (!parse_into(text, parsed)) return false;
              if constexpr (std::is_floating_point_v<T>) {
                if (!parse_number(text)) return false;
              }
              value = parsed;
              return true;
            },
            [&value] {
              if constexpr (std::is_floating_point_v<T>)
                return toml_number(value);
              else
                return fmt::format("{}", value);
            }};
  }
}

template <class T>
using Choices = std::vector<std::pair<std::string, T>>;

template <class T>
DaemonOption choice(std::string name, std::string help, T& value, Choices<T> choices) {
  std::vector<std::string> names;
  for (const auto& [choice_name, chosen] : choices) names.push_back(choice_name);
  std::string allowed = fmt::format("one of {}", fmt::join(names, ", "));
  auto parse = [&value, choices](std::string_view given) {
    for (const auto& [choice_name, chosen] : choices) {
      if (given != choice_name) continue;
      value = chosen;
      return true;
    }
    return false;
  };
  auto print = [&value, choices] {
    for (const auto& [choice_name, chosen] : choices) {
      if (value == chosen) return toml_text(choice_name);
    }
    return std::string("\"?\"");
  };
  return {std::move(name), std::move(help), DaemonOption::Form::kText, std::move(allowed),
          parse,           print,           std::move(names)};
}

template <class Entries>
Choices<std::string> names_of(const Entries& entries) {
  Choices<std::string> names;
  for (const auto& entry : entries) names.emplace_back(entry.name, entry.name);
  return names;
}

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_DAEMON_OPTIONS_H_
