#include "windhover/runtime/scoring/score_average.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace windhover {

void ScoreAverage::move(Number& mean, double value, double weight) noexcept {
  const double before = mean.load(std::memory_order_relaxed);
  mean.store(before + weight * (value - before), std::memory_order_relaxed);
}

void ScoreAverage::add(const RowScore& score) noexcept {
  const auto weight_of = [&](std::atomic<std::uint64_t>& counter) {
    const std::uint64_t rows = counter.load(std::memory_order_relaxed) + 1;
    counter.store(rows, std::memory_order_relaxed);
    return 1 / static_cast<double>(memory_ == 0 ? rows : std::min(rows, memory_));
  };
  const double weight = weight_of(rows_);
  move(log_score_, score.log_score, weight);
  move(reference_, score.reference, weight);
  if (score.pit >= 0) {
    const double weight_with_pit = weight_of(rows_with_pit_);
    for (std::size_t i = 0; i < covered_.size(); ++i) {
      const bool covered = std::abs(score.pit - 0.5) <= 0.5 * kScoredIntervals[i];
      move(covered_[i], covered ? 1 : 0, weight_with_pit);
    }
    const double scaled = score.pit * static_cast<double>(kPitBins);
    const std::size_t bin = std::min(static_cast<std::size_t>(scaled), kPitBins - 1);
    for (std::size_t i = 0; i < kPitBins; ++i) move(pit_[i], i == bin ? 1 : 0, weight_with_pit);
  }
  if (score.conformal_size >= 0) {
    const double weight_with_conformal = weight_of(rows_with_conformal_);
    for (std::size_t i = 0; i < conformal_.size(); ++i) {
      move(conformal_[i], score.conformal[i] ? 1 : 0, weight_with_conformal);
    }
    move(conformal_size_, score.conformal_size, weight_with_conformal);
  }
}

double ScoreAverage::known(const Number& mean, const std::atomic<std::uint64_t>& rows) noexcept {
  return rows.load(std::memory_order_relaxed) > 0 ? mean.load(std::memory_order_relaxed)
                                                  : std::numeric_limits<double>::quiet_NaN();
}

double ScoreAverage::coverage(std::size_t interval) const noexcept {
  return known(covered_[interval], rows_with_pit_);
}

double ScoreAverage::pit(std::size_t bin) const noexcept {
  return known(pit_[bin], rows_with_pit_);
}

double ScoreAverage::conformal_coverage(std::size_t interval) const noexcept {
  return known(conformal_[interval], rows_with_conformal_);
}

ScoreMeans ScoreAverage::means() const noexcept {
  ScoreMeans means;
  means.memory = memory_;
  const std::uint64_t rows = rows_.load(std::memory_order_relaxed);
  means.rows = memory_ == 0 ? rows : std::min(rows, memory_);
  means.log_score = log_score_.load(std::memory_order_relaxed);
  means.reference = reference_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < covered_.size(); ++i) {
    means.coverage[i] = coverage(i);
    means.conformal_coverage[i] = conformal_coverage(i);
  }
  for (std::size_t i = 0; i < kPitBins; ++i) means.pit[i] = pit(i);
  means.conformal_size = known(conformal_size_, rows_with_conformal_);
  return means;
}

}  // namespace windhover
