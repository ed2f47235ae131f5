// Scores of rows by an engine with every default, each before it learns from the row.
#ifndef WINDHOVER_TOOLS_EVALUATE_ROW_SCORES_H_
#define WINDHOVER_TOOLS_EVALUATE_ROW_SCORES_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "windhover/tools/data/dataset.h"

namespace windhover {

// How many of the first rows are not scored, because their predictions are mostly the prior.
std::size_t unscored_rows(const Dataset& data);

struct RowScores {
  std::vector<double> scores;
  std::vector<double> misses;  // y less the predicted mean
};

// Log scores of the rows from unscored_rows() on, in nats: log p(y | x) given the rows before. Rows
// come in chunks whose size is `growth` times the number of rows before them; each chunk is
// predicted by what is known before it. For a number the score is the density of y in its own unit.
// `whole`: y are whole numbers, and the score of a density is the probability of the unit around y,
// to be compared with that of a count. Never below -1,000. A function of its arguments. UserError
// for a row that the model refuses, RunError where the engine fails.
RowScores row_scores(std::string_view model, const Dataset& data, bool whole, double growth);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_EVALUATE_ROW_SCORES_H_
