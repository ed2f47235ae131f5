// Scores of some rows of a stream, as sums.
#ifndef WINDHOVER_TOOLS_EVALUATE_TALLY_H_
#define WINDHOVER_TOOLS_EVALUATE_TALLY_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "windhover/runtime/scoring/prediction_scores.h"

namespace windhover {

// The 90 % interval among kScoredIntervals.
inline constexpr std::size_t kReportedInterval = 2;

// Rows whose answers said the same of themselves.
struct Said {
  std::uint64_t rows = 0;
  double held = 0;  // outcomes within their intervals of 90 %; NaN: not known
};

using SaidTally = std::map<std::string, Said>;

// Sums over the scored rows, and counts by what the answers said of themselves.
struct Tally {
  double rows = 0;
  double log_score = 0;
  double reference = 0;
  std::array<double, kScoredIntervals.size()> covered{};
  std::array<double, kScoredIntervals.size()> conformal{};  // of conformal intervals
  double conformal_size = 0;
  SaidTally status;

  // The sums of the rows between two states of the means over all rows.
  static Tally between(const ScoreMeans& before, const ScoreMeans& after) {
    Tally t;
    const auto a = static_cast<double>(before.rows);
    const auto b = static_cast<double>(after.rows);
    t.rows = b - a;
    t.log_score = b * after.log_score - a * before.log_score;
    t.reference = b * after.reference - a * before.reference;
    for (std::size_t i = 0; i < t.covered.size(); ++i) {
      t.covered[i] = b * after.coverage[i] - (a > 0 ? a * before.coverage[i] : 0);
      t.conformal[i] =
          b * after.conformal_coverage[i] - (a > 0 ? a * before.conformal_coverage[i] : 0);
    }
    t.conformal_size = b * after.conformal_size - (a > 0 ? a * before.conformal_size : 0);
    return t;
  }

  nlohmann::ordered_json to_json() const {
    nlohmann::ordered_json coverage = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < covered.size(); ++i) {
      const auto share = [&](double of) {
        return std::isfinite(of) ? nlohmann::ordered_json(of / rows) : nlohmann::ordered_json();
      };
      coverage.push_back({{"interval", kScoredIntervals[i]},
                          {"held", share(covered[i])},
                          {"conformal_held", share(conformal[i])}});
    }
    nlohmann::ordered_json said = nlohmann::ordered_json::object();
    nlohmann::ordered_json held = nlohmann::ordered_json::object();
    std::uint64_t total = 0;
    for (const auto& [name, of] : status) total += of.rows;
    for (const auto& [name, of] : status) {
      const auto count = static_cast<double>(of.rows);
      said[name] = count / static_cast<double>(total);
      held[name] = std::isfinite(of.held) ? nlohmann::ordered_json(of.held / count)
                                          : nlohmann::ordered_json();
    }
    return {{"rows", static_cast<std::uint64_t>(rows)},
            {"log_score", log_score / rows},
            {"reference", reference / rows},
            {"coverage", coverage},
            {"conformal_size", conformal_size / rows},
            {"status", said},
            {"status_held", held}};
  }
};

// How long answers were `warming_up`: up to the first that was not, and how many after `due` rows.
struct WarmUp {
  std::uint64_t due = 0;
  std::uint64_t first = 0;  // the first row with another answer, from 1; 0: none
  std::uint64_t rows = 0;   // after the first `due`
  std::uint64_t late = 0;   // how many of these were answered `warming_up`

  // Rows [begin, end), from 0.
  void add(std::uint64_t begin, std::uint64_t end, bool warming_up) {
    if (!warming_up && first == 0) first = begin + 1;
    const std::uint64_t after = end > due ? end - std::max(begin, due) : 0;
    rows += after;
    if (warming_up) late += after;
  }

  nlohmann::ordered_json to_json() const {
    const auto share = static_cast<double>(late) / static_cast<double>(rows);
    return {{"due", due},
            {"first_row", first > 0 ? nlohmann::ordered_json(first) : nlohmann::ordered_json()},
            {"late", rows > 0 ? nlohmann::ordered_json(share) : nlohmann::ordered_json()}};
  }
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_EVALUATE_TALLY_H_
