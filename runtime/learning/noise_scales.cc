#include "windhover/runtime/learning/noise_scales.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/kernels/kernels.h"

namespace windhover {

namespace {

// Beside 1 in single rows, at first.
constexpr double kTrustInTakes = 0.1;

struct Part {
  double variance;
  double weight;
};

// Merges the two neighbours whose merging changes least. REQUIRES: variances ascend.
void merge_neighbours(Part* parts, std::size_t count) noexcept {
  std::size_t at = 0;
  double least = HUGE_VAL;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const Part& a = parts[i];
    const Part& b = parts[i + 1];
    const double apart = std::log(b.variance / a.variance);
    const double change = a.weight * b.weight / (a.weight + b.weight) * apart * apart;
    if (change < least) {
      least = change;
      at = i;
    }
  }
  const Part& a = parts[at];
  const Part& b = parts[at + 1];
  const double weight = a.weight + b.weight;
  parts[at] = {(a.weight * a.variance + b.weight * b.variance) / weight, weight};
  std::copy(parts + at + 2, parts + count, parts + at + 1);
}

}  // namespace

void NoiseScales::reset(std::size_t count) noexcept {
  far_ = next_far_ = {};
  weights_.fill(0);
  std::fill_n(weights_.begin(), count, 1 / static_cast<double>(count));
  next_ = weights_;
  trust_.reset(kTrustInTakes);
}

NoiseScales::Numbers NoiseScales::mixed(std::span<const double> believed) const noexcept {
  Numbers all = weights_;
  if (believed.empty()) return all;
  const double single = trust_.served({true, true})[0];
  for (std::size_t i = 0; i < believed.size(); ++i) {
    all[i] = single * weights_[i] + (1 - single) * believed[i];
  }
  return all;
}

// Far rows are kept ten times (in variance) beyond what any memory takes for usual: nearer ones are
// for the memories to learn.
double NoiseScales::far_variance(std::span<const double> variances) const noexcept {
  constexpr double kAtLeast = 10;
  const double largest = std::ranges::max(variances);
  return std::max(far_.variance > 0 ? far_.variance : kFarAtFirst * largest, kAtLeast * largest);
}

void NoiseScales::begin_take(std::span<const double> variances,
                             std::span<const double> believed) noexcept {
  count_ = variances.size();
  losses_ = {};
  rows_ = 0;
  believed_ = weights_;
  std::ranges::copy(believed, believed_.begin());
  std::ranges::copy(variances, variances_.begin());
  variances_[count_] = far_variance(variances);
  shares_[count_] = far_.share();
  for (std::size_t i = 0; i < count_; ++i) shares_[i] = (1 - shares_[count_]) * weights_[i];
  next_ = weights_;
  next_far_ = far_;
  if (next_far_.variance == 0) next_far_.variance = variances_[count_];
}

double NoiseScales::loss(std::span<const PredictiveResidual> rows) const noexcept {
  constexpr std::size_t kAtOnce = 8;
  constexpr double kUnderflow = 1e-290;
  std::array<double, kAtOnce> squares;
  std::array<double, kAtOnce> added;
  std::array<double, kAtOnce> density;
  double sum = 0;
  for (std::size_t first = 0; first < rows.size(); first += kAtOnce) {
    const auto some = rows.subspan(first, std::min(kAtOnce, rows.size() - first));
    for (std::size_t i = 0; i < some.size(); ++i) {
      squares[i] = some[i].square();
      added[i] = some[i].variance;
    }
    kernels().normal_mixture(squares.data(), added.data(), some.size(), variances_.data(),
                             shares_.data(), count_ + 1, density.data());
    for (std::size_t i = 0; i < some.size(); ++i) {
      const double loss = density[i] > kUnderflow ? -std::log(density[i]) : far_loss(some[i]);
      sum += some[i].weight * loss;
    }
  }
  return sum;
}

double NoiseScales::far_loss(const PredictiveResidual& row) const noexcept {
  double least = HUGE_VAL;
  for (std::size_t i = 0; i <= count_; ++i) {
    if (!(shares_[i] > 0)) continue;
    const double variance = variances_[i] + row.variance;
    least = std::min(least,
                     0.5 * (std::log(variance) + row.square() / variance) - std::log(shares_[i]));
  }
  return least;
}

void NoiseScales::add(const PredictiveResidual& row) noexcept {
  std::array<double, kMost + 1> precisions;
  double nearest = HUGE_VAL;
  for (std::size_t i = 0; i <= count_; ++i) {
    precisions[i] = 1 / (variances_[i] + row.variance);
    nearest = std::min(nearest, row.square() * precisions[i]);
  }
  // A row too far off to compute with says nothing.
  if (!std::isfinite(nearest)) return;
  // Densities are multiplied by what makes the nearest one's exponent 0.
  const auto density = [&](std::size_t i) {
    return std::sqrt(precisions[i]) * std::exp(0.5 * (nearest - row.square() * precisions[i]));
  };
  const double share = shares_[count_];
  // Every memory's density has the far rows in it, so a far row moves no weights.
  const double far = share * density(count_);
  Numbers said;
  double most = 0;
  double mean = 0;
  std::array<double, 2> before{};  // by what was known before the take
  for (std::size_t i = 0; i < count_; ++i) {
    said[i] = (1 - share) * density(i) + far;
    most = std::max(most, said[i]);
    mean += next_[i] * said[i];
    before[0] += weights_[i] * said[i];
    before[1] += believed_[i] * said[i];
  }
  if (!(mean > 0)) return;
  ++rows_;
  for (std::size_t k = 0; k < 2; ++k) losses_[k] -= row.weight * std::log(before[k]);
  add_to_far(row, std::min(1.0, far / mean));
  double sum = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const double likely = said[i] / most;
    sum += next_[i] *= row.weight == 1 ? likely : std::pow(likely, row.weight);
  }
  for (std::size_t i = 0; i < count_; ++i) {
    next_[i] = (1 - kShare) * next_[i] / sum + kShare / static_cast<double>(count_);
  }
}

void NoiseScales::end_take(double worth) noexcept {
  weights_ = next_;
  far_ = next_far_;
  std::array<double, MemoryWeights::kMost> losses{};
  std::ranges::copy(losses_, losses.begin());
  trust_.add(losses, rows_);
  trust_.end_take(std::array{worth, worth});
}

void NoiseScales::add_to_far(const PredictiveResidual& row, double likely) noexcept {
  constexpr double kRemembered = 5'000;  // rows
  constexpr double kFarRemembered = 100;
  constexpr double kMostFar = 1e4;
  FarRows& far = next_far_;
  far.count += likely * row.weight;
  far.of_rows += row.weight;
  if (far.of_rows > kRemembered) {
    far.count *= kRemembered / far.of_rows;
    far.of_rows = kRemembered;
  }
  const double weight = likely * row.weight;
  if (!(weight > 0)) return;
  const double usual = std::ranges::max(std::span(variances_).first(count_));
  const double square = std::min(row.square(), kMostFar * usual);
  far.variance += (square - far.variance) * (weight / (far.variance_of + weight));
  far.variance_of = std::min(far.variance_of + weight, kFarRemembered);
}

NoiseMixture NoiseScales::mixture(std::span<const double> variances, double of_targets,
                                  std::span<const double> believed) const noexcept {
  constexpr double kRounding = 1e-9;
  std::array<Part, kMost> parts;
  std::size_t count = 0;
  const double share = far_.share();
  const Numbers all = mixed(believed);
  for (std::size_t i = 0; i < variances.size(); ++i) {
    if (all[i] > 0) parts[count++] = {variances[i], (1 - share) * all[i]};
  }
  std::ranges::sort(std::span(parts).first(count), {}, &Part::variance);
  const double far = far_variance(variances);
  const bool perfect = far < kRounding * of_targets;
  const std::size_t most = NoiseMixture::kMost - (perfect ? 2 : 1);
  for (; count > most; --count) merge_neighbours(parts.data(), count);
  NoiseMixture mixture;
  const auto add = [&mixture](const Part& part) {
    mixture.variance[mixture.components] = part.variance;
    mixture.weight[mixture.components++] = part.weight;
  };
  for (std::size_t i = 0; i < count; ++i) add(parts[i]);
  add({far, perfect ? 0.5 * share : share});
  if (perfect) add({of_targets, 0.5 * share});
  return mixture;
}

void NoiseScales::visit_state(StateVisitor& visitor) noexcept {
  visitor.visit(weights_.data(), kMost);
  trust_.visit_state(visitor);
  visitor.values(far_.count, far_.of_rows, far_.variance, far_.variance_of);
  next_ = weights_;
  next_far_ = far_;
}

}  // namespace windhover
