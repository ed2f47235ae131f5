#include "windhover/samplers/estimates/dyadic_batches.h"

#include <algorithm>
#include <bit>

namespace windhover {

DyadicBatches::DyadicBatches(Arena& arena, std::uint32_t chains, std::uint32_t series) noexcept
    : chains_(chains),
      width_(series),
      sums_(arena.allocate<double>(std::size_t{3} * kLevels * series).data()),
      previous_(arena.allocate<double>(std::size_t{kLevels} * chains * series).data()),
      batch_(arena.allocate<double>(series).data()) {}

void DyadicBatches::reset() noexcept {
  std::fill_n(sums_, std::size_t{3} * kLevels * width_, 0.0);
  std::fill_n(previous_, std::size_t{kLevels} * chains_ * width_, 0.0);
  count_ = 0;
}

void DyadicBatches::add(const double* values) noexcept {
  ++count_;
  // A batch of 2^k values ends with every 2^k-th one.
  const std::uint32_t ending =
      std::min(kLevels, static_cast<std::uint32_t>(std::countr_zero(count_)) + 1);
  for (std::uint32_t c = 0; c < chains_; ++c) {
    std::copy_n(values + std::size_t{c} * width_, width_, batch_);
    for (std::uint32_t level = 0; level < ending; ++level) {
      double* sum = sums(level);
      double* squares = sum + width_;
      double* products = squares + width_;
      double* before = previous(level, c);
      for (std::uint32_t j = 0; j < width_; ++j) {
        const double x = batch_[j];
        sum[j] += x;
        squares[j] += x * x;
        products[j] += x * before[j];
        batch_[j] += before[j];
        before[j] = x;
      }
    }
  }
}

DyadicBatches::Autocovariance DyadicBatches::at(std::uint32_t level,
                                                std::uint32_t series) const noexcept {
  const double length = static_cast<double>(std::uint64_t{1} << level);
  const double chains = chains_;
  const double batches = static_cast<double>(this->batches(level)) * chains;
  const double* sum = sums(level) + series;
  const double mean = sum[0] / batches;
  return {(sum[width_] / batches - mean * mean) / length,
          (sum[2 * std::size_t{width_}] / (batches - chains) - mean * mean) / length};
}

double DyadicBatches::mean(std::uint32_t series) const noexcept {
  return sums(0)[series] / (static_cast<double>(count_) * chains_);
}

}  // namespace windhover
