#include "windhover/runtime/posterior/robust_spread.h"

#include <algorithm>
#include <cmath>

namespace windhover {

void RobustSpread::clear() noexcept {
  for (double* column : {own_, robust_, prior_}) std::fill_n(column, dimension_, 0.0);
}

// A parameter that rows say next to nothing of has no part in the factor: what is left of the
// subtraction is rounding.
void RobustSpread::set(std::uint32_t j, double posterior, double robust, double pull,
                       double prior_precision) noexcept {
  constexpr double kRounding = 1e-9;
  const bool known = posterior - pull > kRounding * posterior;
  own_[j] = known ? posterior - pull : 0;
  robust_[j] = known ? std::max(robust - pull, 0.0) : 0;
  prior_[j] = prior_precision;
}

void RobustSpread::widen(const InverseFactor& inverse_factor, const double* x, double* whitened,
                         double* scratch) const noexcept {
  inverse_factor.multiply_transposed(whitened, scratch);
  double variance = 0;
  double pull = 0;
  double own = 0;
  double robust = 0;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    variance += whitened[j] * whitened[j];
    pull += prior_[j] * scratch[j] * scratch[j];
    own += x[j] * x[j] * own_[j];
    robust += x[j] * x[j] * robust_[j];
  }
  if (!(own > 0 && variance > 0)) return;
  pull = std::min(pull, variance);
  const double ratio = std::max(robust / own, 1.0);
  const double factor = std::sqrt((pull + ratio * (variance - pull)) / variance);
  for (std::uint32_t j = 0; j < dimension_; ++j) whitened[j] *= factor;
}

void RobustSpread::copy_from(const RobustSpread& other) noexcept {
  std::copy_n(other.own_, dimension_, own_);
  std::copy_n(other.robust_, dimension_, robust_);
  std::copy_n(other.prior_, dimension_, prior_);
}

void RobustSpread::visit_state(StateVisitor& visitor) noexcept {
  for (double* column : {own_, robust_, prior_}) visitor.visit(column, dimension_);
}

}  // namespace windhover
