// The result of evaluate() as text.
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "windhover/samplers/registry.h"
#include "windhover/tools/data/hashed.h"
#include "windhover/tools/evaluate/evaluate.h"

namespace windhover {

using nlohmann::ordered_json;

std::string describe_evaluation(const ordered_json& result) {
  const auto real = [](const ordered_json& value) {
    return value.is_null() ? std::nan("") : value.get<double>();
  };
  const auto held = [&](const ordered_json& of, std::size_t interval, const char* which) {
    const double share = real(of["coverage"][interval][which]);
    return std::isnan(share) ? std::string("-") : fmt::format("{:.1f} %", 100 * share);
  };
  // What the probabilities were worth, where that was recorded.
  const auto worth_of = [&](const ordered_json& of) {
    if (!of.contains("held")) return std::string();
    return fmt::format("; 90 % held: {:.1f} %, calibration error {:.4f}", 100 * real(of["held"]),
                       real(of["calibration_error"]));
  };
  const double ours = result["log_score"];
  std::string out;
  if (const std::string note = result["target"]["note"]; !note.empty())
    out += fmt::format("target {}: {}\n", result["target"]["column"].get<std::string>(), note);
  out += fmt::format(
      "{} rows of {} features, {} at a time, {} of them scored; {}, horizon {}, N = {}{}\n\n"
      "log score, nats a row      ours less it\n",
      result["rows"].get<std::uint64_t>(), result["features"].get<std::uint64_t>(),
      result["chunk"].get<std::uint64_t>(), result["scored_rows"].get<std::uint64_t>(),
      result["model"].get<std::string>(), result["horizon"].get<std::string>(),
      result["window"].get<std::uint64_t>(),
      result["structure"] == "diagonal" ? ", structure diagonal" : "");
  out += fmt::format("  {:>9.4f}                    Windhover", ours);
  if (result.contains("calibration_error")) {
    out += fmt::format("; calibration error {:.4f}", real(result["calibration_error"]));
  }
  out += "\n";
  out += fmt::format("  {:>9.4f}     {:>+9.4f}      who knows no x\n", real(result["reference"]),
                     ours - real(result["reference"]));
  if (result.contains("against")) {
    for (const auto& rival : result["against"]) {
      out += fmt::format(
          "  {:>9.4f}     {:>+9.4f}      {}, {} (best of those tried, in hindsight){}\n",
          real(rival["log_score"]), ours - real(rival["log_score"]),
          rival["name"].get<std::string>(), rival["setting"].get<std::string>(), worth_of(rival));
    }
    if (result["against"].empty()) out += "  nothing to compare with for this kind of target\n";
  }
  out += "\nintervals held";
  for (std::size_t i = 0; i < result["coverage"].size(); ++i) {
    out += fmt::format("  {:.0f} %: {}", 100 * real(result["coverage"][i]["interval"]),
                       held(result, i, "held"));
  }
  out += "\nconformal held";
  for (std::size_t i = 0; i < result["coverage"].size(); ++i) {
    out += fmt::format("  {:.0f} %: {}", 100 * real(result["coverage"][i]["interval"]),
                       held(result, i, "conformal_held"));
  }
  const bool classes = has_classes(find_model(result["model"].get<std::string>())->response);
  const double size = real(result["conformal_size"]);
  out += classes
             ? fmt::format("  (sets of 90 % have {:.2f} classes)", size)
             : fmt::format("  (those of 90 % are {:.2f} times as wide as the model's own)", size);
  out += "\nanswers said";
  for (const auto& [name, share] : result["status"].items()) {
    const double of_these = real(result["status_held"][name]);
    out += fmt::format("  {}: {:.1f} %", name, 100 * real(share));
    if (!std::isnan(of_these)) out += fmt::format(" (90 % held {:.1f} %)", 100 * of_these);
  }
  const ordered_json& warm_up = result["warm_up"];
  const std::string first = warm_up["first_row"].is_null()
                                ? "no row was answered otherwise"
                                : fmt::format("row {} was the first that was answered otherwise",
                                              warm_up["first_row"].get<std::uint64_t>());
  out += fmt::format("\nwarming_up: {}", first);
  if (!warm_up["late"].is_null()) {
    out += fmt::format("; {:.1f} % of those after row {}", 100 * real(warm_up["late"]),
                       warm_up["due"].get<std::uint64_t>());
  }
  if (const auto cut = result["chunks_cut_short"].get<std::uint64_t>(); cut > 0) {
    out +=
        fmt::format("\nafter {} of {} chunks the learner had not come to rest in 64 rounds a row",
                    cut, result["chunks"].get<std::uint64_t>());
  }
  out +=
      "\n\n  until row   scored   log score   who knows no x   90 % held   conformal   most "
      "answers "
      "said\n";
  for (const auto& part : result["parts"]) {
    std::string most;
    double share = 0;
    for (const auto& [name, value] : part["status"].items()) {
      if (real(value) > share) most = name;
      share = std::max(share, real(value));
    }
    out += fmt::format("  {:>9} {:>8} {:>11.4f} {:>16.4f} {:>11} {:>11}   {}\n",
                       part["until_row"].get<std::uint64_t>(), part["rows"].get<std::uint64_t>(),
                       real(part["log_score"]), real(part["reference"]), held(part, 2, "held"),
                       held(part, 2, "conformal_held"), most);
  }
  if (result.contains("hashed")) out.append("\n").append(describe_hashed(result["hashed"]));
  return out;
}

}  // namespace windhover
