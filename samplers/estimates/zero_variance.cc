#include "windhover/samplers/estimates/zero_variance.h"

#include <algorithm>

namespace windhover {

ZeroVariance::ZeroVariance(Arena& arena, std::uint32_t dimension) noexcept
    : dimension_(dimension),
      gradient_(arena.allocate<double>(dimension).data()),
      cross_(arena.allocate<double>(dimension).data()),
      second_(arena.allocate<double>(std::size_t{dimension} * dimension).data()),
      coefficients_(arena.allocate<double>(dimension).data()),
      factor_(arena, dimension) {}

void ZeroVariance::reset() noexcept {
  count_ = phi_ = corrected_ = 0;
  std::fill_n(gradient_, dimension_, 0.0);
  std::fill_n(cross_, dimension_, 0.0);
  std::fill_n(second_, std::size_t{dimension_} * dimension_, 0.0);
  std::fill_n(coefficients_, dimension_, 0.0);
}

// Welford's recursion adds the deviation from the old mean times that from the new one.
void ZeroVariance::add(double phi, const double* gradient) noexcept {
  count_ += 1;
  const double weight = (count_ - 1) / count_;
  const double phi_deviation = phi - phi_;
  for (std::uint32_t j = 0; j < dimension_; ++j) coefficients_[j] = gradient[j] - gradient_[j];
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    const double deviation = weight * coefficients_[j];
    cross_[j] += deviation * phi_deviation;
    double* column = second_ + std::size_t{j} * dimension_;
    for (std::uint32_t i = j; i < dimension_; ++i) column[i] += deviation * coefficients_[i];
  }
  for (std::uint32_t j = 0; j < dimension_; ++j) gradient_[j] += coefficients_[j] / count_;
  phi_ += phi_deviation / count_;
}

Status ZeroVariance::solve() noexcept {
  const Status status = factor_.compute(second_);
  if (!ok(status)) return status;
  for (std::uint32_t j = 0; j < dimension_; ++j) coefficients_[j] = -cross_[j];
  factor_.solve(coefficients_);
  corrected_ = phi_;
  for (std::uint32_t j = 0; j < dimension_; ++j) corrected_ += coefficients_[j] * gradient_[j];
  return Status::kOk;
}

}  // namespace windhover
