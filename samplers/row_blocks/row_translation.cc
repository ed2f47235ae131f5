#include "windhover/samplers/row_blocks/row_translation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "windhover/samplers/row_blocks/chain_kernels.h"
#include "windhover/samplers/row_blocks/row_block_parts.h"

namespace windhover {

namespace {

// Where a row that goes had more than this many times the curvature that it leaves, it takes chains
// no farther than the rows that stay pull them: since a chain last looked at it, the others may
// have brought the chains where it says something else.
constexpr float kLargestOwn = 1;
// A bound that lies above -log p makes no step too long, and from here so few are enough.
constexpr int kModeSteps = 3;

// `target`, clamped to lie between 0 and `change`.
float within(float change, float target) noexcept {
  return change > 0 ? std::clamp(target, 0.0F, change) : std::clamp(target, change, 0.0F);
}

// Mean and variance of the chains' linear predictors.
struct RowSpread {
  double mean = 0;
  double variance = 0;
};

RowSpread spread_of_predictors(std::span<const double> predictors) noexcept {
  const auto chains = static_cast<double>(predictors.size());
  RowSpread spread;
  for (const double eta : predictors) spread.mean += eta;
  spread.mean /= chains;
  for (const double eta : predictors) {
    const double apart = eta - spread.mean;
    spread.variance += apart * apart;
  }
  spread.variance /= chains;
  return spread;
}

}  // namespace

// Newton's step for a row that H does not count, from the mean of the chains' residuals, with
// lambda_j + H_j for the other rows, into the block's steps. Where the row's new columns have just
// been drawn (NewColumns), their part of the linear predictor has the variance `fresh`: the other
// columns move as far as that leaves it to them, and the new ones by what that asks of them.
void RowTranslation::work_out(const RowColumns& row, std::uint32_t slot, float sign,
                              double fresh) noexcept {
  const StepBlock& b = parts_.gathered.block();
  const float* residuals = parts_.kept.residuals(slot);
  const float mean = std::accumulate(residuals, residuals + parts_.chains, 0.0F) /
                     static_cast<float>(parts_.chains);
  const auto is_new = [&](std::size_t k) { return fresh > 0 && b.rows[k] == 0; };
  float along = 0;
  for (std::size_t k = 0; k < row.count; ++k) {
    b.step[k] = 1 / (b.precision[k] + b.curvature[k]);
    if (!is_new(k)) along += b.value[k] * b.value[k] * b.step[k];
  }
  const auto weight = static_cast<float>(row.weight);
  const float alone = weight * parts_.kept.curvature(slot);
  const float own = alone / (1 + alone * static_cast<float>(fresh)) * along;
  // Where the row has gone, the step needs no division: H is without it already.
  const bool whole = parts_.weighs_rows() && sign > 0;
  const float factor = sign * weight * mean / (whole ? 1 : 1 + own);
  std::fill_n(b.moved, parts_.chains, 1.0F);
  for (std::size_t k = 0; k < row.count; ++k) {
    float change = (is_new(k) ? -own * factor : factor) * b.value[k] * b.step[k];
    if (whole && own > kLargestOwn) {
      const std::uint32_t column = row.column(k);
      change = within(change, -static_cast<float>(mean_force(column)) * b.step[k]);
    }
    b.step[k] = change;
  }
}

// A row without a weight comes. The chains' centre goes to the mode of the row and of what the
// columns know, were they independent: u = -r(eta + v u), v = sum of x_j^2 / (lambda_j + H_j).
// Their distances from the centre shrink along the row as its curvature reduces the variance of eta
// (square root Kalman filter: Whitaker and Hamill 2002), for which the chains' own is taken where
// it is below v. eta is then set to the chains' new values.
void RowTranslation::work_out_transport(const RowColumns& row) noexcept {
  const StepBlock& b = parts_.gathered.block();
  const double known = parts_.gathered.direction(row);
  const RowSpread here = spread_of_predictors({b.eta, parts_.chains});
  double centre = 0;
  for (int step = 0; step < kModeSteps; ++step) {
    const RowAt mean = parts_.gathered.respond(row, known * centre, b.after, b.bent);
    centre -= (centre + mean.residual) / (1 + known * mean.curvature);
  }
  const double other =
      std::abs(parts_.gathered.respond(row, known * centre, b.after, b.bent).residual);
  const double curvature = other * (1 - other);
  const double taken = curvature * std::min(known, here.variance);
  const double narrower = curvature / (1 + taken + std::sqrt(1 + taken));
  for (std::uint32_t c = 0; c < parts_.chains; ++c) {
    const double times = centre - narrower * (b.eta[c] - here.mean);
    b.moved[c] = static_cast<float>(times);
    b.eta[c] += known * times;
  }
}

// A row without a weight has gone. The chains' centre makes a Newton step, but no longer than the
// step back would be if the row came again; along the row they spread as they would without it.
void RowTranslation::work_out_return(const RowColumns& row, std::uint32_t slot) noexcept {
  const StepBlock& b = parts_.gathered.block();
  const float* residuals = parts_.kept.residuals(slot);
  parts_.ahead.fetch_some();
  double residual = 0;
  double curvature = 0;
  for (std::uint32_t c = 0; c < parts_.chains; ++c) {
    const double other = std::abs(residuals[c]);
    residual += residuals[c] / static_cast<double>(parts_.chains);
    curvature += other * (1 - other) / parts_.chains;
  }
  const double known = parts_.gathered.direction(row);
  parts_.gathered.predict(row);
  const RowSpread here = spread_of_predictors({b.eta, parts_.chains});
  const double left = 1 - curvature * here.variance;
  const double without = here.variance < left * known ? here.variance / left : known;
  const double wider = curvature / (1 + std::sqrt(1 + curvature * without));
  const double centre = residual / (1 + known * parts_.kept.curvature(slot));
  for (std::uint32_t c = 0; c < parts_.chains; ++c) {
    b.moved[c] = static_cast<float>(centre + wider * (b.eta[c] - here.mean));
  }
}

void RowTranslation::apply(const RowColumns& row, const float* residuals) noexcept {
  parts_.ahead.fetch_some();
  const StepBlock& b = parts_.gathered.block();
  chain_kernels().translate(b.theta, b.step, b.moved, b.value,
                            parts_.weighs_rows() ? b.none : residuals, row.count, parts_.chains);
  if (!parts_.weighs_rows() && parts_.positions.has_intercept())
    parts_.positions.add_to_intercept(residuals);
}

// dispersion x dU/dtheta of a column, averaged over the chains.
double RowTranslation::mean_force(std::uint32_t column) const noexcept {
  const double pull = parts_.prior.pull(column);
  const float* theta = parts_.positions.theta(column);
  const float* force = parts_.positions.force(column);
  double sum = 0;
  for (std::uint32_t c = 0; c < parts_.chains; ++c) sum += pull * theta[c] + force[c];
  return sum / parts_.chains;
}

}  // namespace windhover
