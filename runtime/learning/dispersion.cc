#include "windhover/runtime/learning/dispersion.h"

#include <algorithm>

#include "windhover/samplers/linear_algebra/linear_algebra.h"
#include "windhover/samplers/registry.h"

namespace windhover {

using Eigen::Index;

Dispersion::Kind Dispersion::kind_of(const ModelConfig& model) noexcept {
  const Response response = find_model(model.name)->response;
  if (has_dispersion(response)) return Kind::kDivides;
  if (!has_shape(response)) return Kind::kNone;
  return response == Response::kZeroInflatedCount ? Kind::kOdds : Kind::kOverdispersion;
}

Dispersion::Dispersion(const ModelConfig& model) noexcept : kind_(kind_of(model)) {}

void Dispersion::reset(const ModelConfig& model) noexcept {
  given_ = model.noise_variance;
  learned_ = is_shape() || (kind_ == Kind::kDivides && given_ == 0);
  // The information is 1/2 for normal noise, less for Student's t (Lange, Little and Taylor 1989,
  // appendix B). For a shape the rows say it.
  const double nu = model.degrees_of_freedom;
  const bool student = find_model(model.name)->response == Response::kStudent;
  information_ = is_shape() ? 0.0 : student ? 0.5 * nu / (nu + 3) : 0.5;
}

void Dispersion::set_target_scale(double scale) noexcept {
  initial_ = kind_ == Kind::kDivides && !learned_ ? given_ / (scale * scale) : 1.0;
  start_over();
}

double Dispersion::update(const AnchorSums& rows, double scale, const double* newton_step,
                          const double* prior, const double* variances,
                          const ShapeCoupling& coupling, double target_variance,
                          Interlude* interlude) noexcept {
  if (rows.rows() == 0) return 0;
  const double before = value_;
  const double found = is_shape() ? update_shape(rows, scale, coupling)
                                  : update_dispersion(rows, scale, newton_step, prior, variances,
                                                      target_variance, interlude);
  if (found > 0 && std::isfinite(found)) value_ = found;
  return std::abs(value_ - before) / before;
}

// Theta and the odds take their steps at once. Where rows hardly tell them apart, odds that go all
// the way go back again with the next step, and so on for ever. An overdispersion is orthogonal to
// theta.
void Dispersion::end_refresh(double previous) noexcept {
  constexpr double kFar = 0.03;
  constexpr double kLeastShare = 1.0 / 64;
  const double change = std::log(value_ / previous);
  step_ = std::max(std::abs(change) / share_, left_);
  // Sums of the same pass call for the same step again.
  if (kind_ != Kind::kOdds || !shortens_ || anchor_ == adapted_at_) return;
  adapted_at_ = anchor_;
  const double along = change * change_;
  const bool went_back = along < -0.5 * change_ * change_ && step_ > kFar;
  change_ = change;
  if (went_back) share_ = std::max(kLeastShare, 0.5 * share_);
  if (along > 0) share_ = std::min(1.0, 1.25 * share_);
}

// Newton's method in the logarithm of the shape on minus the log posterior. Its curvature is that
// of the rows, or the sum of their squared derivatives where that is more: far below the mode the
// first is negative, far above it next to nothing (Berndt, Hall, Hall and Hausman 1974 take the
// second alone). The prior decides where the rows do not, as when they scatter less than Poisson's:
// a half-normal one for sqrt(alpha), of scale 1; for odds a Beta one of 1/2 and 9/2 for the
// probability, which leaves few zeros to be structural. For odds the information is that of the
// profile likelihood, what theta takes of it subtracted, and at least a hundredth of all.
double Dispersion::update_shape(const AnchorSums& rows, double scale,
                                const ShapeCoupling& coupling) noexcept {
  constexpr double kLongest = 1;
  constexpr double kLeast = 1e-9;
  constexpr double kMost = 1e4;
  const CurvatureSums& sums = rows.sums();
  const double shape = rows.dispersion();
  const double structural = shape / (1 + shape);
  const bool odds = kind_ == Kind::kOdds;
  const double slope = scale * sums.shape_gradient;
  const double gradient =
      odds ? slope + coupling.slope + (5 * structural - 0.5) : slope + 0.5 * shape - 0.5;
  const double all = scale * std::max(sums.shape_curvature, sums.squares);
  const double left = odds ? std::max(all - coupling.information, 0.01 * all) : all;
  const double information = left + (odds ? 5 * structural * (1 - structural) : 0.5 * shape);
  information_ = information / (scale * rows.weight());
  const double step = std::clamp(-gradient / information, -kLongest, kLongest);
  anchor_ = shape;
  left_ = (1 - share_) * std::abs(step);
  return std::clamp(shape * std::exp(share_ * step), kLeast, kMost);
}

// The fixed point of E_q[squared residual], q the posterior under this dispersion: RSS(mode) / rows
// + Tr(A_1 P), A_1 the data curvature at dispersion 1. Rows with weights enter by weighted squares
// and the sum of the weights. For Student's t the squares are weighted with the anchor's
// dispersion: one step of the EM algorithm a pass.
double Dispersion::update_dispersion(const AnchorSums& rows, double scale,
                                     const double* newton_step, const double* prior,
                                     const double* variances, double target_variance,
                                     Interlude* interlude) const noexcept {
  const double count = scale * rows.weight();
  const CurvatureSums& sums = rows.sums();
  const auto d = static_cast<Index>(rows.dimension());
  // The RSS at the mode follows from the sums at the anchor: the loss is quadratic, or the step is
  // small.
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
  // Where rows count r by their age, the fit takes D (sum r^2) / (sum r) from the sum of r, not D.
  if (rows.aged()) trace *= scale * rows.rows() / rows.kish();
  // A weak prior of at most one pseudo-row at the targets' own variance keeps few rows from being
  // explained perfectly; it is gone at 2 D + 10 rows.
  const double pseudo_rows = std::max(0.0, 1.0 - count / (2.0 * static_cast<double>(d) + 10.0));
  const double effective = std::clamp(trace, 0.0, std::min(static_cast<double>(d), 0.99 * count));
  const double variance = (scale * std::max(rss, 0.0) + pseudo_rows * target_variance) /
                          (count + pseudo_rows - effective);
  // Targets that the features explain perfectly, a stuck sensor's, would take it to 0.
  return std::max(variance, least_);
}

}  // namespace windhover
