#include "windhover/runtime/learning/dispersion.h"

#include <algorithm>

#include "windhover/samplers/linear_algebra/linear_algebra.h"
#include "windhover/samplers/registry.h"

namespace windhover {

using Eigen::Index;

Dispersion::Dispersion(const ModelConfig& model) noexcept
    : exists_(has_dispersion(find_model(model.name)->response)) {}

void Dispersion::reset(const ModelConfig& model) noexcept {
  learned_ = exists_ && model.noise_variance == 0;
  given_ = model.noise_variance;
  // 1/2 for normal noise; less for Student's t (Lange, Little and Taylor 1989, appendix B).
  const double nu = model.degrees_of_freedom;
  const bool student = find_model(model.name)->response == Response::kStudent;
  information_ = student ? 0.5 * nu / (nu + 3) : 0.5;
}

void Dispersion::set_target_scale(double scale) noexcept {
  initial_ = exists_ && !learned_ ? given_ / (scale * scale) : 1.0;
  value_ = initial_;
}

// E_q[squared residual] with q the posterior under this dispersion: RSS(mode) / rows + Tr(A_1 P),
// A_1 the data curvature in units of dispersion 1. For Student's t the squares are weighted with
// the anchor's dispersion: one step of the EM algorithm a pass.
double Dispersion::update(const AnchorSums& rows, const double* newton_step, const double* prior,
                          const double* variances, double target_variance,
                          Interlude* interlude) noexcept {
  const double count = rows.rows();
  if (count == 0) return 0;
  const double before = value_;
  const CurvatureSums& sums = rows.sums();
  const auto d = static_cast<Index>(rows.dimension());
  // RSS at the mode from the sums at the anchor: the loss is quadratic, or the step is small.
  double rss = sums.squares;
  double trace = 0;  // of A_1 A^-1 / dispersion = D - sum_j prior_j P_jj
  for (Index j = 0; j < d; ++j) {
    const Index below = d - j - 1;
    const ConstVectorMap column(rows.curvature_below(static_cast<std::uint32_t>(j)), d - j);
    const double product = column[0] * newton_step[j] +
                           2 * column.tail(below).dot(ConstVectorMap(newton_step + j + 1, below));
    rss += newton_step[j] * product - 2 * newton_step[j] * sums.gradient[j];
    trace += 1.0 - prior[j] * variances[j];
    advance(interlude, kSweptNumber * static_cast<double>(d - j));
  }
  // A weak prior of a few pseudo-rows at the targets' own variance keeps few rows from being
  // explained perfectly; it is gone at 2 D + 10 rows.
  const double pseudo_rows = std::max(0.0, 1.0 - count / (2.0 * static_cast<double>(d) + 10.0));
  const double effective = std::clamp(trace, 0.0, std::min(static_cast<double>(d), 0.99 * count));
  const double variance =
      (std::max(rss, 0.0) + pseudo_rows * target_variance) / (count + pseudo_rows - effective);
  // Targets that the features explain perfectly, a stuck sensor's, would take it down to 0, a power
  // at a time.
  const double bounded = std::max(variance, least_);
  if (bounded > 0 && std::isfinite(bounded)) value_ = bounded;
  return std::abs(value_ - before) / before;
}

}  // namespace windhover
