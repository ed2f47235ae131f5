// What rows that are predicted say of the precision of a prior.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_PRECISION_EVIDENCE_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_PRECISION_EVIDENCE_H_

#include <cmath>

#include "windhover/platform/state_visitor.h"

namespace windhover {

// The log marginal likelihood of rows is the sum of log p(row | those before it) (Dawid 1984): each
// row that comes has its part of the derivative by log lambda, before it is learned from. They are
// kept as a parabola, which fades as rows do. log lambda has itself a prior, N(log start, 1).
class PrecisionEvidence {
 public:
  // `memory`: rows that count.
  void reset(double memory) noexcept {
    keep_ = std::exp(-1 / memory);
    slope_ = information_ = 0;
  }
  // A row, with the precision at `value`: the derivative of its log probability by log lambda, and
  // minus the second.
  void add(double value, double slope, double information) noexcept {
    slope_ = keep_ * slope_ + slope + information * std::log(value);
    information_ = keep_ * information_ + information;
  }
  double most_likely(double start) const noexcept {
    return std::exp((slope_ + std::log(start)) / (information_ + 1));
  }

  // In the section that is open.
  void visit_state(StateVisitor& visitor) noexcept { visitor.values(slope_, information_); }

 private:
  double keep_ = 1;         // of what the rows before have said, where another comes
  double slope_ = 0;        // at log lambda = 0
  double information_ = 0;  // about log lambda
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_PRECISION_EVIDENCE_H_
