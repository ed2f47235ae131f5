#include "windhover/runtime/scoring/outcome_ratios.h"

#include <algorithm>
#include <cmath>

namespace windhover {
namespace {

struct Interval {
  double promised;
  double bound;  // the share held that is still near enough
  double held;   // the share that the alternative holds
};
constexpr std::array kIntervals = {
    Interval{0.5, 0.46, 0.2},  Interval{0.5, 0.46, 0.35}, Interval{0.5, 0.54, 0.65},
    Interval{0.5, 0.54, 0.85}, Interval{0.9, 0.88, 0.6},  Interval{0.9, 0.88, 0.78},
    Interval{0.9, 0.88, 0.85}, Interval{0.9, 0.92, 0.95}, Interval{0.9, 0.92, 0.975}};
static_assert(kIntervals.size() == kReferenceAlternative);
// The most nats of one row: cutting a ratio off only makes its average smaller.
constexpr double kMost = 2;

}  // namespace

OutcomeRatios ratios_of(const JudgedOutcome& outcome) noexcept {
  OutcomeRatios ratios;
  std::size_t next = 0;
  for (const auto& [promised, bound, held] : kIntervals) {
    const bool covered = std::abs(outcome.pit - 0.5) <= 0.5 * promised;
    ratios[next++] = covered ? held / bound : (1 - held) / (1 - bound);
  }
  const auto& tempered = outcome.tempered;
  for (const double gain : {outcome.reference_lead, tempered.half - tempered.three_quarters,
                            tempered.twice - tempered.five_quarters}) {
    ratios[next++] = std::exp(std::min(gain, kMost));
  }
  return ratios;
}

const OutcomeRatios* RatiosOfOnePosterior::add(std::uint64_t n_seen, const OutcomeRatios& ratios,
                                               double share) noexcept {
  const bool another = rows_ > 0 && n_seen != n_seen_;
  if (another) {
    const auto rows = static_cast<double>(rows_);
    const double power = 1 / (1 + (rows - 1) * (share_ / rows));
    for (std::size_t i = 0; i < kAlternatives; ++i) of_last_[i] = std::exp(power * log_sum_[i]);
  }
  if (another || rows_ == 0) {
    log_sum_.fill(0);
    share_ = 0;
    rows_ = 0;
    n_seen_ = n_seen;
  }
  for (std::size_t i = 0; i < kAlternatives; ++i) log_sum_[i] += std::log(ratios[i]);
  share_ += share;
  ++rows_;
  return another ? &of_last_ : nullptr;
}

}  // namespace windhover
