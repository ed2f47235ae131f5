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
  // How far all chains together lag behind the rows: the squared distance between their centre and
  // the posterior's, in posterior variances, averaged over the columns with weight N_j H_j /
  // (lambda_j + H_j). The distance is the chains' mean force over lambda_j + H_j, less the noise in
  // it: next to 0 for chains whose normals sum to 0, 1 for a single chain. NaN before there were
  // rows.
  double lag = std::numeric_limits<double>::quiet_NaN();
  double informed = 0;       // sum over columns of H_j / (lambda_j + H_j), the share that rows hold
  double held_by_prior = 0;  // sum over columns of the share that the prior holds
  // How far the centres of coefficients may be off in directions that only the prior holds, for
  // example the level that the intercept shares with the columns of a field: 0 to 1. Below a third
  // it is about a third of the root mean square distance, in sds. Rows move columns in proportion
  // to their steps, not as the prior would share the move among them. The error that this leaves
  // decays only at the prior's rate, e_j lambda_j a move. It does not change linear predictors, so
  // neither the chains' spread nor `lag` shows it. This is the average error left (weights as for
  // `lag`), times the average share of a column's variance that it has in common with others
  // (weight H_j / (lambda_j + H_j)). 0 before there were rows.
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
