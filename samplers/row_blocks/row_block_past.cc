// What becomes of a row that leaves where its past is kept.
//
// The row's loss, expanded to second order about the chains' centre theta', goes into the prior: of
// its curvature h what it tells of each column while the others are as unknown as they are,
//   d_j = h x_j^2 / (1 + h (v - v_j)),  v = sum of v_j,  v_j = x_j^2 / (lambda_j + p_j + H_j),
//   p_j += d_j,  m_j such that the pull of the prior at theta' grows by the row's own, x_j r.
// The centre of the posterior stays. That columns hang together along the row is forgotten: along
// rows such as this one answers become wider, by the root of their non-zeros at most; of columns
// that only ever come together, each alone is taken for better known than it is.
#include <algorithm>
#include <cmath>

#include "windhover/samplers/row_blocks/row_block_langevin.h"

namespace windhover {

// The past of a column fades. The chains go to where that leaves the posterior, and as far apart,
// were the column independent of the others.
void RowBlockLangevin::age(std::uint32_t column) noexcept {
  CondensedPast::Column& past = past_.of(column);
  const float faded = past_.faded(past);
  past.as_of = past_.rows();
  const float lost = past.precision - faded;
  if (!(lost > 0)) return;
  past.precision = faded;
  float* theta = positions_.theta(column);
  const auto all = static_cast<float>(pull_of(column) + sums_[column].curvature);
  const auto mean = static_cast<float>(positions_.mean(theta));
  const float centre = mean + lost / all * (mean - past.centre);
  const float wider = std::sqrt((all + lost) / all);
  for (std::uint32_t c = 0; c < chains_; ++c) {
    theta[c] = centre + wider * (theta[c] - mean);
    positions_.add_force(column, c, double{lost * past.centre});
  }
}

// A row that is not counted any more, in the block; r' of each chain still is in its G.
void RowBlockLangevin::condense(const RowColumns& row, std::uint32_t slot) noexcept {
  const StepBlock& b = block_;
  past_.add_to_worth();
  for (std::size_t k = 0; k < row.count; ++k) age(row.column(k));
  load(row);
  predict(row);
  double residual = 0;
  double curvature = 0;
  for (std::uint32_t c = 0; c < chains_; ++c) {
    const double one = logistic_at(b.eta[c], row.target).residual;
    residual += one / chains_;
    curvature += std::abs(one) * (1 - std::abs(one)) / chains_;
  }
  double variance = 0;
  for (std::size_t k = 0; k < row.count; ++k) {
    b.step[k] = b.value[k] * b.value[k] / (b.precision[k] + b.curvature[k]);
    variance += double{b.step[k]};
  }
  const float* kept = kept_.residuals(slot);
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = row.column(k);
    const double value = b.value[k];
    const double others = std::max(0.0, variance - double{b.step[k]});
    const double told = curvature * value * value / (1 + curvature * others);
    const double pull = b.precision[k];
    const double centre = positions_.mean(b.theta[k]);
    CondensedPast::Column& past = past_.of(column);
    past.centre =
        static_cast<float>((pull * past.centre - residual * value + told * centre) / (pull + told));
    past.precision += static_cast<float>(told);
    for (std::uint32_t c = 0; c < chains_; ++c) {
      positions_.add_force(column, c, value * (residual - double{kept[c]}) - told * centre);
    }
    if (sums_[column].rows == 0) leave_to_past(column);
  }
}

// A column without rows is as its past has it: the chains are where they were in it, to scale.
void RowBlockLangevin::leave_to_past(std::uint32_t column) noexcept {
  const CondensedPast::Column& past = past_.of(column);
  const auto pull = static_cast<float>(pull_of(column));
  float* theta = positions_.theta(column);
  const auto mean = static_cast<float>(positions_.mean(theta));
  double squares = 0;
  for (std::uint32_t c = 0; c < chains_; ++c) squares += std::pow(double{theta[c]} - mean, 2);
  const double wanted = chains_ / double{pull};
  const float wider = squares > 0 ? static_cast<float>(std::sqrt(wanted / squares)) : 1;
  for (std::uint32_t c = 0; c < chains_; ++c) theta[c] = past.centre + wider * (theta[c] - mean);
  positions_.set_force(column, -pull * past.centre);
}

// The chains of such a column, as far apart as its past is known now.
void RowBlockLangevin::copy_past(std::uint32_t column, float* out) const noexcept {
  const CondensedPast::Column& past = past_.of(column);
  const double now = precision_of(column) + double{past_.faded(past)};
  const auto wider = static_cast<float>(std::sqrt(pull_of(column) / now));
  const float* theta = positions_.theta(column);
  for (std::uint32_t c = 0; c < chains_; ++c) {
    out[c] = past.centre + wider * (theta[c] - past.centre);
  }
}

}  // namespace windhover
