#include "windhover/samplers/row_blocks/new_columns.h"

#include <cmath>

#include "windhover/samplers/row_blocks/normal_source.h"
#include "windhover/samplers/row_blocks/row_block_parts.h"

namespace windhover {

namespace {

// The most steps of Newton's method; it ends when a squared step is below kNear posterior
// variances.
constexpr int kMostNewton = 40;
constexpr double kNear = 1e-4;

}  // namespace

void NewColumns::draw_prior(std::uint32_t column, const RandomPosition& position) noexcept {
  const double sd = 1 / std::sqrt(parts_.prior.of(column));
  NormalSource random(parts_.seed, position, parts_.normals, parts_.chains, parts_.chains);
  const float* normals = random.take(parts_.chains);
  float* theta = parts_.positions.theta(column);
  for (std::uint32_t c = 0; c < parts_.chains; ++c) theta[c] = static_cast<float>(sd * normals[c]);
}

double NewColumns::draw_from(const RowColumns& row) noexcept {
  const auto is_new = [&](std::size_t k) { return parts_.columns.of(row.column(k)).rows == 0; };
  const auto variance_of = [&](std::size_t k) {
    return row.value(k) / parts_.prior.pull(row.column(k));
  };
  double variance = 0;
  for (std::size_t k = 0; k < row.count; ++k) {
    if (is_new(k)) variance += row.value(k) * variance_of(k);
  }
  if (variance == 0) return 0;
  for (std::uint32_t c = 0; c < parts_.chains; ++c) {
    double drawn = 0;
    double others = row.offset;
    for (std::size_t k = 0; k < row.count; ++k) {
      (is_new(k) ? drawn : others) += row.value(k) * parts_.positions.theta(row.column(k))[c];
    }
    const double moved = new_part(row, others, drawn, variance) - drawn;
    for (std::size_t k = 0; k < row.count; ++k) {
      if (!is_new(k)) continue;
      parts_.positions.theta(row.column(k))[c] +=
          static_cast<float>(variance_of(k) / variance * moved);
    }
  }
  return variance;
}

// `drawn` is the new columns' part of the linear predictor, a draw from the prior, of this variance
// over the dispersion; the other parts sum to `others`. Returns the part in the row's posterior
// that corresponds to it: on the same side of the mode, where -log of the density is as far above
// its least as it is for `drawn` under the prior (the signed root of the likelihood ratio, which is
// normal to first order: Barndorff-Nielsen 1986).
double NewColumns::new_part(const RowColumns& row, double others, double drawn,
                            double variance) const noexcept {
  const double y = row.target;
  const auto at = [&](double part) { return parts_.noise.likelihood().at(others + part, y); };
  const auto height = [&](double part) {
    return 0.5 * part * part / variance +
           row.weight * parts_.noise.likelihood().loss(others + part, y);
  };
  double mode = 0;
  for (int step = 0; step < kMostNewton; ++step) {
    const RowAt here = at(mode);
    const double curvature = 1 / variance + row.weight * here.curvature;
    const double change = (mode / variance + row.weight * here.residual) / curvature;
    mode -= change;
    if (change * change * curvature < kNear * parts_.noise.dispersion().value()) break;
  }
  // The prior alone is nowhere higher, so Newton's steps that begin there stay outside the point.
  const double wanted = height(mode) + 0.5 * drawn * drawn / variance;
  double part = mode + drawn;
  for (int step = 0; step < kMostNewton; ++step) {
    const double above = height(part) - wanted;
    const double slope = part / variance + row.weight * at(part).residual;
    if (!(above > kNear * parts_.noise.dispersion().value()) || !(slope * drawn > 0)) break;
    part -= above / slope;
  }
  return part;
}

}  // namespace windhover
