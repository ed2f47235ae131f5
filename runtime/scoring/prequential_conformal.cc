// Outcomes as normal scores, for conformal intervals.
#include <algorithm>
#include <bit>
#include <cmath>

#include "windhover/runtime/scoring/prequential.h"

namespace windhover {
namespace {

constexpr std::size_t k90 = 2;
static_assert(kScoredIntervals[k90] == 0.90);

// The probabilities at the scores -6, -5, 5 and 6.
const std::array<double, 4>& tail_probabilities() noexcept {
  static const std::array<double, 4> probabilities = {
      normal_cdf(-ConformalTail::kLast), normal_cdf(-ConformalTail::kBefore),
      normal_cdf(ConformalTail::kBefore), normal_cdf(ConformalTail::kLast)};
  return probabilities;
}

}  // namespace

// `asked` is the question about this one row that `summary` answers.
NormalScore Prequential::normal_score(const Answer& answer, const PredictRequest& asked,
                                      const PredictiveSummary& summary) noexcept {
  const Response response = model_->response();
  const double y = asked.outcomes[0];
  if (has_classes(response)) {
    return {0, ClassShares(summary).score(static_cast<std::size_t>(y))};
  }
  const double up_to = summary.pit;
  const double below =
      is_whole_number(response) ? up_to - std::exp(std::min(summary.log_score, 0.0)) : up_to;
  const double least = tail_probabilities().front();
  const double most = tail_probabilities().back();
  const auto inside = [&](double p) { return normal_quantile(std::clamp(p, least, most)); };
  NormalScore score{inside(up_to), inside(below)};
  if (up_to > least && below < most) return score;
  PredictRequest tails = asked;
  tails.outcomes = {};
  tails.quantile_probabilities = tail_probabilities();
  PredictiveSummary at;
  ask(answer, tails, at);
  const auto working = [&](double of_y) { return working_target(response, of_y); };
  std::array<double, 4> q;
  for (std::size_t i = 0; i < q.size(); ++i) q[i] = working(at.quantiles[i]);
  if (up_to <= least) score.low = ConformalTail::through(q[1], q[0]).score_below(working(y));
  if (below >= most) score.high = ConformalTail::through(q[2], q[3]).score_above(working(y));
  if (is_whole_number(response)) return score;
  const double both = up_to <= least ? score.low : score.high;
  return {both, both};
}

void Prequential::score_conformal(const Answer& answer, const PredictRequest& asked,
                                  const PredictiveSummary& summary, RowScore& score) noexcept {
  const Conformal::Bounds& served = answer.served;
  const NormalScore y = normal_score(answer, asked, summary);
  if (std::isnan(y.low) || std::isnan(y.high)) return;
  for (std::size_t i = 0; i < score.conformal.size(); ++i) score.conformal[i] = holds(served[i], y);
  const auto [lower, upper] = served[k90];
  score.conformal_size = has_classes(model_->response())
                             ? std::popcount(ClassShares(summary).set(upper))
                             : (upper - lower) / (2 * normal_quantile(0.95));
  // Predictions of a learner that is warming up say nothing of those to come.
  if (answer.use >= OutcomeUse::kConformal) conformal_.add(y);
}

}  // namespace windhover
