// Checks whether a question is one that a model can answer.
#ifndef WINDHOVER_RUNTIME_PREDICTION_REQUEST_CHECK_H_
#define WINDHOVER_RUNTIME_PREDICTION_REQUEST_CHECK_H_

#include <cstdint>

#include "windhover/platform/result.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/missing_features.h"
#include "windhover/runtime/prediction/predictive.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// Invariant: nothing changes after construction. Any thread.
class RequestCheck {
 public:
  explicit RequestCheck(const EngineConfig& config) noexcept;

  // Whether the request is well formed for this model; nothing is checked later. kUnsupported:
  // quantiles, thresholds or a Thompson draw with several classes, or a Thompson draw of a network.
  Status check(const PredictRequest& request) const noexcept;
  // The part of check() that rows, offsets, trials and keys must pass to be kept with their keys,
  // whichever engine answers, and however many they are. With keys a feature must be one that an
  // observation may have.
  Status check_rows(const PredictRequest& request) const noexcept;

 private:
  bool lacks_only_allowed(const PredictRequest& request, double largest) const noexcept;

  ModelConfig model_;
  Response response_;
  bool network_;
  std::uint32_t max_rows_;
  MissingFeatures missing_;
  bool takes_keys_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICTION_REQUEST_CHECK_H_
