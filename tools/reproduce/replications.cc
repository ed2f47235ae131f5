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
                                     const std::function<ordered_json(std::uint64_t)>& run,
                                     std::uint64_t seeds) {
  const std::size_t shares = std::min<std::size_t>(replications, 8);
  std::vector<PartJob> jobs;
  for (std::size_t share = 0; share < shares; ++share) {
    jobs.push_back({fmt::format("{}-{}", key, share),
                    fmt::format("{}; {} replications", settings, replications), [&, share] {
                      ordered_json list = ordered_json::array();
                      for (std::size_t r = share; r < replications; r += shares) {
                        list.push_back(run(seeds * context.seed() + r));
                      }
                      return list;
                    }});
  }
  const std::vector<ordered_json> done = context.run_parts(jobs);
  std::vector<ordered_json> runs(replications);
  for (std::size_t r = 0; r < replications; ++r) runs[r] = done[r % shares][r / shares];
  return runs;
}

std::vector<double> values_of(const std::vector<ordered_json>& runs, const char* key,
                              std::optional<std::size_t> index) {
  std::vector<double> values;
  for (const ordered_json& run : runs) {
    const ordered_json& value = run.at(key);
    values.push_back(number_from(index ? value.at(*index) : value));
  }
  return values;
}

Estimate mean_of(const std::vector<ordered_json>& runs, const char* key,
                 std::optional<std::size_t> index) {
  return mean_of(values_of(runs, key, index));
}

Bar around(double value, double within, const Estimate& simulated) {
  const double margin = within + 3 * simulated.mcse;
  const Bar bar{std::ceil(1000 * (value - margin)) / 1000,
                std::floor(1000 * (value + margin)) / 1000};
  return decided_within(bar, within, simulated.mcse);
}

Bar within(double value, double tolerance, const Estimate& simulated) {
  return decided_within({value - tolerance, value + tolerance}, tolerance, simulated.mcse);
}

}  // namespace windhover::reproduce
