#include "windhover/tools/cli/engine_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "windhover/samplers/registry.h"

namespace windhover {
namespace {

template <class Entries>
std::vector<std::string> listed(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.emplace_back(entry.name);
  return names;
}

}  // namespace

std::vector<std::string> model_names() { return listed(model_registry()); }
std::vector<std::string> sampler_names() { return listed(sampler_registry()); }

void add_options(CLI::App& command, const std::vector<DaemonOption>& options) {
  for (const DaemonOption& option : options) {
    std::string flag = "--" + option.name.substr(option.name.find('.') + 1);
    std::ranges::replace(flag, '_', '-');
    const std::string name = flag;
    if (flag == "--minibatch-size") flag += ",--minibatch";
    const auto parse = [option, name](const std::string& text) {
      if (!option.parse(text)) {
        throw CLI::ValidationError(
            fmt::format("{} \"{}\" is not allowed: {} is expected", name, text, option.allowed));
      }
    };
    auto* added = command.add_option_function<std::string>(flag, parse, option.help);
    added->default_str(option.print());
    if (!option.choices.empty()) added->type_name(option.flag_type());
  }
}

}  // namespace windhover
