#include "windhover/samplers/estimates/diagnostics.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace windhover {

namespace {

constexpr std::uint32_t kAtATime = 16;  // parameters: two cache lines of a batch

}  // namespace

ChainDiagnostics::ChainDiagnostics(Arena& arena, std::uint32_t chains,
                                   std::uint32_t dimension) noexcept
    : chains_(chains),
      dimension_(dimension),
      series_(arena, chains, 3 * dimension),
      values_(arena.allocate<double>(std::size_t{3} * chains * dimension).data()) {
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
  series_.reset();
  count_ = 0;
  batch_length_ = 1;
  full_ = 0;
  filling_ = 0;
}

void ChainDiagnostics::visit_state(StateVisitor& visitor) noexcept {
  const std::size_t cells = static_cast<std::size_t>(chains_) * dimension_;
  visitor.values(count_, batch_length_, full_, filling_);
  visitor.visit(batches_, cells * kBatches);
  visitor.visit(squares_, cells);
  visitor.visit(pending_, cells);
  visitor.visit(origin_, dimension_);
  series_.visit_state(visitor);
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
      double* series = values_ + 3 * (static_cast<std::size_t>(c) * dimension_ + j);
      series[0] = values[j];
      // Indicators less 5 %, so that the mean is about 0.
      series[1] = (values[j] < -kTail ? 1.0 : 0.0) - 0.05;
      series[2] = (values[j] > kTail ? 1.0 : 0.0) - 0.05;
    }
  }
  series_.add(values_);
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

double ChainDiagnostics::effective(std::uint32_t series) const noexcept {
  constexpr std::uint64_t kLeastBatches = 8;  // a chain
  const double total = static_cast<double>(count_) * chains_;
  const double variance = series_.at(0, series).own;
  if (!(variance > 1e-9)) return 0;  // a tail without a visit, but for rounding
  for (std::uint32_t level = 0;; ++level) {
    const auto sums = series_.at(level, series);
    // The mean over the batches is itself estimated, which costs 3 of them.
    const double batches = static_cast<double>(series_.batches(level)) * chains_;
    const double long_run = std::max(sums.long_run(), 0.5 * sums.own) / (1 - 3 / batches);
    const double time = long_run / variance;
    const bool wide = static_cast<double>(std::uint64_t{1} << level) >= 2 * time;
    const bool last =
        level + 1 == DyadicBatches::kLevels || series_.batches(level + 1) < kLeastBatches;
    if (wide || last) return std::min(total / time, total);
  }
}

// Takes a few parameters at a time, which lie side by side in every batch.
void ChainDiagnostics::split_r_hat(std::uint32_t first, std::uint32_t parameters,
                                   double* r_hat) const noexcept {
  using Sums = std::array<double, kAtATime>;
  const std::uint32_t used = full_ / 2 * 2;  // two equal halves
  const double half_length = static_cast<double>(batch_length_) * used / 2;
  const double k = chains_;
  const auto add = [&](std::uint32_t c, std::uint32_t b, Sums& sums) {
    const double* values = &batch(c, b, first);
    for (std::uint32_t j = 0; j < parameters; ++j) sums[j] += values[j];
  };
  Sums grand{};
  for (std::uint32_t c = 0; c < chains_; ++c) {
    for (std::uint32_t b = 0; b < used; ++b) add(c, b, grand);
  }
  for (double& sum : grand) sum /= 2 * k * half_length;
  Sums between{};  // of half-chain means
  Sums within{};   // sum of squares about half-chain means
  for (std::uint32_t c = 0; c < chains_; ++c) {
    std::array<Sums, 2> halves{};
    for (std::uint32_t b = 0; b < used; ++b) add(c, b, halves[b < used / 2 ? 0 : 1]);
    for (std::uint32_t j = 0; j < parameters; ++j) {
      within[j] += squares_[static_cast<std::size_t>(c) * dimension_ + first + j];
      for (const Sums& half : halves) {
        const double mean = half[j] / half_length;
        within[j] -= half_length * mean * mean;
        between[j] += (mean - grand[j]) * (mean - grand[j]);
      }
    }
  }
  for (std::uint32_t j = 0; j < parameters; ++j) {
    const double variance_between = between[j] / (2 * k - 1);
    const double variance_within = within[j] / (2 * k * (half_length - 1));
    const double variance = variance_within * (half_length - 1) / half_length + variance_between;
    r_hat[j] = variance_within > 0 ? std::sqrt(variance / variance_within) : 0.0;
  }
}

void ChainDiagnostics::summarize(const Summary& summary) const noexcept {
  const bool enough = count_ >= kLeastIterates;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    const double bulk = enough ? effective(3 * j) : 0.0;
    summary.ess_bulk[j] = bulk;
    summary.ess_tail[j] = enough ? std::min(effective(3 * j + 1), effective(3 * j + 2)) : 0.0;
    summary.mcse_mean[j] = bulk > 0 ? std::sqrt(series_.at(0, 3 * j).own / bulk) : 0.0;
  }
  if (!enough) std::fill_n(summary.r_hat, dimension_, 0.0);
  for (std::uint32_t j = 0; enough && j < dimension_; j += kAtATime) {
    split_r_hat(j, std::min(kAtATime, dimension_ - j), summary.r_hat + j);
  }
}

}  // namespace windhover
