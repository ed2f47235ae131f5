// The precision of the prior of many columns, learned in two ways.
//
// Where columns have many rows each, it is learned from where the chains stand
// (learned_precision.h). A row says nothing there with its own part: what its force adds and what
// it takes of the prior's variance cancel, as they must, because a row of a class that shares no
// column with others is as likely under any precision. Where columns have few rows, that part is
// nearly all, and an error of a twentieth in the law makes one of a factor of 2 in the precision.
//
// There it is learned from each row before the chains learn from it. Where predictions are right,
// the mean of the row's residual over the chains has expectation 0, whatever known number it is
// multiplied by. That number is the derivative of the prediction by log lambda over the residual's
// variance; with each column taken alone and v_j = 1 / (lambda_j + p_j + H_j),
//   d E theta_j = -lambda_j v_j E theta_j,  d v_j = -lambda_j v_j^2.
// Both matter: the less the columns are known, the closer is the probability to that of the
// intercept and offset alone, which this prior does not hold. Only means over the chains are used,
// which have no noise (row_block_langevin.h): a factor that shared noise with the residual would
// give the product an expectation.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_PRIOR_LEARNER_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_PRIOR_LEARNER_H_

#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/row_blocks/chain_survey.h"
#include "windhover/samplers/row_blocks/precision_evidence.h"
#include "windhover/samplers/row_blocks/row_columns.h"

namespace windhover {

struct RowBlockParts;

// Invariant: the evidence is that of rows before they were learned from. One thread.
class PriorLearner {
 public:
  // `memory`: how many rows count. The parts outlive it.
  PriorLearner(RowBlockParts& parts, double memory) noexcept : parts_(parts), memory_(memory) {}
  void reset() noexcept { evidence_.reset(memory_); }

  // Whether the precision is learned from rows before the chains learn from them, judged by the
  // last retain(). Rows must have no weights; a column's past holds it as rows do.
  bool columns_have_few_rows(const ChainSurvey& survey) const noexcept;
  // Learns from such a row. REQUIRES: it has been loaded and predicted.
  void learn(const RowColumns& row) noexcept;
  // Sets the relevance of the columns of the row in the block. The past's centres stay.
  void follow_relevance(const RowColumns& row) noexcept;
  // Stretches the chains after a change of the precision. Call it before the survey.
  void stretch() noexcept;
  // Updates the precision. Call it after the survey. Returns whether it has moved chains.
  bool end(const ChainSurvey& survey) noexcept;

  // Shows its numbers in the section that is open.
  void visit_state(StateVisitor& visitor) noexcept { evidence_.visit_state(visitor); }

 private:
  bool follow() noexcept;

  RowBlockParts& parts_;
  PrecisionEvidence evidence_;
  double memory_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_PRIOR_LEARNER_H_
