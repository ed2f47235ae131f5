// Which model a target that is a number gets where nobody has named one: what predicts the file's
// own rows best.
#ifndef WINDHOVER_TOOLS_EVALUATE_CHOOSE_MODEL_H_
#define WINDHOVER_TOOLS_EVALUATE_CHOOSE_MODEL_H_

#include <cstddef>
#include <span>
#include <string>

#include "windhover/tools/data/inspect.h"

namespace windhover {

// A difference of the scores of rows, in nats a row.
struct Lead {
  double mean = 0;
  double error = 0;  // its standard error, as of independent rows
  std::size_t rows = 0;

  // Above chance and worth the while: more than 0.02, and than three standard errors.
  bool is_clear() const;
  // Worse by more than 0.02, and than two standard errors.
  bool is_behind() const;
};

// What `scores` have on those of `over`, row by row.
Lead lead_of(std::span<const double> scores, std::span<const double> over);

// How far predicted means are off, of the targets' mean size, where that is more than a twentieth
// and more than three standard errors; otherwise 0. The density of a model may be right where most
// rows are, and its mean wrong: a log-normal's is that of a tail which the rows do not have.
double bias_of(std::span<const double> misses, std::span<const double> targets);

// inspect(), and where the target is a number, nobody named a model, and the schema has no offset,
// trials or weight: `linear` against `log-normal` where all y are above 0, and `negative-binomial`
// where they are whole and look like counts (may_be_counts(), and have no common divisor). Each is
// asked to predict 2,000 rows of the file at most, drawn at random, before it learns from them
// (row_scores()). The one that has the clearest lead on `linear` in a random order of these rows,
// is not behind in the file's own, and has the right mean (bias_of()), is the model of the schema;
// the target's note says what was found. No choice of fewer than 50 scored rows, or of more than
// 200 features. A function of the file and the options.
Inspection inspect_and_choose(const std::string& path, const InspectOptions& options);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_EVALUATE_CHOOSE_MODEL_H_
