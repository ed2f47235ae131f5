#include "windhover/tools/cli/command_numbers.h"

#include <fmt/format.h>

#include "windhover/tools/daemon/daemon_options.h"

namespace windhover {

CLI::Validator whole_number(std::uint64_t most) {
  return CLI::Validator(
      [most](std::string& text) {
        std::uint64_t value = 0;
        if (!parse_into(text, value) || value > most) {
          return fmt::format("\"{}\" is not allowed: a whole number from 0 to {} is expected", text,
                             most);
        }
        text = fmt::format("{}", value);
        return std::string();
      },
      "", "whole_number");
}

}  // namespace windhover
