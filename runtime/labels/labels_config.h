#ifndef WINDHOVER_RUNTIME_LABELS_LABELS_CONFIG_H_
#define WINDHOVER_RUNTIME_LABELS_LABELS_CONFIG_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "windhover/platform/result.h"

namespace windhover {

struct EngineConfig;

inline constexpr std::size_t kMaxKeyBytes = 64;

// Predictions with a key, whose outcome comes later (pending_labels.h).
struct LabelsConfig {
  std::uint32_t pending = 0;       // keys that may wait at one time; 0: none may
  double timeout_seconds = 1'800;  // how long a key waits, 0.001 to a year
  // The outcome if none has come by then: for clicks 0. NaN: it is not known, and the row is
  // dropped.
  double timeout_outcome = std::numeric_limits<double>::quiet_NaN();
};

// True, or what is wrong with the labels. REQUIRES: check() has accepted the model.
Result<bool> check_labels(const EngineConfig& config) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LABELS_LABELS_CONFIG_H_
