#include "windhover/runtime/diagnostics/residual_pairs.h"

#include <algorithm>
#include <cmath>

#include "windhover/runtime/prediction/gaussian_mixture.h"

namespace windhover {

void ResidualPairs::conclude() noexcept {
  const std::uint64_t rows = kept();
  if (rows < kLeastRows) return;
  double squares = 0;
  for (std::uint64_t i = 0; i < rows; ++i) squares += newest(i) * newest(i);
  const double size = std::sqrt(squares / static_cast<double>(rows));
  const double most = kMostSizes * size;
  const auto bounded = [&](std::uint64_t i) { return std::clamp(newest(i), -most, most); };
  resemblance_ = 0;
  if (!(size > kNothing && std::isfinite(most))) return;
  // Residuals that are skewed, or that a prior pulls on, have a mean other than 0, which is no
  // resemblance.
  double mean = 0;
  for (std::uint64_t i = 0; i < rows; ++i) mean += bounded(i);
  mean /= static_cast<double>(rows);
  double sum = 0;
  double sum_squares = 0;
  double before = bounded(0) - mean;
  for (std::uint64_t i = 1; i < rows; ++i) {
    const double here = bounded(i) - mean;
    const double product = here * before;
    sum += product;
    sum_squares += product * product;
    before = here;
  }
  if (sum_squares > 0) resemblance_ = sum / std::sqrt(sum_squares);
}

bool ResidualPairs::alike() const noexcept {
  return resemblance_ > normal_quantile(1 - kFalseAlarmRate);
}

void ResidualPairs::visit_state(StateVisitor& visitor) noexcept {
  visitor.values(resemblance_, rows_);
  visitor.visit(residuals_, kept());
}

}  // namespace windhover
