// The precision of the prior, learned in two ways.
//
// Where the columns have many rows each, from where the chains stand (learned_precision.h). What of
// that is a row's own says nothing: of classes, one that shares no column with others is as likely
// whatever the precision is, and its own force and what it takes of the prior's variance cancel.
// Where columns have few rows that is nearly all, and a law that is off by a twentieth is twice off
// in the precision.
//
// There it is learned from rows before they are learned from. The mean of a row's residual over the
// chains has the expectation 0 where predictions are right, whatever it is weighted with that is
// known before. Its weight is what it would change by with log lambda, over its variance; each
// column alone, with v_j = 1 / (lambda_j + p_j + H_j),
//   d E theta_j = -lambda_j v_j E theta_j,  d v_j = -lambda_j v_j^2,
// and both count: the less the columns are known the closer the probability is to that of the
// level, of the intercept and the offset, which the precision is not of. From the chains there are
// only means, which have no noise (row_block_langevin.h): a weight that had chance in common with
// the residual would have an expectation.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "windhover/samplers/row_blocks/chain_kernels.h"
#include "windhover/samplers/row_blocks/row_block_langevin.h"

namespace windhover {

namespace {

// Columns have few where the prior is more than this part of what holds them, on average.
constexpr double kOfThePrior = 0.5;
// A residual counts as so many of its sds at most.
constexpr double kMostSurprise = 4;

}  // namespace

// As of the last retain(). Of rows without weights. What a past says of a column holds it as rows
// do.
bool RowBlockLangevin::columns_have_few_rows() const noexcept {
  return learns_precision_ && !weighs_rows() && survey_.held_by_prior > kOfThePrior * met_columns();
}

// Of what has been loaded and predicted.
void RowBlockLangevin::learn_precision(const RowColumns& row) noexcept {
  constexpr double kWider = std::numbers::pi / 8;  // MacKay 1992
  const StepBlock& b = block_;
  double variance = 0;
  PrecisionEvidence::Slopes variance_lost;
  PrecisionEvidence::Slopes mean_lost;
  chain_kernels().moments(b.theta, row.sparse.count, chains_, b.mean, b.square);
  for (std::size_t k = 0; k < row.count; ++k) {
    const double known = 1 / (double{b.precision[k]} + b.curvature[k]);
    const double of_column = double{b.value[k]} * b.value[k] * known;
    variance += of_column;
    if (k == row.sparse.count) continue;
    const double share = precision_of(b.column[k]) * known;
    const double of_tails = share * precision_.relevance_by_tails(double{b.square[k]});
    const double of_mean = double{b.value[k]} * b.mean[k];
    variance_lost.precision += share * of_column;
    variance_lost.tails += of_tails * of_column;
    mean_lost.precision += share * of_mean;
    mean_lost.tails += of_tails * of_mean;
  }
  const double residual = respond(row, 0, b.after, b.bent).residual;
  double mean = 0;
  for (std::uint32_t c = 0; c < chains_; ++c) mean += b.eta[c] / chains_;
  const double level =
      row.offset +
      (positions_.has_intercept() ? positions_.mean(positions_.theta(positions_.intercept())) : 0);
  const double square = 1 + kWider * variance;
  const double one = 1 / (1 + std::exp(-mean / std::sqrt(square)));
  // Over the residual: one (1 - one) times this is what that changes by, and it is its variance.
  const auto slope = [&](double of_variance, double of_mean) {
    const double change = 0.5 * kWider * of_variance / square * (mean - level) - of_mean;
    return -change / std::sqrt(square);
  };
  const PrecisionEvidence::Slopes slopes = {slope(variance_lost.precision, mean_lost.precision),
                                            slope(variance_lost.tails, mean_lost.tails)};
  const double spread = one * (1 - one);
  const double most = kMostSurprise * std::sqrt(spread);
  evidence_.add({precision_.value(), precision_.tails()}, slopes, std::clamp(residual, -most, most),
                spread);
}

// The precision goes to where rows have it. Where it changes, the chains of a column go to where
// its posterior then is, and as far apart, were the others known.
void RowBlockLangevin::follow_precision() noexcept {
  const double start = start_of_precision(mean_nonzeros());
  const double before = precision_.value();
  precision_.expect(start);
  precision_.follow(evidence_.most_likely(start));
  const double more_of_all = precision_.value() - before;
  if (more_of_all == 0) return;
  for (const std::uint32_t column : positions_.met()) {
    if (positions_.is_intercept(column)) continue;
    const double pull = pull_of(column);
    const double more = more_of_all * double{sums_[column].relevance};
    const double all = pull + sums_[column].curvature;
    const auto nearer = static_cast<float>((all - more) / all);
    // What a past pulls with at 0 is what its rows have said, whatever the prior is.
    if (past_.kept()) past_.of(column).centre *= static_cast<float>((pull - more) / pull);
    float* theta = positions_.theta(column);
    const auto mean = static_cast<float>(positions_.mean(theta));
    const float narrower = std::sqrt(nearer);
    for (std::uint32_t c = 0; c < chains_; ++c) {
      theta[c] = nearer * mean + narrower * (theta[c] - mean);
    }
  }
}

// Of the columns of the row in the block. What a past pulls with stays at its centre.
void RowBlockLangevin::follow_relevance(const RowColumns& row) noexcept {
  const StepBlock& b = block_;
  const bool normal = precision_.tails() == 0;
  if (!normal) chain_kernels().moments(b.theta, row.sparse.count, chains_, b.mean, b.square);
  for (std::size_t k = 0; k < row.sparse.count; ++k) {
    const std::uint32_t column = b.column[k];
    float& relevance = sums_[column].relevance;
    if (normal && relevance == 1) continue;
    const double before = precision_of(column);
    relevance = normal ? 1 : static_cast<float>(precision_.relevance(double{b.square[k]}));
    if (!past_.kept()) continue;
    const double pull = (before - precision_of(column)) * double{past_.of(column).centre};
    for (std::uint32_t c = 0; c < chains_; ++c) positions_.add_force(column, c, pull);
  }
}

// Chains of the columns that the prior holds, as its precision has changed.
void RowBlockLangevin::stretch() noexcept {
  for (const std::uint32_t column : positions_.met()) {
    if (positions_.is_intercept(column)) continue;
    const double curvature = sums_[column].curvature / dispersion_.value();
    const float stretch =
        precision_.stretch(static_cast<float>(curvature) / sums_[column].relevance);
    float* theta = positions_.theta(column);
    for (std::uint32_t c = 0; c < chains_; ++c) theta[c] *= stretch;
  }
}

}  // namespace windhover
