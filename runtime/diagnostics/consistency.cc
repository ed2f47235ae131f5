#include "windhover/runtime/diagnostics/consistency.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "windhover/runtime/prediction/gaussian_mixture.h"

namespace windhover {

using Eigen::Index;

Consistency::Consistency(Arena& arena, std::uint32_t dimension, bool checked,
                         const Follows& follows, double span) noexcept
    : dimension_(dimension), checked_(checked), span_(span) {
  if (!checked_) return;
  if (follows.law && (!dense() || follows.has_state)) {
    law_ = arena.make<LawCheck>(arena, dimension);
  }
  if (follows.draws && !dense()) directions_ = arena.make<SpreadDirections>(arena, dimension);
  const std::size_t square = std::size_t{dimension} * dimension;
  newer_.sum = arena.allocate<double>(size()).data();
  older_.sum = arena.allocate<double>(size()).data();
  deviation_ = arena.allocate<double>(dimension).data();
  if (!dense()) return;
  dense_.covariance = arena.allocate<double>(square).data();
  dense_.preconditioner = arena.allocate<double>(square).data();
  dense_.noise = arena.allocate<double>(square).data();
  dense_.work = arena.allocate<double>(4 * square).data();
}

void Consistency::reset(double now) noexcept {
  for (int part = 0; part < 2; ++part) start_part(now);
}

// Begins a new part; the newer one becomes the older one, which is forgotten.
void Consistency::start_part(double now) noexcept {
  std::swap(newer_, older_);
  if (checked_) std::fill_n(newer_.sum, size(), 0.0);
  newer_.weight = newer_.directed = 0;
  newer_.squares = {};
  newer_.since = now;
  if (directions_ != nullptr) directions_->choose_again();
}

void Consistency::follow(const LawTerms& terms, Interlude* interlude) noexcept {
  if (dense()) interlude = nullptr;  // one piece, soon done
  std::array<const double*, SpreadDirections::kLaw> farthest{};
  if (law_ != nullptr && terms.sampler != nullptr) {
    law_->advance(terms, interlude);
    if (law_->verdict() == LawCheck::Verdict::kOpen) return;
    farthest = law_->directions();
  }
  if (directions_ == nullptr) return;
  directions_->follow(terms.covariance, terms.version, farthest, interlude);
}

bool Consistency::suffices() const noexcept {
  if (!checked_) return true;
  const bool open = law_ != nullptr && law_->verdict() == LawCheck::Verdict::kOpen;
  if (open && !dense()) return false;
  if (directions_ != nullptr && newer_.directed + older_.directed < least()) return false;
  return newer_.weight + older_.weight >= least();
}

void Consistency::add(const double* theta, const double* centre, double n, const Factor& curvature,
                      const double* covariance, double now) noexcept {
  if (!checked_) return;
  const bool over = now - newer_.since >= span_ || n >= kGrowth * newer_.n;
  if ((over && newer_.weight >= least()) || newer_.weight >= kMostPart) start_part(now);
  if (newer_.weight == 0) newer_.n = n;
  const Index d = dimension_;
  for (Index j = 0; j < d; ++j) deviation_[j] = theta[j] - centre[j];
  if (dense()) {
    VectorMap(deviation_, d) *= std::sqrt(n);
    curvature.colour(deviation_);
  } else {
    SpreadDirections::Numbers squares;
    if (directions_ != nullptr && directions_->squares(deviation_, squares)) {
      for (std::size_t i = 0; i < squares.size(); ++i) newer_.squares[i] += squares[i];
      newer_.directed += 1;
    }
    for (Index j = 0; j < d; ++j) deviation_[j] /= std::sqrt(covariance[j * (d + 1)]);
  }
  newer_.weight += 1;
  if (!dense()) {
    for (Index j = 0; j < d; ++j) newer_.sum[j] += deviation_[j] * deviation_[j];
    return;
  }
  MatrixMap sum(newer_.sum, d, d);
  const ConstVectorMap deviation(deviation_, d);
  for (Index j = 0; j < d; ++j) sum.col(j).noalias() += deviation_[j] * deviation;
}

Consistency::Ratio Consistency::variance_ratio(double temperature) const noexcept {
  Ratio ratio{0, 1e300};
  const auto take = [&](double sum, double weight) {
    const double r = sum / weight / temperature;
    ratio.largest = std::max(ratio.largest, r);
    ratio.smallest = std::min(ratio.smallest, r);
  };
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    take(newer_.sum[j] + older_.sum[j], newer_.weight + older_.weight);
  }
  if (directions_ != nullptr) {
    for (std::size_t i = 0; i < SpreadDirections::kCount; ++i) {
      take(newer_.squares[i] + older_.squares[i], newer_.directed + older_.directed);
    }
  }
  return ratio;
}

// Takes the law's ratios from LawCheck instead of the dense solution. Up to kLyapunovDimension the
// draws themselves are compared with the posterior, so that no law is needed for `decided`.
Consistency::Ratio Consistency::with_checked_law(Ratio ratio) const noexcept {
  ratio.law_largest = law_ != nullptr ? law_->largest() : kUnknown;
  ratio.law_smallest = law_ != nullptr ? law_->smallest() : kUnknown;
  ratio.decided = dense() || !std::isnan(ratio.law_largest);
  if (law_ != nullptr && law_->verdict() == LawCheck::Verdict::kNone) return no_law();
  return ratio;
}

// Extreme directions of `ess` draws in D dimensions reach (1 +- sqrt(D / ess))^2. Where single
// variances are compared, each is a chi-square variable over its degrees of freedom, and the
// farthest is within Wilson and Hilferty's quantile. There a law that is not the posterior, and
// need not be, widens the band, as draws are compared with the posterior.
Consistency::Band Consistency::band(const Ratio& ratio, double ess) const noexcept {
  const double draws = std::max(ess, 1.0);
  if (dense()) {
    const double spread = std::sqrt(dimension_ / draws);
    const double wide = (1 + spread) * (1 + spread);
    const double narrow = (1 - std::min(spread, 1.0)) * (1 - std::min(spread, 1.0));
    return {narrow / kTolerance, kTolerance * wide};
  }
  constexpr double kChance = 1e-3;
  const double compared = dimension_ + (directions_ != nullptr ? SpreadDirections::kCount : 0.0);
  const double z = normal_quantile(1 - kChance / (2 * compared));
  const double part = 2 / (9 * draws);
  const auto cubed = [](double x) { return x * x * x; };
  const double wide = cubed(1 - part + z * std::sqrt(part));
  const double narrow = cubed(std::max(0.0, 1 - part - z * std::sqrt(part)));
  const double law_wide = std::isnan(ratio.law_largest) ? 1 : std::max(1.0, ratio.law_largest);
  const double law_narrow = std::isnan(ratio.law_smallest) ? 1 : std::min(1.0, ratio.law_smallest);
  return {narrow * law_narrow / kTolerance, kTolerance * wide * law_wide};
}

Status Consistency::predict(const double* curvature, const double* noise_covariance,
                            double minibatch_size) noexcept {
  const Index d = dimension_;
  MatrixMap noise(dense_.noise, d, d);
  noise += ConstMatrixMap(noise_covariance, d, d) / minibatch_size;
  return stationary_covariance(dense_.preconditioner, curvature, dense_.noise, d, dense_.covariance,
                               dense_.work);
}

Consistency::Ratio Consistency::dense_ratio(const Factor& factor, double n,
                                            double temperature) noexcept {
  const Index d = dimension_;
  // Brings the prediction to the units of the deviations; then W = L^-1 observed L^-T with
  // predicted = L L^T.
  MatrixMap predicted(dense_.covariance, d, d);
  predicted *= n;
  for (int side = 0; side < 2; ++side) {
    for (Index j = 0; j < d; ++j) factor.colour(dense_.covariance + j * d);
    predicted.transposeInPlace();
  }
  symmetrize(dense_.covariance, d);
  Ratio ratio;
  ratio.decided = true;
  extremes(dense_.covariance, ratio.law_smallest, ratio.law_largest);
  ratio.law_smallest /= temperature;
  ratio.law_largest /= temperature;
  if (!ok(cholesky(dense_.covariance, d, dense_.covariance))) return no_law();
  MatrixMap whitened(dense_.work, d, d);
  whitened = (ConstMatrixMap(newer_.sum, d, d) + ConstMatrixMap(older_.sum, d, d)) /
             (newer_.weight + older_.weight);
  for (int side = 0; side < 2; ++side) {
    for (Index j = 0; j < d; ++j) solve_lower(dense_.covariance, d, dense_.work + j * d);
    whitened.transposeInPlace();
  }
  extremes(dense_.work, ratio.smallest, ratio.largest);
  return ratio;
}

// Finds the smallest and the largest eigenvalue, the former by shifting the spectrum. `matrix` may
// be dense_.work, whose second half is used.
void Consistency::extremes(const double* matrix, double& smallest, double& largest) noexcept {
  const Index d = dimension_;
  double* scratch = dense_.work + 2 * d * d;
  largest = largest_eigenvalue(matrix, d, scratch);
  MatrixMap shifted(dense_.work, d, d);
  shifted = -ConstMatrixMap(matrix, d, d);
  shifted.diagonal().array() += largest;
  smallest = largest - largest_eigenvalue(dense_.work, d, scratch);
}

}  // namespace windhover
