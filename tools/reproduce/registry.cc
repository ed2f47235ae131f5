#include <vector>

#include "windhover/tools/reproduce/experiment.h"
#include "windhover/tools/reproduce/experiments.h"

namespace windhover::reproduce {

std::span<const Experiment> experiments() {
  static const std::vector<Experiment> list = {
      {"double-well",
       "Chen, Carlson, Gan, Li and Carin 2016, Figure 1",
       "Santa leaves a local minimum that RMSprop stays in",
       {},
       run_double_well},
  };
  return list;
}

}  // namespace windhover::reproduce
