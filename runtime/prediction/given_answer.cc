// Keeps answers in few numbers, and works out from these again what an answer said of y.
#include <algorithm>
#include <cmath>

#include "windhover/runtime/prediction/predict.h"
#include "windhover/samplers/registry.h"

namespace windhover {

std::size_t Predictor::given_numbers(const EngineConfig& config) noexcept {
  const ModelEntry& model = *find_model(config.model.name);
  if (model.response == Response::kCategorical) return config.model.classes;
  if (model.network) return 1 + std::size_t{config.retained_draws};
  // Where the noise is learned the first rows of a normal y have a mixture whatever the horizon.
  const bool first = model.response == Response::kGaussian && !(config.model.noise_variance > 0);
  const bool mixed = first || (config.horizon == Horizon::kAdaptive && is_normal(model.response));
  return 4 + (mixed ? NoiseMixture::kNumbers : 0);
}

// Notes the answer to the row just answered. A network's draws have left their linear predictors,
// less their mean, in the comparison.
void Predictor::note_given(Response response, std::size_t row,
                           const PredictiveSummary& s) noexcept {
  if (given_.empty()) return;
  double* to = &given_[row * given_numbers_];
  if (response == Response::kCategorical) {
    std::copy_n(s.probs.data(), given_numbers_, to);
  } else if (network_) {
    to[0] = outcome_.noise().dispersion;
    const double* deviations = comparison_.predictors(row);
    for (std::uint32_t m = 0; m < draws_; ++m) to[1 + m] = s.linpred_mean + deviations[m];
  } else {
    const OutcomePredictor::Noise& noise = outcome_.noise();
    const std::array numbers = {s.linpred_mean, s.linpred_sd, noise.dispersion, noise.relative_sd};
    std::ranges::copy(numbers, to);
    if (given_numbers_ > numbers.size()) outcome_.mixture().write(to + numbers.size());
  }
}

void Predictor::answer_given(Response response, std::span<const double> given,
                             const PredictRequest& r, PredictiveSummary& s) noexcept {
  s = PredictiveSummary();
  outcome_.ask(r, {});
  const double* outcome = r.outcomes.empty() ? nullptr : r.outcomes.data();
  if (response == Response::kCategorical) {
    s.classes = static_cast<std::uint32_t>(given.size());
    std::ranges::copy(given, s.probs.begin());
    if (outcome == nullptr) return;
    s.log_score = std::log(given[static_cast<std::size_t>(*outcome)]);
    for (std::size_t c = 0; c < given.size(); ++c) {
      const double error = given[c] - (static_cast<double>(c) == *outcome ? 1.0 : 0.0);
      s.brier += error * error;
    }
  } else if (network_) {
    network_predictor_.answer_given(given.subspan(1), given[0], r, outcome, s);
  } else {
    outcome_.set_noise(response, {given[2], given[3]},
                       given.size() > 4 ? NoiseMixture::read(&given[4]) : NoiseMixture());
    s.linpred_mean = given[0];
    s.linpred_sd = given[1];
    outcome_.predict(response, r, 0, s);
  }
}

}  // namespace windhover
