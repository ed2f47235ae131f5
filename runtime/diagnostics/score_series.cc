#include "windhover/runtime/diagnostics/score_series.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "windhover/runtime/prediction/gaussian_mixture.h"
#include "windhover/samplers/kernels/kernels.h"

namespace windhover {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t kPairRows = 2;

// The normal number of the same rank as a Student t number with `freedom` degrees (Wallace 1959).
double normal_of_student(double t, double freedom) noexcept {
  return (8 * freedom + 1) / (8 * freedom + 3) * std::sqrt(freedom * std::log1p(t * t / freedom));
}

}  // namespace

ScoreSeries::ScoreSeries(Arena& arena, std::uint32_t dimension) noexcept
    : dimension_(dimension),
      // The rate is shared by all parameters; drift has two sides, dependence two lengths of
      // stretches.
      threshold_(normal_quantile(1 - kFalseAlarmRate / (2.0 * dimension))),
      influence_variance_(arena.allocate<double>(dimension).data()),
      drifts_(arena.allocate<double>(dimension).data()),
      residuals_(arena),
      influences_(arena, 1, dimension),
      scores_(arena.allocate<double>(kBatchRows * dimension).data()) {
  const auto numbers = [&] { return arena.allocate<double>(dimension).data(); };
  pairs_ = {kPairRows, numbers(), numbers(), numbers()};
  batches_ = {kBatchRows, numbers(), numbers(), numbers()};
  for (double** numbers_of :
       {&batch_, &totals_.sum, &totals_.squares, &influence_, &newest_.sum, &newest_.squares}) {
    *numbers_of = numbers();
  }
}

std::array<double*, 10> ScoreSeries::pass_sums() const noexcept {
  return {pairs_.previous,  pairs_.sum,  pairs_.squares,  batches_.previous, batches_.sum,
          batches_.squares, totals_.sum, totals_.squares, newest_.sum,       newest_.squares};
}

void ScoreSeries::reset() noexcept {
  known_ = false;
  watched_ = kNobody;
  rows_since_change_ = 0;
  autocorrelation_ = drift_ = kNone;
  std::fill_n(influence_variance_, dimension_, 0.0);
  std::fill_n(drifts_, dimension_, kNone);
  residuals_.reset();
  begin_pass(0);
}

void ScoreSeries::visit_state(StateVisitor& visitor) noexcept {
  visitor.values(known_, autocorrelation_, drift_, newest_.rows, batch_rows_, newest_.batches);
  visitor.values(watched_, rows_since_change_);
  change_.visit_state(visitor);
  residuals_.visit_state(visitor);
  visitor.visit(influence_variance_, dimension_);
  visitor.visit(drifts_, dimension_);
  influences_.visit_state(visitor);
  for (double* sums : pass_sums()) visitor.visit(sums, dimension_);
  visitor.visit(scores_, batch_rows_ * dimension_);
}

void ScoreSeries::begin_pass(std::uint64_t rows) noexcept {
  newest_.rows = rows / 10;
  batch_rows_ = 0;
  newest_.batches = 0;
  influences_.reset();
  residuals_.begin_pass();
  change_.begin();
  for (double* sums : pass_sums()) std::fill_n(sums, dimension_, 0.0);
}

void ScoreSeries::add(Model& model, const RowBatch& rows, const double* anchor,
                      const double* covariance, double n, double dispersion,
                      std::uint64_t left) noexcept {
  const double noise_sd = std::sqrt(dispersion);
  for (std::size_t i = 0; i < rows.count;) {
    const std::size_t part = std::min<std::size_t>(kBatchRows - batch_rows_, rows.count - i);
    model.row_gradients(rows.part(i, part), dimension_, anchor, scores_ + batch_rows_ * dimension_);
    i += part;
    for (const std::uint64_t end = batch_rows_ + part; batch_rows_ < end; ++batch_rows_) {
      residuals_.add(scores_[(batch_rows_ + 1) * dimension_ - 1] / noise_sd);
    }
    if (batch_rows_ < kBatchRows) break;
    batch_rows_ = 0;
    add_batch();
    add_influence(covariance, n / dispersion, left + rows.count - i);
  }
}

void ScoreSeries::Products::add(std::uint32_t j, double score, double score_squares) noexcept {
  const double product = score * (score + 2 * previous[j]) - score_squares;
  sum[j] += product;
  squares[j] += product * product;
  previous[j] = score;
}

void ScoreSeries::add_batch() noexcept {
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    double batch = 0;
    double squares = 0;
    for (std::size_t i = 0; i < kBatchRows; i += kPairRows) {
      const double one = scores_[i * dimension_ + j];
      const double other = scores_[(i + 1) * dimension_ + j];
      const double pair_squares = one * one + other * other;
      pairs_.add(j, one + other, pair_squares);
      batch += one + other;
      squares += pair_squares;
    }
    batches_.add(j, batch, squares);
    batch_[j] = batch;
    totals_.add(j, batch, squares);
  }
}

// influence = A^-1 sum of scores / dispersion = scale x covariance x sum of scores.
void ScoreSeries::add_influence(const double* covariance, double scale,
                                std::uint64_t left) noexcept {
  std::fill_n(influence_, dimension_, 0.0);
  kernels().symmetric_product(covariance, dimension_, scale, batch_, influence_);
  influences_.add(influence_);
  if (watched_ != kNobody) change_.add(influence_[watched_]);
  if (left + kBatchRows <= newest_.rows) {
    newest_.batches += 1;
    for (std::uint32_t j = 0; j < dimension_; ++j) {
      newest_.add(j, influence_[j], influence_[j] * influence_[j]);
    }
  }
}

void ScoreSeries::end_pass() noexcept {
  residuals_.conclude();
  if (influences_.count() < kLeastBatches || newest_.batches < 2) {
    watched_ = kNobody;
    rows_since_change_ = 0;
    return;
  }
  known_ = true;
  conclude_dependence();
  conclude_drift();
  conclude_change();
}

void ScoreSeries::conclude_dependence() noexcept {
  const double rows = static_cast<double>(influences_.count() * kBatchRows);
  autocorrelation_ = 1;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    const double mean = totals_.sum[j] / rows;
    const double own = totals_.squares[j] - rows * mean * mean;
    for (const Products& products : {pairs_, batches_}) {
      // A prior that pulls leaves a mean other than 0, which is no dependence.
      const double sum = products.sum[j] - rows * mean * mean * (3 * products.rows - 1);
      const double certain = sum - threshold_ * std::sqrt(products.squares[j]);
      if (own > 0) autocorrelation_ = std::max(autocorrelation_, 1 + certain / own);
    }
  }
}

// What a difference of mean between the newest rows and the others adds to the variance of batches
// of kBatchRows. It is subtracted, or drift would hide itself.
double ScoreSeries::between_parts(std::uint32_t j) const noexcept {
  const double batches = static_cast<double>(influences_.count());
  const double share = newest_.batches / batches;
  const double off = newest_.sum[j] / newest_.batches - influences_.mean(j);
  return off * off * share / (1 - share);
}

// Finds the shortest batches whose neighbours are all but uncorrelated: for correlations that fall
// off exponentially 1/8 means that 2 % of their sum are left out. Longer ones only make the
// estimate less certain.
std::uint32_t ScoreSeries::level_of(std::uint32_t j) const noexcept {
  std::uint32_t level = 0;
  for (; level + 1 < DyadicBatches::kLevels; ++level) {
    const auto batches = static_cast<double>(influences_.batches(level));
    const double drift = between_parts(j) * static_cast<double>(std::uint64_t{1} << level);
    const auto covariance = influences_.at(level, j);
    // Long batches may lie across the shift, and then `drift` is too much.
    if (!(covariance.own > drift)) break;
    const double correlation = (covariance.lagged - drift) / (covariance.own - drift);
    const bool uncorrelated = !(correlation > 0.125 + 1 / std::sqrt(batches));
    if (uncorrelated || influences_.batches(level + 1) < kLeastBatches) break;
  }
  return level;
}

void ScoreSeries::conclude_drift() noexcept {
  const double batches = static_cast<double>(influences_.count());
  const double others = batches - newest_.batches;
  drift_ = 0;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    const std::uint32_t level = level_of(j);
    const double at_level = static_cast<double>(influences_.batches(level));
    const double drift = between_parts(j) * static_cast<double>(std::uint64_t{1} << level);
    const auto covariance = influences_.at(level, j);
    const double first = std::max(influences_.at(0, j).own - between_parts(j), 0.0);
    const double own = std::max(covariance.own - drift, first);
    // Estimating the two means takes away 6 of at_level. The lagged sum may be negative, so there
    // is a lower bound.
    const double long_run =
        std::max(own + 2 * (covariance.lagged - drift), 0.5 * own) / (1 - 6 / at_level);
    // A variance with so many degrees of freedom makes a Student t number of a normal one, whose
    // variance is larger by freedom / (freedom - 2).
    const double freedom = at_level / 3;
    influence_variance_[j] = long_run / kBatchRows * freedom / (freedom - 2);
    const double newest_mean = newest_.sum[j] / newest_.batches;
    const double others_mean = (influences_.mean(j) * batches - newest_.sum[j]) / others;
    // Where the newest rows vary more, as rows of a rare category do, their variance counts.
    const double newest_variance = newest_.squares[j] / newest_.batches - newest_mean * newest_mean;
    const double more = first > 0 ? std::max(1.0, newest_variance / first) : 1.0;
    const double variance = long_run * (more / newest_.batches + 1 / others);
    drifts_[j] = 0;
    if (!(variance > 0)) continue;
    const double t = (newest_mean - others_mean) / std::sqrt(variance);
    const double size = normal_of_student(t, freedom);
    drift_ = std::max(drift_, size);
    drifts_[j] = std::copysign(size, -t);  // parameters go against the gradient
  }
}

// The rows of the last, unfilled batch came after the change, too.
void ScoreSeries::conclude_change() noexcept {
  rows_since_change_ = 0;
  if (watched_ != kNobody) {
    const ChangePoint::Split split = change_.split();
    if (split.contrast > threshold_)
      rows_since_change_ = (change_.count() - split.before) * kBatchRows + batch_rows_;
  }
  if (drifting()) {
    const auto farthest = std::max_element(drifts_, drifts_ + dimension_, [](double a, double b) {
      return std::abs(a) < std::abs(b);
    });
    watched_ = static_cast<std::uint32_t>(farthest - drifts_);
  } else if (rows_since_change_ == 0) {
    watched_ = kNobody;
  }
}

}  // namespace windhover
