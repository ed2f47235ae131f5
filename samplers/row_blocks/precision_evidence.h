// What rows that are predicted say of the precision of a prior, and of its tails.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_PRECISION_EVIDENCE_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_PRECISION_EVIDENCE_H_

#include <algorithm>
#include <cmath>

#include "windhover/platform/state_visitor.h"

namespace windhover {

// The log marginal likelihood of rows is the sum of log p(row | those before it) (Dawid 1984), so
// each row that comes adds its part of the derivative before it is learned from. The sum is kept as
// a parabola in log lambda and tails, which fades as rows do. Priors: N(log start, 1) for log
// lambda, and N(0, 1 / kTailsInformation) for tails.
class PrecisionEvidence {
 public:
  // The prior of all columns: lambda, and tails from 0 (normal) to 1 (Student's t with one degree
  // of freedom; learned_precision.h).
  struct Prior {
    double precision = 1;
    double tails = 0;
  };
  static constexpr double kMostTails = 1;
  static constexpr double kTailsInformation = 3;
  // The derivatives of a row's log p by log lambda and by tails.
  struct Slopes {
    double precision = 0;
    double tails = 0;
  };

  // `memory`: over how many rows evidence fades to 1 / e.
  void reset(double memory) noexcept {
    keep_ = std::exp(-1 / memory);
    precision_ = tails_ = precision_information_ = shared_information_ = tails_information_ = 0;
  }
  // Adds a row predicted with the prior at `value`. `slopes` are the derivatives of its log p over
  // `residual`, which is divided by its variance, 1 / `information`.
  void add(const Prior& value, const Slopes& slopes, double residual, double information) noexcept {
    const double at = std::log(value.precision);
    const double along = slopes.precision * at + slopes.tails * value.tails;
    const double told = residual + information * along;
    precision_ = keep_ * precision_ + slopes.precision * told;
    tails_ = keep_ * tails_ + slopes.tails * told;
    const auto more = [&](double& sum, double product) {
      sum = keep_ * sum + information * product;
    };
    more(precision_information_, slopes.precision * slopes.precision);
    more(shared_information_, slopes.precision * slopes.tails);
    more(tails_information_, slopes.tails * slopes.tails);
  }
  Prior most_likely(double start) const noexcept {
    const double precision = precision_ + std::log(start);
    const double of_precision = precision_information_ + 1;
    const double of_tails = tails_information_ + kTailsInformation;
    const double determinant = of_precision * of_tails - shared_information_ * shared_information_;
    const double tails = std::clamp(
        (of_precision * tails_ - shared_information_ * precision) / determinant, 0.0, kMostTails);
    return {std::exp((precision - shared_information_ * tails) / of_precision), tails};
  }

  // Shows its numbers in the section that is open.
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.values(precision_, tails_, precision_information_, shared_information_,
                   tails_information_);
  }

 private:
  double keep_ = 1;  // the factor of earlier evidence when a row comes
  // The first derivatives at log lambda = 0 and tails = 0, then minus the second ones.
  double precision_ = 0;
  double tails_ = 0;
  double precision_information_ = 0;
  double shared_information_ = 0;
  double tails_information_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_PRECISION_EVIDENCE_H_
