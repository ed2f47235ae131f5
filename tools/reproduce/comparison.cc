#include "windhover/tools/reproduce/comparison.h"

#include <algorithm>
#include <cmath>

#include "windhover/tools/fit/reference.h"

namespace windhover::reproduce {
namespace {

using Eigen::Index;

using Value = std::function<double(const RunMoments& ours, const RunMoments& truth)>;

double kl_of(const RunMoments& ours, const RunMoments& truth) {
  return gaussian_kl(ours.mean, ours.covariance, truth.mean, truth.covariance);
}

double error_of(const std::vector<RunMoments>& parts,
                const std::function<double(const RunMoments&)>& value) {
  return parts.size() < 2 ? 0.0 : jackknife(parts, value).mcse;
}

// The KL of all parts together from where they will end: a part is that of its own length, less
// what it shares with their pool.
double kl_by_chance(const std::vector<RunMoments>& parts) {
  const RunMoments all = pooled(parts);
  double sum = 0;
  for (const RunMoments& part : parts) sum += kl_of(part, all);
  const auto n = static_cast<double>(parts.size());
  return n < 2 ? 0.0 : sum / n / (n - 1);
}

}  // namespace

Comparison compare(const std::vector<RunMoments>& ours, const std::vector<RunMoments>& truth) {
  const RunMoments all_ours = pooled(ours);
  const RunMoments all_truth = pooled(truth);
  const auto estimate = [&](const Value& value) -> Estimate {
    const double a = error_of(ours, [&](const RunMoments& m) { return value(m, all_truth); });
    const double b = error_of(truth, [&](const RunMoments& m) { return value(all_ours, m); });
    return {value(all_ours, all_truth), std::hypot(a, b)};
  };
  Comparison out;
  for (Index j = 0; j < all_truth.mean.size(); ++j) {
    const Estimate off = estimate([j](const RunMoments& a, const RunMoments& b) {
      return (a.mean[j] - b.mean[j]) / std::sqrt(b.covariance(j, j));
    });
    const Estimate sd = estimate([j](const RunMoments& a, const RunMoments& b) {
      return std::sqrt(a.covariance(j, j) / b.covariance(j, j));
    });
    out.off.push_back(off);
    if (j == 0 || std::abs(off.value) > out.furthest.value) {
      out.furthest = {std::abs(off.value), off.mcse};
    }
    if (j == 0 || sd.value < out.least_sd.value) out.least_sd = sd;
    if (j == 0 || sd.value > out.most_sd.value) out.most_sd = sd;
  }
  out.kl = estimate(kl_of);
  // Half a chi-squared of as many degrees as there are moments, times one over the draws.
  const auto d = static_cast<double>(all_truth.mean.size());
  const double moments = d + d * (d + 1) / 2;
  const double chance = kl_by_chance(ours) + kl_by_chance(truth);
  out.kl_by_chance = {chance, chance * std::sqrt(2 / moments)};
  return out;
}

Estimate paired_difference(const std::vector<double>& ours, const std::vector<double>& theirs) {
  std::vector<double> differences;
  for (std::size_t seed = 0; seed < std::min(ours.size(), theirs.size()); ++seed) {
    differences.push_back(ours[seed] - theirs[seed]);
  }
  return mean_of(differences);
}

}  // namespace windhover::reproduce
