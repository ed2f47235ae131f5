// Methods that an informed user would take instead, on the same rows in the same order.
#ifndef WINDHOVER_TOOLS_EVALUATE_RIVALS_H_
#define WINDHOVER_TOOLS_EVALUATE_RIVALS_H_

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "windhover/samplers/models/model.h"
#include "windhover/tools/data/dataset.h"

namespace windhover {

struct RivalScore {
  std::string name;
  std::string setting = {};  // the best of those tried, chosen afterwards
  double log_score = 0;      // nats a row
  // ProbabilityRecord's figures, for a target of 0 or 1 and many columns; otherwise NaN.
  double held = std::numeric_limits<double>::quiet_NaN();
  double calibration_error = std::numeric_limits<double>::quiet_NaN();
};

// Rows [first, end) that come together: all are predicted before any of them is learned from. Those
// below scored_from got no score from the engine, and none is asked of the rivals either.
struct StreamChunk {
  std::size_t first = 0;
  std::size_t end = 0;
  std::size_t scored_from = first;
};

// Mean log scores over the scored rows, each rival with the setting that turned out best on these
// very rows. Features are standardised by the whole file, which also favours the rivals. Empty
// unless y is a number or 0 or 1.
//   - recursive regression with forgetting: the Kalman filter of constant coefficients (numbers),
//   the extended one (0 or 1), whose old rows fade by a factor of 1 - 1/memory a row;
//   - SGD at a constant rate, without a posterior.
// `chunks` covers the rows of `data` in their order. Complexity O(rows x columns^2) for each of
// seven memories.
std::vector<RivalScore> rival_scores(const Dataset& data, Response response,
                                     std::span<const StreamChunk> chunks);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_EVALUATE_RIVALS_H_
