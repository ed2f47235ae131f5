// Shortcuts that look like a posterior of a stream and are not one; and chains that nothing carries
// along with a window.
#include <numeric>

#include "windhover/platform/random.h"
#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/library.h"
#include "windhover/tools/reproduce/streaming.h"

namespace windhover::reproduce {
namespace {

constexpr Index kDimension = 5;
constexpr Index kShortcutBatch = 20;  // rows of a minibatch
constexpr Index kShortcutChains = kLagChains;
constexpr double kShortcutGain = 2.0 * kShortcutBatch / (kEffective + kShortcutBatch);

MatrixXd normals(std::uint64_t seed, std::uint64_t step, Index columns) {
  MatrixXd z(kDimension, columns);
  fill_normals(seed, {.step = step}, entries_of(z));
  return z;
}

// The truth is 0. `variance` has an entry per coordinate; `should` is the right mean of them.
ordered_json judged(const VectorXd& centre, const VectorXd& variance, double should) {
  const auto covered = centre.array().abs() <= kNinety * variance.array().sqrt();
  return {{"covers", covered.cast<double>().mean()}, {"spread", variance.mean() / should}};
}

ordered_json judged(const MatrixXd& chains, double should) {
  const VectorXd centre = chains.rowwise().mean();
  const auto n = static_cast<double>(chains.cols() - 1);
  return judged(centre, (chains.colwise() - centre).rowwise().squaredNorm() / n, should);
}

// `step`: of the normals that the chains start from.
MatrixXd started(std::uint64_t seed, const VectorXd& centre, std::uint64_t step = 1) {
  return (normals(seed, step, kShortcutChains) / std::sqrt(double{kEffective})).colwise() + centre;
}

// One move of all chains, each by its own minibatch of N rows from `first` on, or all by that of
// the first chain.
void move(MatrixXd& chains, const MatrixXd& rows, Index first, std::uint64_t seed, std::uint64_t t,
          bool shared) {
  std::vector<std::uint32_t> slots(kShortcutBatch);
  VectorXd mean(kDimension);
  for (Index k = 0; k < kShortcutChains; ++k) {
    if (k == 0 || !shared) {
      fill_indices(seed, {t, static_cast<std::uint16_t>(k), Purpose::kMinibatch}, kEffective,
                   slots);
      mean.setZero();
      for (const std::uint32_t slot : slots) mean += rows.col(first + slot) / kShortcutBatch;
    }
    chains.col(k) += kShortcutGain * (mean - chains.col(k));
  }
}

// Chains on a window of N rows that all see the same minibatch, or each its own.
ordered_json replayed(std::uint64_t seed, bool shared) {
  const MatrixXd rows = normals(seed, 2, kEffective);
  MatrixXd chains = started(seed, rows.rowwise().mean());
  for (std::uint64_t t = 0; t < 4 * kEffective / kShortcutBatch; ++t) {
    move(chains, rows, 0, seed, t, shared);
  }
  return judged(chains, 1.0 / kEffective);
}

// All chains take the same fresh rows and no noise of their own.
ordered_json fresh(std::uint64_t seed) {
  const MatrixXd means = normals(seed, 3, 400) / std::sqrt(double{kShortcutBatch});
  MatrixXd chains = started(seed, VectorXd::Zero(kDimension));
  for (Index t = 0; t < means.cols(); ++t) {
    chains += kShortcutGain * (means.col(t).replicate(1, kShortcutChains) - chains);
  }
  return judged(chains, 1.0 / kEffective);
}

// One chain over a window in epochs, shuffled anew each time. Its iterates are taken for draws.
ordered_json shuffled(std::uint64_t seed) {
  const MatrixXd rows = normals(seed, 4, kEffective);
  const VectorXd centre = rows.rowwise().mean();
  std::vector<Index> order(kEffective);
  std::iota(order.begin(), order.end(), Index{0});
  std::vector<double> u(kEffective);
  VectorXd theta = centre;
  VectorXd squares = VectorXd::Zero(kDimension);
  constexpr std::uint64_t kEpochs = 50;
  for (std::uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    fill_uniforms(seed, {.step = epoch, .purpose = Purpose::kSweep}, u);
    for (std::size_t i = order.size() - 1; i > 0; --i) {
      std::swap(order[i], order[static_cast<std::size_t>(u[i] * static_cast<double>(i + 1))]);
    }
    for (std::size_t first = 0; first < order.size(); first += kShortcutBatch) {
      VectorXd mean = VectorXd::Zero(kDimension);
      for (std::size_t i = first; i < first + kShortcutBatch; ++i)
        mean += rows.col(order[i]) / kShortcutBatch;
      theta += kShortcutGain * (mean - theta);
      squares += (theta - centre).cwiseAbs2();
    }
  }
  return judged(centre, squares / (kEpochs * kEffective / kShortcutBatch), 1.0 / kEffective);
}

// 32 past iterates of one chain, spread over 8 N fresh rows.
ordered_json ring(std::uint64_t seed) {
  constexpr Index kMoves = 8 * kEffective / kShortcutBatch;
  const MatrixXd means = normals(seed, 5, 2 * kMoves) / std::sqrt(double{kShortcutBatch});
  VectorXd theta = VectorXd::Zero(kDimension);
  MatrixXd kept(kDimension, kShortcutChains);
  for (Index t = 0; t < means.cols(); ++t) {
    theta += kShortcutGain * (means.col(t) - theta);
    if (t >= kMoves) kept.col((t - kMoves) * kShortcutChains / kMoves) = theta;
  }
  return judged(kept, 1.0 / kEffective);
}

// The constant rate 2 S / n while n grows: the spread about the truth against the right one for n
// rows. The chains' spread is taken as known to be 1 / n.
ordered_json growing(std::uint64_t seed) {
  constexpr Index kMoves = 400;
  const MatrixXd means = normals(seed, 6, kMoves) / std::sqrt(double{kShortcutBatch});
  VectorXd theta = VectorXd::Zero(kDimension);
  for (Index t = 0; t < kMoves; ++t) {
    theta += std::min(1.0, 2.0 / static_cast<double>(t + 1)) * (means.col(t) - theta);
  }
  const double should = 1.0 / static_cast<double>(kMoves * kShortcutBatch);
  ordered_json result = judged(theta, VectorXd::Constant(kDimension, should), should);
  result["spread"] = theta.squaredNorm() / kDimension / should;
  return result;
}

// H and the injected noise of SGFS-f with A = C = I, and its stationary variances when chains share
// fresh minibatches: of the chains about their average, and of that average about the truth.
struct SharedScoring {
  explicit SharedScoring(double alpha) {
    const double noisier = (1 + alpha * alpha) * (kShortcutBatch + kEffective) / kShortcutBatch;
    step = 2 / noisier;
    const double injected =
        alpha * alpha * (kShortcutBatch + kEffective) / kShortcutBatch / kEffective;
    spread = step * injected / (2 - step);
    centre = step / kShortcutBatch / (2 - step);
  }
  double step = 0;
  double spread = 0;
  double centre = 0;
};

// The library's sampler by name in a setting that the engine refuses: one fresh minibatch for all
// chains.
ordered_json scored(std::uint64_t seed, double alpha) {
  const SharedScoring law(alpha);
  const auto moves = static_cast<Index>(2 / law.step);
  const MatrixXd means = normals(seed, 7, moves) / std::sqrt(double{kShortcutBatch});
  MatrixXd chains = normals(seed, 1, kShortcutChains) * std::sqrt(law.spread);
  chains.colwise() += normals(seed, 8, 1).col(0) * std::sqrt(law.centre);

  Told told = Told::noiseless(MatrixXd::Identity(kDimension, kDimension));
  told.n = kEffective;
  told.minibatch_size = kShortcutBatch;
  told.noise = told.curvature;
  const SamplerConfig config{
      .name = "sgfs-f", .minibatch_size = kShortcutBatch, .noise_scale = alpha};
  const OwnedSampler sampler(config, told);
  Index now = 0;
  DensityModel model(kDimension, kEffective, [&](const double* theta, double* gradient) {
    for (Index j = 0; j < kDimension; ++j) gradient[j] = kEffective * (theta[j] - means(j, now));
  });
  const VectorXd prior = VectorXd::Zero(kDimension);
  GradientSource source(&model, kDimension, prior.data());
  source.set_scale(kEffective, 1.0);
  const std::uint32_t slot = 0;
  source.set_minibatch({nullptr, &slot, 1});
  std::vector<double> work(step_scratch(kDimension));
  for (; now < moves; ++now) {
    for (Index k = 0; k < kShortcutChains; ++k) {
      const auto index = static_cast<std::uint16_t>(k);
      Chain chain{.theta = chains.col(k).data(), .index = index, .work = work.data()};
      Rng rng(seed, {static_cast<std::uint64_t>(now), index, Purpose::kInjectedNoise});
      if (!ok(sampler->step(chain, source, rng))) throw RunError("sgfs-f diverges");
    }
  }
  return judged(chains, 1.0 / kEffective);
}

// The variance of `shuffled` over 1 / N. Minibatches of one epoch have the variance (N - S) / (S (N
// - 1)) and the covariance -1 / (N - 1), so T consecutive ones with weights w have sum(w^2) (N - S)
// / (S (N - 1)) - (sum(w)^2 - sum(w^2)) / (N - 1). This is averaged over the place in an epoch and
// includes the epochs before it.
double shuffled_spread() {
  constexpr double kRows = kEffective;
  constexpr double kRest = 1 - kShortcutGain;
  constexpr Index kEpoch = kEffective / kShortcutBatch;
  const auto own = [](Index moves) {
    double squares = 0;
    double sum = 0;
    for (Index i = 0; i < moves; ++i) {
      const double weight = kShortcutGain * std::pow(kRest, i);
      squares += weight * weight;
      sum += weight;
    }
    return squares * (kRows - kShortcutBatch) / (kShortcutBatch * (kRows - 1)) -
           (sum * sum - squares) / (kRows - 1);
  };
  const double before = own(kEpoch) / (1 - std::pow(kRest, 2 * kEpoch));
  double mean = 0;
  for (Index i = 1; i <= kEpoch; ++i) {
    mean += (own(i) + std::pow(kRest, 2 * i) * before) / kEpoch;
  }
  return kRows * mean;
}

double covered_by_scoring(double alpha) {
  const SharedScoring law(alpha);
  return coverage_of_32_draws(law.spread / law.centre);
}
double spread_of_scoring(double alpha) { return SharedScoring(alpha).spread * kEffective; }

}  // namespace

double lag_when_following(double draws_per_observation) {
  const double tau = 1 / (2 * draws_per_observation);
  return 1.0 / kLagChains + tau * (1 - std::exp(-1 / tau));
}

ordered_json lag_of_followers(std::size_t draws_per_observation, std::uint64_t seed) {
  constexpr Index kWindows = 3;
  const MatrixXd rows = normals(seed, 1, kWindows * kEffective);
  MatrixXd chains = started(seed, rows.leftCols(kEffective).rowwise().mean(), 2);
  const auto pace = static_cast<Index>(draws_per_observation);
  Index first = 0;
  for (Index t = 0; t < (kWindows - 1) * kEffective * pace / kShortcutBatch; ++t) {
    first = (t + 1) * kShortcutBatch / pace;
    move(chains, rows, first, seed, static_cast<std::uint64_t>(t), false);
  }
  const VectorXd off =
      chains.rowwise().mean() - rows.middleCols(first, kEffective).rowwise().mean();
  return {{"chains", kEffective * off.squaredNorm() / kDimension}};
}

double coverage_of_draws(double ratio) { return std::erf(kNinety * std::sqrt(ratio / 2)); }

double coverage_of_32_draws(double ratio) {
  // The average of the draws has an error of its own.
  const double quantile = kNinety / std::sqrt(1 / ratio + 1.0 / kShortcutChains);
  constexpr double kFreedom = kShortcutChains - 1;
  const double scale = std::exp(std::lgamma((kFreedom + 1) / 2) - std::lgamma(kFreedom / 2)) /
                       std::sqrt(kFreedom * M_PI);
  const auto density = [&](double t) {
    return scale * std::pow(1 + t * t / kFreedom, -(kFreedom + 1) / 2);
  };
  // Simpson's rule.
  constexpr int kIntervals = 200;
  const double width = quantile / kIntervals;
  double sum = density(0) + density(quantile);
  for (int i = 1; i < kIntervals; ++i) sum += (i % 2 == 1 ? 4 : 2) * density(i * width);
  return 2 * sum * width / 3;
}

std::span<const Shortcut> shortcuts() {
  static const Shortcut kShortcuts[] = {
      {"none: each chain its own minibatches", "nothing", coverage_of_32_draws(1), 1.0,
       [](std::uint64_t seed) { return replayed(seed, false); }},
      {"minibatches shared by chains", "spread 0, covers never", 0, 0.0,
       [](std::uint64_t seed) { return replayed(seed, true); }},
      {"fresh rows shared, no noise", "spread 0, covers never", 0, 0.0, fresh},
      {"SGFS-f fresh rows shared, alpha = 0.5", "too narrow", covered_by_scoring(0.5),
       spread_of_scoring(0.5), [](std::uint64_t seed) { return scored(seed, 0.5); }},
      {"SGFS-f fresh rows shared, alpha = 1", "covers, by chance, with half the variance",
       covered_by_scoring(1), spread_of_scoring(1),
       [](std::uint64_t seed) { return scored(seed, 1); }},
      {"SGFS-f fresh rows shared, alpha = 2", "too wide", covered_by_scoring(2),
       spread_of_scoring(2), [](std::uint64_t seed) { return scored(seed, 2); }},
      {"shuffled by epochs", "spread 0.4", coverage_of_draws(shuffled_spread()), shuffled_spread(),
       shuffled},
      {"past iterates of one chain", "covers always", 1, {}, ring},
      {"growing n at the rate 2 S / n", "variance 4/3", coverage_of_draws(3.0 / 4), 4.0 / 3,
       growing},
  };
  return kShortcuts;
}

}  // namespace windhover::reproduce
