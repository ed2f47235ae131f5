// Features that a row may lack: what NaN stands for.
#ifndef WINDHOVER_RUNTIME_MISSING_FEATURES_H_
#define WINDHOVER_RUNTIME_MISSING_FEATURES_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace windhover {

// What NaN in one feature of a dense row means.
struct MissingFeature {
  static constexpr std::uint32_t kNoMarker = UINT32_MAX;

  // What the feature counts as when it is missing, in units of the rows. NaN: it must not be
  // missing.
  double fill = std::numeric_limits<double>::quiet_NaN();
  // The feature that is set to 1 in such a row: its coefficient is what a missing value is worth
  // beyond `fill`. kNoMarker: none.
  std::uint32_t marker = kNoMarker;

  bool may_lack() const noexcept { return std::isfinite(fill); }
};

// What a missing value stands for in each feature of a row; an empty span: no value may be missing.
// A view; any thread.
class MissingFeatures {
 public:
  explicit MissingFeatures(std::span<const MissingFeature> features) noexcept
      : features_(features) {}

  bool any() const noexcept { return !features_.empty(); }
  bool allows(std::size_t feature) const noexcept { return any() && features_[feature].may_lack(); }
  // Replaces each NaN that is allowed by what it stands for; any other NaN stays. `row` holds a
  // value for each feature. O(features).
  void fill(double* row) const noexcept {
    for (std::size_t j = 0; j < features_.size(); ++j) {
      if (!std::isnan(row[j]) || !features_[j].may_lack()) continue;
      row[j] = features_[j].fill;
      if (features_[j].marker != MissingFeature::kNoMarker) row[features_[j].marker] = 1.0;
    }
  }

 private:
  std::span<const MissingFeature> features_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_MISSING_FEATURES_H_
