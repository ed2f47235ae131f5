// Chooses the model for a target that is a number where nobody has named one: the one that predicts
// the file's own rows best.
#ifndef WINDHOVER_TOOLS_EVALUATE_CHOOSE_MODEL_H_
#define WINDHOVER_TOOLS_EVALUATE_CHOOSE_MODEL_H_

#include <cstddef>
#include <span>
#include <string>

#include "windhover/tools/data/inspect.h"

namespace windhover {

// The mean difference between two models' scores of the same rows, in nats a row.
struct Lead {
  double mean = 0;
  double error = 0;  // its standard error, as of independent rows
  std::size_t rows = 0;

  // True above 0.02 and above three standard errors.
  bool is_clear() const;
  // True below -0.02 and below -2 standard errors.
  bool is_behind() const;
};

// The lead of `scores` over `over`, row by row.
Lead lead_of(std::span<const double> scores, std::span<const double> over);

// The mean of `misses` divided by the mean size of the targets, where it is more than a twentieth
// and more than three standard errors; otherwise 0. A model's density may be right where most rows
// are and its mean wrong: the mean of a log-normal depends on a tail that the rows may not have.
double bias_of(std::span<const double> misses, std::span<const double> targets);

// inspect(); and where the target is a number, nobody named a model, and the schema has no offset,
// trials or weight, a choice of model. `linear` is compared with `log-normal` where all y are above
// 0, and with `negative-binomial` where they are whole, look like counts (may_be_counts()) and have
// no common divisor. Each predicts at most 2,000 rows of the file, drawn at random, before it
// learns from them (row_scores()). The schema gets the model with the largest lead over `linear`
// among those whose lead is clear with the rows in random order, whose mean is right (bias_of()),
// and that are not behind in the file's own order; without such a model it gets `linear`. The
// target's note says what was found. There is no choice with fewer than 50 scored rows, or more
// than 200 features. A function of the file and the options.
Inspection inspect_and_choose(const std::string& path, const InspectOptions& options);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_EVALUATE_CHOOSE_MODEL_H_
