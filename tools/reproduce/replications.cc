#include "windhover/tools/reproduce/replications.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace windhover::reproduce {

using nlohmann::ordered_json;

double number_from(const ordered_json& json) { return json.is_null() ? NAN : json.get<double>(); }

std::vector<double> numbers_from(const ordered_json& json) {
  std::vector<double> out;
  for (const ordered_json& value : json) out.push_back(number_from(value));
  return out;
}

std::vector<ordered_json> replicated(const Context& context, const std::string& key,
                                     const std::string& settings, std::size_t replications,
                                     const std::function<ordered_json(std::uint64_t)>& run) {
  const std::string what = fmt::format("{}; {} replications", settings, replications);
  const std::size_t shares = std::min<std::size_t>(replications, 8);
  std::vector<ordered_json> runs(replications);
  context.parallel(shares, [&](std::size_t share) {
    const auto done = context.part(fmt::format("{}-{}", key, share), what, [&] {
      ordered_json list = ordered_json::array();
      for (std::size_t r = share; r < replications; r += shares) {
        list.push_back(run(100'000 * context.seed() + r));
      }
      return list;
    });
    for (std::size_t i = 0; i < done.size(); ++i) runs[share + i * shares] = done[i];
  });
  return runs;
}

namespace {

Estimate mean_over(const std::vector<ordered_json>& runs,
                   const std::function<const ordered_json&(const ordered_json&)>& pick) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const ordered_json& run : runs) {
    const ordered_json& value = pick(run);
    values.push_back(number_from(value));
  }
  return mean_of(values);
}

}  // namespace

Estimate mean_of(const std::vector<ordered_json>& runs, const char* key) {
  return mean_over(runs,
                   [&](const ordered_json& run) -> const ordered_json& { return run.at(key); });
}

Estimate mean_of(const std::vector<ordered_json>& runs, const char* key, std::size_t index) {
  return mean_over(
      runs, [&](const ordered_json& run) -> const ordered_json& { return run.at(key).at(index); });
}

Bar around(double value, double within, const Estimate& simulated) {
  const double margin = within + 3 * simulated.mcse;
  const Bar bar{std::ceil(1000 * (value - margin)) / 1000,
                std::floor(1000 * (value + margin)) / 1000};
  return decided_within(bar, within, simulated.mcse);
}

}  // namespace windhover::reproduce
