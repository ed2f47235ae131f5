// How far the chains of many columns are off.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_CHAIN_SURVEY_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_CHAIN_SURVEY_H_

#include <cstdint>
#include <limits>
#include <span>

#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/row_blocks/chain_kernels.h"

namespace windhover {

struct RowBlockParts;

// The survey that RowBlockLangevin::retain() makes of all columns that have had a row.
struct ChainSurvey {
  // How far the chains together lag behind the rows: the square of the distance between their
  // centre and the posterior's, in posterior variances, on average over the columns as the rows
  // have them. It is that of the mean force over lambda + H, less what noise makes of it: next to 0
  // for chains whose noise sums to 0, and 1 for a chain alone. NaN before there were rows.
  double lag = std::numeric_limits<double>::quiet_NaN();
  double informed = 0;       // columns, each as far as its rows know of it
  double held_by_prior = 0;  // columns, each as far as the prior holds it
  // How far the coefficients' centres may be off in directions that only the prior holds, such as a
  // level that the intercept shares with the columns of a field: 0 to 1, and about a third of the
  // distance in their sds, root mean square, where it is below a third. Rows take columns away from
  // the prior in proportion to their steps, not as the prior would share it; what that leaves goes
  // at the rate of the prior, e_j lambda_j a move, and is seen neither in the spread of the chains
  // nor in `lag`: the linear predictors of rows are the same. It is what is left, on average over
  // the columns as the rows have them, times the part of a column's variance that is not its own
  // but shared with others, on average over the columns as far as their rows know of them. 0 before
  // there were rows.
  double unsettled = 0;

  // Sums over the columns that have been looked at.
  struct Sums {
    // Adds these columns. REQUIRES: they are at most kSurveyedColumns.
    void add(const RowBlockParts& parts, std::span<const std::uint32_t> columns) noexcept;

    ColumnSurvey of_chains{};
    double held_by_prior = 0;
  };
  // Sets the survey from the sums over all columns that have had a row.
  void take(const Sums& sums, std::uint32_t chains) noexcept;

  // Shows its numbers in the section that is open.
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.values(lag, informed, held_by_prior, unsettled);
  }
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_CHAIN_SURVEY_H_
