#include "windhover/runtime/prediction/request_check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "windhover/runtime/observation.h"
#include "windhover/samplers/registry.h"

namespace windhover {

namespace {

constexpr double kLargestAsked = 1e100;

bool probabilities(std::span<const double> values) noexcept {
  return std::ranges::all_of(values, [](double p) { return p > 0 && p < 1; });
}

// Whether all values are finite and in bounds. Without an early exit the loop is vectorised.
bool usable(std::span<const double> values, double largest) noexcept {
  std::int64_t bad = 0;
  for (const double x : values) bad += std::abs(x) <= largest ? 0 : 1;
  return bad == 0;
}

}  // namespace

RequestCheck::RequestCheck(const EngineConfig& config) noexcept
    : model_(config.model),
      response_(find_model(model_.name)->response),
      network_(find_model(model_.name)->network),
      max_rows_(config.max_query_rows),
      missing_(config.missing_features),
      takes_keys_(config.labels.pending > 0) {}

// Whether every value that is not usable is NaN in a feature that a row may lack.
bool RequestCheck::lacks_only_allowed(const PredictRequest& r, double largest) const noexcept {
  if (!missing_.any()) return false;
  for (std::size_t i = 0; i < r.features.size(); ++i) {
    const double x = r.features[i];
    const bool allowed = std::isnan(x) && missing_.allows(i % model_.features);
    if (!allowed && !(std::abs(x) <= largest)) return false;
  }
  return true;
}

Status RequestCheck::check_rows(const PredictRequest& r) const noexcept {
  if (r.rows == 0) return Status::kInvalidArgument;
  if (model_.max_nonzeros == 0) {
    if (r.features.size() != r.rows * model_.features) return Status::kWrongDimension;
  } else {
    if (r.row_ends.size() != r.rows || r.indices.size() != r.features.size() ||
        r.row_ends.back() != r.indices.size()) {
      return Status::kWrongDimension;
    }
    std::uint32_t begin = 0;
    for (const std::uint32_t end : r.row_ends) {
      if (end < begin || end > r.indices.size()) return Status::kMalformed;
      if (end - begin > model_.max_nonzeros) return Status::kTooManyNonzeros;
      for (std::uint32_t k = begin; k < end; ++k) {
        if (r.indices[k] >= model_.features) return Status::kIndexOutOfRange;
        if (k > begin && r.indices[k] <= r.indices[k - 1]) return Status::kIndicesNotIncreasing;
      }
      begin = end;
    }
  }
  const double largest_feature = r.keys.empty() ? kLargestAsked : kLargestNumber;
  if (!usable(r.features, largest_feature) && !lacks_only_allowed(r, largest_feature)) {
    return Status::kNotFinite;
  }
  if (!r.offsets.empty()) {
    if (!model_.offset) return Status::kOffsetNotTaken;
    if (r.offsets.size() != r.rows) return Status::kInvalidArgument;
    const double largest = largest_offset(response_);
    for (const double offset : r.offsets) {
      if (!(std::abs(offset) <= largest)) return Status::kOffsetOutOfRange;
    }
  }
  if (!r.trials.empty()) {
    if (response_ != Response::kBinomial) return Status::kTrialsNotTaken;
    if (r.trials.size() != r.rows) return Status::kInvalidArgument;
    if (!std::ranges::all_of(r.trials, is_number_of_trials)) return Status::kTrialsOutOfRange;
  }
  if (!r.keys.empty()) {
    if (!takes_keys_) return Status::kKeyNotTaken;
    if (r.trials.empty() && model_.has_trials()) return Status::kTrialsMissing;
    if (r.keys.size() != r.rows) return Status::kInvalidArgument;
    for (const std::string_view key : r.keys) {
      if (key.size() > kMaxKeyBytes) return Status::kInvalidArgument;
    }
  }
  return Status::kOk;
}

Status RequestCheck::check(const PredictRequest& r) const noexcept {
  if (r.rows > max_rows_) return Status::kTooLarge;
  if (const Status status = check_rows(r); !ok(status)) return status;
  if (!usable(r.thresholds, kLargestAsked) || !usable(r.outcomes, kLargestAsked)) {
    return Status::kNotFinite;
  }
  if (r.quantile_probabilities.size() > kMaxQuantiles || r.thresholds.size() > kMaxThresholds) {
    return Status::kTooLarge;
  }
  if (!probabilities(r.quantile_probabilities) ||
      !(r.interval_probability > 0 && 0.5 * (1 + r.interval_probability) < 1)) {
    return Status::kInvalidArgument;
  }
  if (!r.outcomes.empty() && r.outcomes.size() != r.rows) return Status::kInvalidArgument;
  if (response_ == Response::kCategorical &&
      (!r.quantile_probabilities.empty() || !r.thresholds.empty() || r.thompson_id != 0)) {
    return Status::kUnsupported;
  }
  if (network_ && r.thompson_id != 0) return Status::kUnsupported;
  for (const double y : r.outcomes) {
    if (!in_domain(response_, model_.classes, y)) return Status::kTargetOutOfDomain;
  }
  for (std::size_t i = 0; response_ == Response::kBinomial && i < r.outcomes.size(); ++i) {
    if (r.outcomes[i] > trials_of(r, i)) return Status::kTargetOutOfDomain;
  }
  return Status::kOk;
}

}  // namespace windhover
