// The precision of the prior of many columns, learned in two ways.
//
// Where the columns have many rows each, it is learned from where the chains stand
// (learned_precision.h). What of that is a row's own says nothing: a row of classes that shares no
// column with others is as likely whatever the precision is, and its own force and what it takes of
// the prior's variance cancel. Where columns have few rows that is nearly all, and a law that is
// off by a twentieth is twice off in the precision.
//
// There it is learned from rows before the chains learn from them. The mean of a row's residual
// over the chains has the expectation 0 where predictions are right, whatever it is weighted with
// that is known before. Its weight is what it would change by with log lambda, over its variance;
// each column alone, with v_j = 1 / (lambda_j + p_j + H_j),
//   d E theta_j = -lambda_j v_j E theta_j,  d v_j = -lambda_j v_j^2,
// and both count: the less the columns are known the closer the probability is to that of the
// level, of the intercept and the offset, which this prior does not hold. From the chains there are
// only means, which have no noise (row_block_langevin.h): a weight that had chance in common with
// the residual would have an expectation.
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

  // Whether the precision is learned from rows before the chains learn from them, which takes rows
  // without weights. What a past says of a column holds it as rows do.
  bool columns_have_few_rows(const ChainSurvey& survey) const noexcept;
  // Learns from such a row. REQUIRES: it has been loaded and predicted.
  void learn(const RowColumns& row) noexcept;
  // Sets the relevance of the columns of the row in the block. The past's centre stays where it is.
  void follow_relevance(const RowColumns& row) noexcept;
  // Stretches the chains by what the precision has changed. Call it before the survey.
  void stretch() noexcept;
  // Lets the precision follow. Call it after the survey. Returns whether chains have been moved
  // along at once.
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
