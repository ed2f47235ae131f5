// The units in which a model sees the features and y, and the way back: what is served is in units
// of the rows as they came.
#ifndef WINDHOVER_RUNTIME_LEARNING_UNITS_H_
#define WINDHOVER_RUNTIME_LEARNING_UNITS_H_

#include <cmath>
#include <cstdint>

#include "windhover/runtime/config.h"
#include "windhover/runtime/learning/estimator.h"
#include "windhover/runtime/posterior/posterior.h"
#include "windhover/samplers/models/model.h"
#include "windhover/samplers/registry.h"

namespace windhover {

// Mean, variance and total weight of one column of some rows, each value by its weight.
class Column {
 public:
  void add(double x, double weight = 1) noexcept;

  double count() const noexcept { return count_; }
  double mean() const noexcept { return mean_; }
  double variance() const noexcept { return count_ > 0 ? squares_ / count_ : 0.0; }
  // Whether the variance is more than rounding: a column that has not varied has no scale.
  bool varies() const noexcept { return variance() > 1e-24 * mean_ * mean_; }
  // The distance between the column's two values; 0 unless it has exactly two.
  double range_of_two() const noexcept;

 private:
  double count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
  double first_ = 0;
  double second_ = 0;
  int values_ = 0;  // different ones; 3: more than two
};

// The column of value(s), weighted by weight(s), over s = first, first + stride, ... below last;
// values of weight 0 are left out.
template <class Value, class Weight>
Column column_of(std::uint64_t first, std::uint64_t last, std::uint64_t stride, Value&& value,
                 Weight&& weight) noexcept {
  Column column;
  for (std::uint64_t s = first; s < last; s += stride) {
    if (const double w = weight(s); w > 0) column.add(value(s), w);
  }
  return column;
}

// Location and scale of a feature as a cold start finds them. REQUIRES, here and below:
// with_defaults() returned the configuration.
struct FeatureUnits {
  double shift;
  double inverse_scale;
};
FeatureUnits feature_units(const EngineConfig& config, const Column& column) noexcept;
inline bool scans_features(const EngineConfig& config) noexcept {
  return config.standardize == Standardize::kColdStart ||
         config.standardize == Standardize::kScaled;
}

// The scale of targets that are all the same: their size, which may be 0, or 1 for logarithms,
// whatever the unit of y. `mean` is that of working_target(), as for all columns below.
inline double scale_of_equal_targets(Response response, double mean) noexcept {
  return response == Response::kLogNormal ? 1.0 : std::abs(mean);
}

// The units of y before any row has come.
TargetTransform given_target_units(const EngineConfig& config) noexcept;
// The units of y as a cold start finds them. `targets` are less their offsets, but counts are as
// they came, with `exposure` the mean of exp(offset).
TargetTransform scanned_target_units(const EngineConfig& config, const Column& targets,
                                     double exposure = 1) noexcept;

// Brings theta of a snapshot to units of the rows' features, for readers. `out` may be `theta`.
// O(dimension).
void to_raw_features(const ParameterLayout& layout, const FeatureTransform& transform,
                     const double* theta, double* out) noexcept;

// Brings what readers are served back to theta as chains move it. REQUIRES: a generalized linear or
// softmax model. `theta` may be `served`. O(dimension).
void to_model_units(const ParameterLayout& layout, const FeatureTransform& transform,
                    const TargetTransform& target, const double* served, double* theta) noexcept;

// Finishes a snapshot that was filled in the model's units. Mean, deviations, dispersion and noise
// variance become those of y; what describes a parameter is in units of the rows' own features as
// well. An intercept is then what is predicted at x = 0, perhaps far from all rows: its sd_robust
// is that of the sandwich, times what dependent rows add to that of the fitted intercept, and its
// mcse_mean is the same share of sd as the fitted one's. `direction` is scratch, dimension numbers.
// O(draws x dimension), and where features are shifted O(dimension^2) a block.
void serve_raw_units(const ParameterLayout& layout, const TargetTransform& target,
                     Estimator& estimator, double* direction, Posterior& posterior) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_UNITS_H_
