// Independent runs of one thing, means over them, and what such a mean is held to.
#ifndef WINDHOVER_TOOLS_REPRODUCE_REPLICATIONS_H_
#define WINDHOVER_TOOLS_REPRODUCE_REPLICATIONS_H_

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "windhover/tools/reproduce/context.h"
#include "windhover/tools/reproduce/moments_json.h"
#include "windhover/tools/reproduce/report.h"

namespace windhover::reproduce {

// `run(seed)` that many times, on all threads and in parts of these settings (context.h). Seeds are
// those from `seeds` times the context's on.
std::vector<nlohmann::ordered_json> replicated(
    const Context& context, const std::string& key, const std::string& settings,
    std::size_t replications, const std::function<nlohmann::ordered_json(std::uint64_t seed)>& run,
    std::uint64_t seeds = 100'000);

// Null, as which what is not finite is kept, is NaN.
double number_from(const nlohmann::ordered_json& json);
std::vector<double> numbers_from(const nlohmann::ordered_json& json);

// A number of each run, or one of a list of numbers; and their mean, NaN when one of them is null.
std::vector<double> values_of(const std::vector<nlohmann::ordered_json>& runs, const char* key,
                              std::optional<std::size_t> index = {});
Estimate mean_of(const std::vector<nlohmann::ordered_json>& runs, const char* key,
                 std::optional<std::size_t> index = {});

// `value`, give or take `within` and three standard errors; in round numbers. Not decided where the
// standard error exceeds a third of `within`.
Bar around(double value, double within, const Estimate& simulated);
// The same, however large the run's own error is.
Bar within(double value, double tolerance, const Estimate& simulated);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_REPLICATIONS_H_
