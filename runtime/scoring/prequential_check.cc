// Outcomes judge the posterior that predicted them.
#include <algorithm>
#include <cmath>

#include "windhover/runtime/scoring/prequential.h"

namespace windhover {

void Prequential::judge(const Answer& answer, const PredictRequest& asked,
                        const PredictiveSummary& summary, double reference,
                        double weight) noexcept {
  const double y = asked.outcomes[0];
  OutcomeRatios one = ratios(summary, y, reference);
  if (answer.use == OutcomeUse::kCheck) borne_out_.add(one);
  // The reference has learned from rows since that the posterior does not stand on, so as served
  // the two are not compared.
  OutcomeRatios alone = one;
  alone[kReferenceAlternative] = 1;
  if (answer.given == nullptr) {
    const Provenance& of = answer.posterior->provenance;
    // Rows also share what is not known of the noise: as much as a quarter of n_eff rows says, as
    // in JudgedRows.
    const double of_noise = 4 / static_cast<double>(std::max<std::uint64_t>(4, of.n_eff));
    const double share = predictor_.unknown_share(model_->response(), summary) + of_noise;
    const OutcomeRatios* before = of_posterior_.add(of.n_seen, alone, std::min(share, 1.0));
    if (before != nullptr) as_served_.add(*before);
    if (answer.use == OutcomeUse::kCheck) {
      one = given_others(*answer.posterior, asked, summary, reference, weight);
    }
  } else if (answer.use == OutcomeUse::kCheck) {
    as_served_.add(alone);
  }
  if (answer.use == OutcomeUse::kCheck) given_others_.add(one);
}

// The ratios of an outcome, given the outcomes that have judged the same posterior before.
OutcomeRatios Prequential::given_others(const Posterior& posterior, const PredictRequest& asked,
                                        const PredictiveSummary& summary, double reference,
                                        double weight) noexcept {
  constexpr double kStep = 0.5;  // of the differences, in sd of the linear predictor
  const double y = asked.outcomes[0];
  if (judged_.add(posterior.provenance.n_seen) == 1) filter_.begin();
  if (!filter_.any()) return ratios(summary, y, reference);
  predictor_.direction(posterior, filter_.direction());
  const auto [shift, variance] = filter_.look();
  PredictiveSummary given = summary;
  given.linpred_sd = std::sqrt(variance);
  const double mean = summary.linpred_mean + shift;
  const auto log_score_at = [&](double moved) {
    given.linpred_mean = mean + moved;
    predictor_.answer_at(model_->response(), asked, given);
    return given.log_score;
  };
  const double step = kStep * given.linpred_sd;
  const double below = log_score_at(-step);
  const double above = log_score_at(step);
  const double here = log_score_at(0);
  filter_.tell({(above - below) / (2 * step), (above - 2 * here + below) / (step * step), weight});
  return std::isnan(here) ? ratios(summary, y, reference) : ratios(given, y, reference);
}

OutcomeRatios Prequential::ratios(const PredictiveSummary& summary, double y,
                                  double reference) noexcept {
  const double log_score =
      std::isnan(summary.log_score) ? kWorst : std::max(summary.log_score, kWorst);
  const double lead = reference_.has_few_rows() ? 0 : reference - log_score;
  JudgedOutcome outcome{transform(summary, y), lead, {}};
  if (has_classes(model_->response())) {
    const ClassShares shares(summary);
    const auto c = static_cast<std::size_t>(y);
    const auto root = [](double x) { return std::sqrt(x); };
    outcome.tempered = {
        shares.tempered(c, root),
        shares.tempered(c, [&](double x) { return root(x) * root(root(x)); }),
        shares.tempered(c, [&](double x) { return x * root(root(x)); }),
        shares.tempered(c, [](double x) { return x * x; }),
    };
  }
  return ratios_of(outcome);
}

}  // namespace windhover
