// What an engine with every default says of rows before it learns from them, a row each.
#ifndef WINDHOVER_TOOLS_EVALUATE_ROW_SCORES_H_
#define WINDHOVER_TOOLS_EVALUATE_ROW_SCORES_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "windhover/tools/data/dataset.h"

namespace windhover {

// How many of the first rows are not scored: what is said of them is mostly the prior.
std::size_t unscored_rows(const Dataset& data);

struct RowScores {
  std::vector<double> scores;
  std::vector<double> misses;  // y less the mean that was predicted
};

// Log scores of the rows from unscored_rows() on, in nats: log p(y | x) by what the rows before
// have taught. Rows come in chunks that grow by `growth` of all rows before them, and each chunk is
// predicted by what is known before it. For a number it is a density of y itself, in its own unit;
// `whole`: y are whole numbers, and a density's score is the probability that it gives to what
// rounds to y, which a count's is to be compared with. Never below -1,000. A function of its
// arguments. UserError for a row that the model refuses, RunError where the engine fails.
RowScores row_scores(std::string_view model, const Dataset& data, bool whole, double growth);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_EVALUATE_ROW_SCORES_H_
