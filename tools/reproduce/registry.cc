#include <vector>

#include "windhover/tools/reproduce/experiment.h"
#include "windhover/tools/reproduce/experiments.h"

namespace windhover::reproduce {

std::span<const Experiment> experiments() {
  static const std::vector<Experiment> kExperiments = {};
  return kExperiments;
}

}  // namespace windhover::reproduce
