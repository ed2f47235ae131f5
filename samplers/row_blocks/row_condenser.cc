#include "windhover/samplers/row_blocks/row_condenser.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/row_blocks/row_block_parts.h"

namespace windhover {

// The chains get the centre and spread that the posterior then has, were the column independent of
// the others.
void RowCondenser::age(std::uint32_t column) noexcept {
  CondensedPast::Column& past = parts_.prior.past().of(column);
  const float faded = parts_.prior.past().faded(past);
  past.as_of = parts_.prior.past().rows();
  const float lost = past.precision - faded;
  if (!(lost > 0)) return;
  past.precision = faded;
  float* theta = parts_.positions.theta(column);
  const auto all =
      static_cast<float>(parts_.prior.pull(column) + parts_.columns.of(column).curvature);
  const auto mean = static_cast<float>(parts_.positions.mean(theta));
  const float centre = mean + lost / all * (mean - past.centre);
  const float wider = std::sqrt((all + lost) / all);
  for (std::uint32_t c = 0; c < parts_.chains; ++c) {
    theta[c] = centre + wider * (theta[c] - mean);
    parts_.positions.add_force(column, c, double{lost * past.centre});
  }
}

void RowCondenser::condense(const RowColumns& row, std::uint32_t slot) noexcept {
  const StepBlock& b = parts_.gathered.block();
  parts_.prior.past().add_to_worth();
  for (std::size_t k = 0; k < row.count; ++k) age(row.column(k));
  parts_.gathered.load(row);
  parts_.gathered.predict(row);
  double residual = 0;
  double curvature = 0;
  for (std::uint32_t c = 0; c < parts_.chains; ++c) {
    const double one = logistic_at(b.eta[c], row.target).residual;
    residual += one / parts_.chains;
    curvature += std::abs(one) * (1 - std::abs(one)) / parts_.chains;
  }
  double variance = 0;
  for (std::size_t k = 0; k < row.count; ++k) {
    b.step[k] = b.value[k] * b.value[k] / (b.precision[k] + b.curvature[k]);
    variance += double{b.step[k]};
  }
  const float* kept = parts_.kept.residuals(slot);
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = row.column(k);
    const double value = b.value[k];
    const double others = std::max(0.0, variance - double{b.step[k]});
    const double told = curvature * value * value / (1 + curvature * others);
    const double pull = b.precision[k];
    const double centre = parts_.positions.mean(b.theta[k]);
    CondensedPast::Column& past = parts_.prior.past().of(column);
    past.centre =
        static_cast<float>((pull * past.centre - residual * value + told * centre) / (pull + told));
    past.precision += static_cast<float>(told);
    for (std::uint32_t c = 0; c < parts_.chains; ++c) {
      parts_.positions.add_force(column, c, value * (residual - double{kept[c]}) - told * centre);
    }
    if (parts_.columns.of(column).rows == 0) leave(column);
  }
}

// Moves the chains of a column without rows to its past's centre and spread, in proportion.
void RowCondenser::leave(std::uint32_t column) noexcept {
  const CondensedPast::Column& past = parts_.prior.past().of(column);
  const auto pull = static_cast<float>(parts_.prior.pull(column));
  float* theta = parts_.positions.theta(column);
  const auto mean = static_cast<float>(parts_.positions.mean(theta));
  double squares = 0;
  for (std::uint32_t c = 0; c < parts_.chains; ++c) squares += std::pow(double{theta[c]} - mean, 2);
  const double wanted = parts_.chains / double{pull};
  const float wider = squares > 0 ? static_cast<float>(std::sqrt(wanted / squares)) : 1;
  for (std::uint32_t c = 0; c < parts_.chains; ++c)
    theta[c] = past.centre + wider * (theta[c] - mean);
  parts_.positions.set_force(column, -pull * past.centre);
}

void RowCondenser::copy(std::uint32_t column, float* out) const noexcept {
  const CondensedPast::Column& past = parts_.prior.past().of(column);
  const double now = parts_.prior.of(column) + double{parts_.prior.past().faded(past)};
  const auto wider = static_cast<float>(std::sqrt(parts_.prior.pull(column) / now));
  const float* theta = parts_.positions.theta(column);
  for (std::uint32_t c = 0; c < parts_.chains; ++c) {
    out[c] = past.centre + wider * (theta[c] - past.centre);
  }
}

}  // namespace windhover
