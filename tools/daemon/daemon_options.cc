#include "windhover/tools/daemon/daemon_options.h"

#include <optional>
#include <sstream>

#include "windhover/tools/data/toml_text.h"

namespace windhover {

std::string DaemonOption::help_with_choices() const {
  if (form == Form::kBoolean || choices.empty()) return help;
  return fmt::format("{}: {}", help, fmt::join(choices, ", "));
}

std::string DaemonOption::flag_type() const {
  const char* type = form == Form::kText ? "TEXT" : "VALUE";
  return choices.empty() ? type : fmt::format("{}:{{{}}}", type, fmt::join(choices, ","));
}

DaemonOption boolean(std::string name, std::string help, bool& value) {
  return {std::move(name),
          std::move(help),
          DaemonOption::Form::kBoolean,
          "true or false",
          [&value](std::string_view text) {
            if (text != "true" && text != "false") return false;
            value = text == "true";
            return true;
          },
          [&value] { return std::string(value ? "true" : "false"); },
          {"true", "false"}};
}

DaemonOption text(std::string name, std::string help, std::string& value) {
  return {std::move(name),
          std::move(help),
          DaemonOption::Form::kText,
          "a text in quotes",
          [&value](std::string_view given) {
            value = given;
            return true;
          },
          [&value] { return toml_text(value); }};
}

DaemonOption numbers(std::string name, std::string help, std::vector<double>& values) {
  return {std::move(name),
          std::move(help),
          DaemonOption::Form::kNumbers,
          "a list of finite numbers",
          [&values](std::string_view given) {
            values.clear();
            std::istringstream in{std::string(given)};
            std::string part;
            while (std::getline(in, part, ',')) {
              const std::optional<double> value = parse_number(part);
              if (!value) return false;
              values.push_back(*value);
            }
            return true;
          },
          [&values] { return fmt::format("[{}]", fmt::join(values, ", ")); }};
}

DaemonOption number_or(std::string word, std::string name, std::string help, double& value,
                       bool& chosen) {
  return {std::move(name),
          std::move(help),
          DaemonOption::Form::kNumberOrText,
          fmt::format("a finite number or \"{}\"", word),
          [&value, &chosen, word](std::string_view given) {
            const std::optional<double> number = parse_number(given);
            chosen = given == word;
            if (number) value = *number;
            return chosen || number.has_value();
          },
          [&value, &chosen, word] { return chosen ? toml_text(word) : toml_number(value); }};
}

}  // namespace windhover
