#include "windhover/samplers/row_blocks/prior_learner.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "windhover/samplers/row_blocks/chain_kernels.h"
#include "windhover/samplers/row_blocks/row_block_parts.h"

namespace windhover {

namespace {

// Columns have few rows where the prior's share of what holds them exceeds this on average.
constexpr double kOfThePrior = 0.5;
// A residual counts for at most this many of its sds.
constexpr double kMostSurprise = 4;
// Chains that spread this much more than their law, or lag this many posterior variances behind it,
// do not tell what the precision is.
constexpr double kContracted = 1.1;
constexpr double kCaughtUp = 0.1;

}  // namespace

bool PriorLearner::columns_have_few_rows(const ChainSurvey& survey) const noexcept {
  const auto columns = static_cast<double>(parts_.positions.met().size());
  return parts_.prior.is_learned() && !parts_.weighs_rows() &&
         survey.held_by_prior > kOfThePrior * columns;
}

void PriorLearner::learn(const RowColumns& row) noexcept {
  constexpr double kWider = std::numbers::pi / 8;  // MacKay 1992
  const StepBlock& b = parts_.gathered.block();
  double variance = 0;
  PrecisionEvidence::Slopes variance_lost;
  PrecisionEvidence::Slopes mean_lost;
  chain_kernels().moments(b.theta, row.sparse.count, parts_.chains, b.mean, b.square);
  for (std::size_t k = 0; k < row.count; ++k) {
    const double known = 1 / (double{b.precision[k]} + b.curvature[k]);
    const double of_column = double{b.value[k]} * b.value[k] * known;
    variance += of_column;
    if (k == row.sparse.count) continue;
    const double share = parts_.prior.of(b.column[k]) * known;
    const double of_tails =
        share * parts_.prior.precision().relevance_by_tails(double{b.square[k]});
    const double of_mean = double{b.value[k]} * b.mean[k];
    variance_lost.precision += share * of_column;
    variance_lost.tails += of_tails * of_column;
    mean_lost.precision += share * of_mean;
    mean_lost.tails += of_tails * of_mean;
  }
  const double residual = parts_.gathered.respond(row, 0, b.after, b.bent).residual;
  double mean = 0;
  for (std::uint32_t c = 0; c < parts_.chains; ++c) mean += b.eta[c] / parts_.chains;
  const double level =
      row.offset +
      (parts_.positions.has_intercept()
           ? parts_.positions.mean(parts_.positions.theta(parts_.positions.intercept()))
           : 0);
  const double square = 1 + kWider * variance;
  const double one = 1 / (1 + std::exp(-mean / std::sqrt(square)));
  // The derivative of log p over the residual: the residual changes by this times its variance,
  // which is one (1 - one).
  const auto slope = [&](double of_variance, double of_mean) {
    const double change = 0.5 * kWider * of_variance / square * (mean - level) - of_mean;
    return -change / std::sqrt(square);
  };
  const PrecisionEvidence::Slopes slopes = {slope(variance_lost.precision, mean_lost.precision),
                                            slope(variance_lost.tails, mean_lost.tails)};
  const double spread = one * (1 - one);
  const double most = kMostSurprise * std::sqrt(spread);
  evidence_.add({parts_.prior.precision().value(), parts_.prior.precision().tails()}, slopes,
                std::clamp(residual, -most, most), spread);
}

// Moves the precision to where rows find it most likely. A column's chains then get the centre and
// spread that its posterior has, were the other columns known. Returns whether it has changed.
bool PriorLearner::follow() noexcept {
  const double start = parts_.prior.start(parts_.rows.mean_nonzeros());
  const double before = parts_.prior.precision().value();
  parts_.prior.precision().expect(start);
  parts_.prior.precision().follow(evidence_.most_likely(start));
  const double more_of_all = parts_.prior.precision().value() - before;
  if (more_of_all == 0) return false;
  for (const std::uint32_t column : parts_.positions.met()) {
    if (parts_.positions.is_intercept(column)) continue;
    const double pull = parts_.prior.pull(column);
    const double more = more_of_all * double{parts_.columns.of(column).relevance};
    const double all = pull + parts_.columns.of(column).curvature;
    const auto nearer = static_cast<float>((all - more) / all);
    // What the past's rows say stays: the pull at theta = 0, precision x centre.
    if (parts_.prior.past().kept())
      parts_.prior.past().of(column).centre *= static_cast<float>((pull - more) / pull);
    float* theta = parts_.positions.theta(column);
    const auto mean = static_cast<float>(parts_.positions.mean(theta));
    const float narrower = std::sqrt(nearer);
    for (std::uint32_t c = 0; c < parts_.chains; ++c) {
      theta[c] = nearer * mean + narrower * (theta[c] - mean);
    }
  }
  return true;
}

void PriorLearner::follow_relevance(const RowColumns& row) noexcept {
  const StepBlock& b = parts_.gathered.block();
  const LearnedPrecision& precision = parts_.prior.precision();
  const bool normal = precision.tails() == 0;
  if (!normal) chain_kernels().moments(b.theta, row.sparse.count, parts_.chains, b.mean, b.square);
  for (std::size_t k = 0; k < row.sparse.count; ++k) {
    const std::uint32_t column = b.column[k];
    if (normal && parts_.columns.of(column).relevance == 1) continue;
    const double before = parts_.prior.of(column);
    const double tailed = normal ? 1 : precision.relevance(double{b.square[k]});
    parts_.columns.set_relevance(column, static_cast<float>(tailed));
    if (!parts_.prior.past().kept()) continue;
    const double pull =
        (before - parts_.prior.of(column)) * double{parts_.prior.past().of(column).centre};
    for (std::uint32_t c = 0; c < parts_.chains; ++c) parts_.positions.add_force(column, c, pull);
  }
}

void PriorLearner::stretch() noexcept {
  LearnedPrecision& precision = parts_.prior.precision();
  if (!precision.changed() || parts_.prior.past().worth() != 0) return;
  for (const std::uint32_t column : parts_.positions.met()) {
    if (parts_.positions.is_intercept(column)) continue;
    const double curvature =
        parts_.columns.of(column).curvature / parts_.noise.dispersion().value();
    const float stretch =
        precision.stretch(static_cast<float>(curvature) / parts_.columns.of(column).relevance);
    float* theta = parts_.positions.theta(column);
    for (std::uint32_t c = 0; c < parts_.chains; ++c) theta[c] *= stretch;
  }
}

bool PriorLearner::end(const ChainSurvey& survey) noexcept {
  if (!parts_.prior.is_learned()) return false;
  if (columns_have_few_rows(survey)) return follow();
  if (parts_.prior.past().worth() == 0) {
    LearnedPrecision& precision = parts_.prior.precision();
    precision.expect(parts_.prior.start(parts_.rows.mean_nonzeros()));
    const bool trusted = parts_.recent.spread_ratio() < kContracted && survey.lag < kCaughtUp;
    precision.end(trusted, parts_.rows.count, parts_.chains);
  }
  return false;
}

}  // namespace windhover
