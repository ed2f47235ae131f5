// Fills in what an answer says of y itself, by the kind of y.
#ifndef WINDHOVER_RUNTIME_PREDICTION_OUTCOME_PREDICTOR_H_
#define WINDHOVER_RUNTIME_PREDICTION_OUTCOME_PREDICTOR_H_

#include <array>
#include <cstddef>

#include "windhover/runtime/posterior/noise_mixture.h"
#include "windhover/runtime/prediction/conformal_interval.h"
#include "windhover/runtime/prediction/gaussian_mixture.h"
#include "windhover/runtime/prediction/log_normal_mixture.h"
#include "windhover/runtime/prediction/predictive.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// From mean and sd of a linear predictor to moments, intervals, quantiles and scores of y.
//
// Invariant: what is computed once for all rows is that of the question and the noise that were set
// last. One thread.
class OutcomePredictor {
 public:
  // The noise of y about its expected value: Posterior::dispersion and dispersion_relative_sd;
  // where the noise's logarithm is linear in x, those of the row.
  struct Noise {
    double dispersion = 0;
    double relative_sd = 0;
  };

  explicit OutcomePredictor(const ModelConfig& model) noexcept
      : degrees_of_freedom_(model.degrees_of_freedom) {}

  // Takes a question. `conformal`: the ends of conformal intervals of the probability asked for.
  void ask(const PredictRequest& request, const ConformalBounds& conformal) noexcept {
    const auto set = [](NormalLevel& level, double probability) {
      if (level.p != probability) level = NormalLevel(probability);
    };
    set(levels_[0], 0.5 * (1 - request.interval_probability));
    set(levels_[1], 0.5 * (1 + request.interval_probability));
    for (std::size_t i = 0; i < request.quantile_probabilities.size(); ++i) {
      set(levels_[2 + i], request.quantile_probabilities[i]);
    }
    conformal_ = conformal;
    conformal_levels_ = {NormalLevel::at(conformal.lower), NormalLevel::at(conformal.upper)};
  }
  // Sets the noise of the posterior, or of the row. A `mixture` with components replaces it.
  void set_noise(Response response, const Noise& noise, const NoiseMixture& mixture) noexcept {
    noise_ = noise;
    mixture_ = mixture;
    if (mixture.any() && response == Response::kGaussian) noise_.dispersion = mixture.mean();
    if (response == Response::kStudent && student_.relative_sd != noise.relative_sd) {
      student_ = {StudentScale(degrees_of_freedom_, noise.relative_sd), noise.relative_sd};
    }
    if (response == Response::kLogNormal) {
      log_normal_noise_ = LogNormalNoise(noise.dispersion, noise.relative_sd);
    }
  }
  const ConformalBounds& conformal() const noexcept { return conformal_; }
  const Noise& noise() const noexcept { return noise_; }
  const NoiseMixture& mixture() const noexcept { return mixture_; }
  // The variance of the noise of most rows about the linear predictor: a harmonic mean, in which
  // few outlying rows count little.
  double usual_variance() const noexcept {
    if (!mixture_.any()) return noise_.dispersion;
    double precision = 0;
    for (std::size_t i = 0; i < mixture_.components; ++i) {
      precision += mixture_.weight[i] / mixture_.variance[i];
    }
    return 1 / precision;
  }

  // Predicts y by the linear predictor in `summary`. Trials and outcome are those of row `row` of
  // the request. REQUIRES: y is not one of several classes.
  void predict(Response response, const PredictRequest& request, std::size_t row,
               PredictiveSummary& summary) const noexcept;
  // Fills in the conformal set of classes of an answer that has their probabilities.
  void fill_class_set(Response response, PredictiveSummary& summary) const noexcept;
  // E[y | linear predictor], for a binomial y per trial.
  double expected(Response response, double linear_predictor) const noexcept;

 private:
  // Student's t with the uncertain scale of the posterior in use.
  struct StudentNoise {
    StudentScale scale;
    double relative_sd = -1;  // what `scale` was computed for
  };

  void predict_gaussian(const PredictRequest& request, std::size_t row,
                        PredictiveSummary& summary) const noexcept;
  void predict_student(const PredictRequest& request, std::size_t row,
                       PredictiveSummary& summary) const noexcept;
  void predict_log_normal(const PredictRequest& request, std::size_t row,
                          PredictiveSummary& summary) const noexcept;
  void predict_count(const PredictRequest& request, std::size_t row,
                     PredictiveSummary& summary) const noexcept;
  void predict_overdispersed(const PredictRequest& request, std::size_t row,
                             PredictiveSummary& summary) const noexcept;
  void predict_binomial(const PredictRequest& request, std::size_t row,
                        PredictiveSummary& summary) const noexcept;
  void predict_zero_inflated(const PredictRequest& request, std::size_t row,
                             PredictiveSummary& summary) const noexcept;
  template <class Distribution>
  void fill_count(const Distribution& y, double var_aleatoric, const PredictRequest& request,
                  std::size_t row, PredictiveSummary& summary) const noexcept;
  void predict_bernoulli(const PredictRequest& request, std::size_t row,
                         PredictiveSummary& summary) const noexcept;
  template <class Distribution>
  void fill_quantiles(const Distribution& y, const PredictRequest& request,
                      PredictiveSummary& summary) const noexcept;
  template <class Distribution>
  void fill_conformal(const Distribution& y, PredictiveSummary& summary) const noexcept;

  double degrees_of_freedom_;
  // The interval's lower and upper end, then the quantiles asked for. Kept from request to request,
  // as most ask for the same.
  std::array<NormalLevel, 2 + kMaxQuantiles> levels_;
  ConformalBounds conformal_;
  std::array<NormalLevel, 2> conformal_levels_;
  Noise noise_;
  NoiseMixture mixture_;
  StudentNoise student_;
  LogNormalNoise log_normal_noise_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICTION_OUTCOME_PREDICTOR_H_
