// From one posterior to answers. Pure functions of a snapshot; a reader's scratch comes along.
#ifndef WINDHOVER_RUNTIME_PREDICTION_PREDICT_H_
#define WINDHOVER_RUNTIME_PREDICTION_PREDICT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/runtime/posterior/posterior.h"
#include "windhover/runtime/prediction/class_probabilities.h"
#include "windhover/runtime/prediction/conformal_interval.h"
#include "windhover/runtime/prediction/gaussian_mixture.h"
#include "windhover/runtime/prediction/log_normal_mixture.h"
#include "windhover/runtime/prediction/network_predictor.h"
#include "windhover/runtime/prediction/predictive.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// One reader's scratch.
//
// A row costs D^2 / 2 multiplications for the spread of its linear predictor, and in a request of
// several draws x D for the comparison on common draws. Rows are taken kBlock at a time, so that
// what they share, the factor and the draws, is read once for four rows and stays in the caches for
// all. An answer does not depend, to the last bit, on the rows it comes with, but for `prob_best`
// and `expected_regret`. Memory: kBlock x 2 D + rows x draws. Of shared draws a row costs non-zeros
// x draws additions, and the memory is rows x draws.
class Predictor {
 public:
  Predictor(Arena& arena, const EngineConfig& config) noexcept;

  // Is the request well formed for this model? Nothing else is judged later. kUnsupported:
  // quantiles, thresholds and Thompson draws of a class number.
  Status check(const PredictRequest& request, Response response) const noexcept;
  // That part of it which the rows, their offsets and their keys must pass to be kept with their
  // keys, whoever answers: however many they are. With keys a feature must be one that a row of the
  // stream may have.
  Status check_rows(const PredictRequest& request, Response response) const noexcept;

  // One request, which has passed check(), from one posterior: begin(), then its rows in order,
  // however many at a time, then end(). `summaries` are those of the whole request, one a row. How
  // the rows are cut changes no bit. `conformal`: where conformal intervals of the probability
  // asked for end.
  void begin(const Posterior& posterior, Response response, std::uint64_t seed,
             const PredictRequest& request, const ConformalBounds& conformal = {}) noexcept;
  void rows(const Posterior& posterior, Response response, const PredictRequest& request,
            std::size_t first, std::size_t count, std::span<PredictiveSummary> summaries) noexcept;
  void end(Response response, const PredictRequest& request,
           std::span<PredictiveSummary> summaries) noexcept;
  // An answer in few numbers, from which whatever is said of y can be said again: of what is linear
  // the normal of its linear predictor and the noise, of classes their probabilities, of other
  // networks each draw's linear predictor and the noise. So many of one row.
  static std::size_t given_numbers(const EngineConfig& config) noexcept;
  // Of a row that has been answered. REQUIRES: the request has keys.
  std::span<const double> given(std::size_t row) const noexcept {
    return given_.subspan(row * given_numbers_, given_numbers_);
  }
  // Says again of y what was said when those numbers were: the outcome, the quantiles and the
  // thresholds of a request of one row, whose x is not looked at. To rounding; of softmax and of
  // networks of classes where the probability of the outcome is above 1e-300. Of what is not said
  // of y by an outcome, a quantile or a threshold, classes' probabilities alone mean anything.
  void answer_given(Response response, std::span<const double> given, const PredictRequest& request,
                    PredictiveSummary& summary) noexcept;
  // All of that at once.
  void predict(const Posterior& posterior, Response response, std::uint64_t seed,
               const PredictRequest& request, std::span<PredictiveSummary> summaries) noexcept {
    begin(posterior, response, seed, request);
    rows(posterior, response, request, 0, request.rows, summaries);
    end(response, request, summaries);
  }

 private:
  // Of y about its expected value, by the answer at hand (posterior.h: dispersion); where its
  // logarithm is linear in x, by the row.
  struct Noise {
    double dispersion = 0;
    double relative_sd = 0;
  };
  // How far a learned scale of Student's t may be off, for the posterior at hand.
  struct StudentNoise {
    StudentScale scale;
    double relative_sd = -1;  // that it was computed for
  };
  // On each draw the largest expected y so far, and which row's it is.
  struct Contest {
    double* best;
    double* winner;
  };

  // Rows at a time: a factor too large for the caches is then read once for so many.
  static constexpr std::size_t kBlock = 32;

  void set_levels(const PredictRequest& r, const ConformalBounds& conformal) noexcept {
    const auto set = [](NormalLevel& level, double probability) {
      if (level.p != probability) level = NormalLevel(probability);
    };
    set(levels_[0], 0.5 * (1 - r.interval_probability));
    set(levels_[1], 0.5 * (1 + r.interval_probability));
    for (std::size_t i = 0; i < r.quantile_probabilities.size(); ++i) {
      set(levels_[2 + i], r.quantile_probabilities[i]);
    }
    conformal_ = conformal;
    conformal_levels_ = {NormalLevel::at(conformal.lower), NormalLevel::at(conformal.upper)};
  }
  void set_noise(Response response, const Noise& noise, const NoiseMixture& mixture) noexcept {
    noise_ = noise;
    mixture_ = mixture;
    if (mixture.any() && response == Response::kGaussian) noise_.dispersion = mixture.mean();
    if (response == Response::kStudent && student_.relative_sd != noise.relative_sd) {
      student_ = {StudentScale(model_.degrees_of_freedom, noise.relative_sd), noise.relative_sd};
    }
    if (response == Response::kLogNormal) {
      log_normal_noise_ = LogNormalNoise(noise.dispersion, noise.relative_sd);
    }
  }
  static double trials_of(const PredictRequest& r, std::size_t row) noexcept {
    return r.trials.empty() ? 1.0 : r.trials[row];
  }
  void note_given(Response response, std::size_t row, const PredictiveSummary& summary) noexcept;
  bool lacks_only_allowed(const PredictRequest& request, double largest) const noexcept;
  void load_row(const PredictRequest& request, std::size_t row, const Posterior& posterior,
                double* x) noexcept;
  // Of a block of rows whose x are loaded, which then move to the mean's place.
  void find_noise(const Posterior& posterior, std::size_t count) noexcept;
  void predict_linear(const Posterior& posterior, Response response, const PredictRequest& request,
                      std::size_t first, std::size_t count,
                      std::span<PredictiveSummary> summaries) noexcept;
  void predict_shared(const Posterior& posterior, Response response, const PredictRequest& request,
                      std::size_t row, PredictiveSummary& summary) noexcept;
  void predict_y(Response response, const PredictRequest& request, std::size_t row,
                 PredictiveSummary& summary) noexcept;
  void predict_gaussian(const PredictRequest& request, std::size_t row,
                        PredictiveSummary& summary) noexcept;
  void predict_student(const PredictRequest& request, std::size_t row,
                       PredictiveSummary& summary) noexcept;
  void predict_log_normal(const PredictRequest& request, std::size_t row,
                          PredictiveSummary& summary) noexcept;
  void predict_count(const PredictRequest& request, std::size_t row,
                     PredictiveSummary& summary) noexcept;
  void predict_overdispersed(const PredictRequest& request, std::size_t row,
                             PredictiveSummary& summary) noexcept;
  void predict_binomial(const PredictRequest& request, std::size_t row,
                        PredictiveSummary& summary) noexcept;
  void predict_zero_inflated(const PredictRequest& request, std::size_t row,
                             PredictiveSummary& summary) noexcept;
  template <class Distribution>
  void fill_count(const Distribution& y, double var_aleatoric, const PredictRequest& request,
                  std::size_t row, PredictiveSummary& summary) noexcept;
  void predict_bernoulli(const PredictRequest& request, std::size_t row,
                         PredictiveSummary& summary) noexcept;
  template <class Distribution>
  void fill_quantiles(const Distribution& y, const PredictRequest& request,
                      PredictiveSummary& summary) const noexcept;
  template <class Distribution>
  void fill_conformal(const Distribution& y, PredictiveSummary& summary) const noexcept;
  void fill_class_set(Response response, PredictiveSummary& summary) const noexcept;
  double expected(Response response, double linear_predictor) const noexcept;
  void compare_row(Response response, const PredictRequest& request, std::size_t row,
                   PredictiveSummary& summary) noexcept;
  void compare(const PredictRequest& request, std::span<PredictiveSummary> summaries) noexcept;

  ModelConfig model_;
  bool network_;
  std::uint32_t max_rows_;
  std::uint32_t draws_;
  ClassProbabilities class_probabilities_;
  NetworkPredictor network_predictor_;
  // Of the request at hand: the interval's lower and upper end, then the quantiles asked for. Kept
  // until others are: most requests ask for the same.
  std::array<NormalLevel, 2 + kMaxQuantiles> levels_;
  ConformalBounds conformal_;  // of the request at hand
  std::array<NormalLevel, 2> conformal_levels_;
  Noise noise_;           // of the posterior at hand
  NoiseMixture mixture_;  // likewise, in place of its spread where there is any
  StudentNoise student_;
  LogNormalNoise log_normal_noise_;  // of the posterior at hand
  bool noise_of_rows_;               // the log-variance of y is linear in x
  std::size_t block_;                // rows at a time
  std::size_t stride_;               // of the rows in the next two
  double* x_;                        // block x columns: rows in transformed features
  double* whitened_;                 // block x columns
  double* predictors_;               // max_query_rows x draws: linear predictors on common draws
  double* normals_;                  // draws
  std::span<Noise> noises_;          // block; none unless noise_of_rows_
  Contest contest_;                  // of the rows of a request
  MissingFeatures missing_;
  bool takes_keys_;
  std::size_t given_numbers_;
  std::span<double> given_;  // max_query_rows x given_numbers; none where nothing is scored later
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICTION_PREDICT_H_
