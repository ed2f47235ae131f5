#include "windhover/samplers/diagnostics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace windhover {

ChainDiagnostics::ChainDiagnostics(Arena& arena, std::uint32_t chains,
                                   std::uint32_t dimension) noexcept
    : chains_(chains), dimension_(dimension) {
  const std::size_t cells = static_cast<std::size_t>(chains) * dimension;
  batches_ = arena.allocate<double>(cells * kBatches).data();
  squares_ = arena.allocate<double>(cells).data();
  pending_ = arena.allocate<double>(cells).data();
  origin_ = arena.allocate<double>(dimension).data();
}

void ChainDiagnostics::reset() noexcept {
  const std::size_t cells = static_cast<std::size_t>(chains_) * dimension_;
  std::fill_n(batches_, cells * kBatches, 0.0);
  std::fill_n(squares_, cells, 0.0);
  std::fill_n(pending_, cells, 0.0);
  std::fill_n(origin_, dimension_, 0.0);
  count_ = 0;
  batch_length_ = 1;
  full_ = 0;
  filling_ = 0;
}

void ChainDiagnostics::add(const double* theta) noexcept {
  if (count_ == 0) std::copy_n(theta, dimension_, origin_);
  if (full_ == kBatches) merge();
  for (std::uint32_t c = 0; c < chains_; ++c) {
    double* sums = &batch(c, full_, 0);
    double* squares = pending_ + static_cast<std::size_t>(c) * dimension_;
    const double* values = theta + static_cast<std::size_t>(c) * dimension_;
    for (std::uint32_t j = 0; j < dimension_; ++j) {
      const double x = values[j] - origin_[j];
      sums[j] += x;
      squares[j] += x * x;
    }
  }
  ++count_;
  if (++filling_ < batch_length_) return;
  filling_ = 0;
  if (++full_ % 2 != 0) return;
  const std::size_t cells = static_cast<std::size_t>(chains_) * dimension_;
  for (std::size_t i = 0; i < cells; ++i) squares_[i] += pending_[i];
  std::fill_n(pending_, cells, 0.0);
}

void ChainDiagnostics::merge() noexcept {
  for (std::uint32_t c = 0; c < chains_; ++c) {
    for (std::uint32_t b = 0; b < kBatches / 2; ++b) {
      for (std::uint32_t j = 0; j < dimension_; ++j) {
        batch(c, b, j) = batch(c, 2 * b, j) + batch(c, 2 * b + 1, j);
      }
    }
    std::fill_n(&batch(c, kBatches / 2, 0), kBatches / 2 * dimension_, 0.0);
  }
  full_ = kBatches / 2;
  batch_length_ *= 2;
}

ChainDiagnostics::Extremes ChainDiagnostics::summarize(double* ess_bulk,
                                                       double* r_hat) const noexcept {
  Extremes extremes;
  std::fill_n(ess_bulk, dimension_, 0.0);
  std::fill_n(r_hat, dimension_, 0.0);
  const std::uint32_t used = full_ / 2 * 2;  // two equal halves
  if (used < kBatches / 2) return extremes;
  extremes.ess_min = std::numeric_limits<double>::infinity();
  const double length = static_cast<double>(batch_length_);
  const double half_length = length * used / 2;
  const double k = chains_;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    double grand = 0;
    for (std::uint32_t c = 0; c < chains_; ++c) {
      for (std::uint32_t b = 0; b < used; ++b) grand += batch(c, b, j);
    }
    grand /= k * length * used;
    double batch_variance = 0;  // of batch means about the grand mean
    double between = 0;         // of half-chain means
    double within = 0;          // sum of squares about half-chain means
    for (std::uint32_t c = 0; c < chains_; ++c) {
      double half_sum[2] = {0, 0};
      for (std::uint32_t b = 0; b < used; ++b) {
        const double sum = batch(c, b, j);
        half_sum[b < used / 2 ? 0 : 1] += sum;
        batch_variance += (sum / length - grand) * (sum / length - grand);
      }
      within += squares_[static_cast<std::size_t>(c) * dimension_ + j];
      for (const double sum : half_sum) {
        const double mean = sum / half_length;
        within -= half_length * mean * mean;
        between += (mean - grand) * (mean - grand);
      }
    }
    batch_variance /= k * used - 1;
    between /= 2 * k - 1;
    within /= 2 * k * (half_length - 1);
    const double variance = within * (half_length - 1) / half_length + between;
    if (batch_variance > 0) {
      ess_bulk[j] = std::min(k * used * variance / batch_variance, k * length * used);
    }
    if (within > 0) r_hat[j] = std::sqrt(variance / within);
    extremes.ess_min = std::min(extremes.ess_min, ess_bulk[j]);
    extremes.r_hat_max = std::max(extremes.r_hat_max, r_hat[j]);
  }
  return extremes;
}

}  // namespace windhover
