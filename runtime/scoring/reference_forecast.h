#ifndef WINDHOVER_RUNTIME_SCORING_REFERENCE_FORECAST_H_
#define WINDHOVER_RUNTIME_SCORING_REFERENCE_FORECAST_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/runtime/config.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// A forecast that knows nothing of x, only what y was lately. For classes, 0 and 1 among them:
// their shares. For a number: a normal distribution with its mean and variance, or those of its
// logarithm (kLogNormal). For a count: the negative binomial distribution with its mean and
// variance, or Poisson's where the variance is no larger than the mean. With offsets these are of
// the number less its offset, and of the count per unit of exposure; shares ignore offsets. For
// successes of trials: the beta-binomial distribution, or the binomial one where they scatter no
// more than that. Older rows count less and less, all together as kMemory rows. A model that is
// worth serving beats it. One thread.
class ReferenceForecast {
 public:
  static constexpr double kMemory = 10'000;
  // With fewer rows the forecast says little: all may be the same by chance.
  static constexpr double kFewRows = 100;

  ReferenceForecast(Arena& arena, const ModelConfig& model) noexcept;
  void reset() noexcept;

  // log p(y) by the rows so far; but for classes 0 before there are two rows. `extra` is the row's
  // offset, or for a binomial y its trials.
  double log_score(Response response, double y, double extra = 0) const noexcept;
  void add(Response response, double y, double extra = 0) noexcept;
  bool has_few_rows() const noexcept { return rows_ < kFewRows; }

 private:
  double class_probability(std::size_t label) const noexcept;
  double count_log_score(double y, double exposure) const noexcept;
  double binomial_log_score(double y, double trials) const noexcept;
  void add_count(double y, double exposure, double weight) noexcept;

  std::span<double> classes_;  // shares; of 0 and 1 there are two
  double rows_ = 0;            // kMemory at most
  double mean_ = 0;
  double variance_ = 0;          // about the mean; of counts about the rate times the exposure
  double exposure_ = 0;          // mean exposure of counts, or mean trials of successes, ...
  double squared_exposure_ = 0;  // ... and mean square
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_SCORING_REFERENCE_FORECAST_H_
