#include "windhover/tools/client/score_text.h"

#include <fmt/format.h>

#include <cmath>

namespace windhover {
namespace {

// Null for a number that is not finite, which JSON cannot express.
nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

std::string held_text(const v1::PredictionScore& s) {
  std::string text;
  if (std::isfinite(s.coverage_90())) {
    text = fmt::format("; 50, 80, 90, 95 % intervals held {:.1f}, {:.1f}, {:.1f}, {:.1f} %",
                       100 * s.coverage_50(), 100 * s.coverage_80(), 100 * s.coverage_90(),
                       100 * s.coverage_95());
  }
  if (std::isfinite(s.conformal_coverage_90()) && s.conformal_coverage_90() > 0) {
    text += fmt::format("; conformal ones of 90 % held {:.1f} %", 100 * s.conformal_coverage_90());
  }
  return text;
}

}  // namespace

std::vector<std::string> score_lines(const v1::StatusResult& status) {
  std::vector<std::string> lines;
  std::uint64_t shown = 0;  // rows of the previous line
  for (const v1::PredictionScore& s : status.scores()) {
    if (s.rows() == 0 || s.rows() == shown) continue;
    shown = s.rows();
    lines.push_back(
        fmt::format("{:<28} log score {:.4f}, of who knows no x {:.4f}{}",
                    fmt::format("predictions, {} {}", s.memory() == 0 ? "all" : "last", s.rows()),
                    s.log_score(), s.reference_log_score(), held_text(s)));
  }
  return lines;
}

nlohmann::ordered_json to_json(const v1::PredictionScore& s) {
  nlohmann::ordered_json json = {{"memory", s.memory()},
                                 {"rows", s.rows()},
                                 {"log_score", number(s.log_score())},
                                 {"reference_log_score", number(s.reference_log_score())},
                                 {"coverage_50", number(s.coverage_50())},
                                 {"coverage_80", number(s.coverage_80())},
                                 {"coverage_90", number(s.coverage_90())},
                                 {"coverage_95", number(s.coverage_95())},
                                 {"conformal_coverage_50", number(s.conformal_coverage_50())},
                                 {"conformal_coverage_80", number(s.conformal_coverage_80())},
                                 {"conformal_coverage_90", number(s.conformal_coverage_90())},
                                 {"conformal_coverage_95", number(s.conformal_coverage_95())},
                                 {"conformal_size", number(s.conformal_size())}};
  if (s.pit_size() > 0) json["pit"] = s.pit();
  return json;
}

}  // namespace windhover
