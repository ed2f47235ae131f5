#include "windhover/runtime/labels/labels_config.h"

#include <cmath>

#include "windhover/runtime/config.h"
#include "windhover/runtime/observation.h"
#include "windhover/samplers/registry.h"

namespace windhover {
namespace {

// Whether a y of the model may be this number; a binomial model has 1 trial here.
bool is_possible(double y, const ModelConfig& model) noexcept {
  return std::abs(y) <= kLargestNumber && !(model.has_trials() && y > 1) &&
         in_domain(find_model(model.name)->response, model.classes, y);
}

}  // namespace

Result<bool> check_labels(const EngineConfig& config) noexcept {
  const LabelsConfig& labels = config.labels;
  const auto invalid = [](const char* sentence, double number) {
    return Error{Status::kInvalidConfig, sentence, number};
  };
  if (labels.pending > 1U << 30) {
    return invalid("labels.pending must be at most 2^30", labels.pending);
  }
  if (labels.pending > 0 && config.follows) {
    return invalid("labels.pending must be 0 for a model that follows: its rows come from another",
                   labels.pending);
  }
  if (!(labels.timeout_seconds >= 0.001) || labels.timeout_seconds > 31'536'000) {
    return invalid("labels.timeout_seconds must be 0.001 to 31536000, a year",
                   labels.timeout_seconds);
  }
  if (!std::isnan(labels.timeout_outcome) && !is_possible(labels.timeout_outcome, config.model)) {
    return invalid("labels.timeout_outcome must be an outcome that the model can have",
                   labels.timeout_outcome);
  }
  return true;
}

}  // namespace windhover
