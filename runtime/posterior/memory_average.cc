#include "windhover/runtime/posterior/memory_average.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

MemoryAverage::MemoryAverage(Arena& arena, std::uint32_t dimension, std::uint32_t draws,
                             std::uint32_t most) noexcept
    : dimension_(dimension),
      draws_(draws),
      most_(most),
      shift_(arena.allocate<double>(most > 0 ? dimension : 0).data()),
      directions_(arena.allocate<double>(std::size_t{dimension} * most).data()),
      normals_(arena.allocate<double>(std::size_t{draws} * most).data()) {}

MemoryAverage::Column MemoryAverage::add() noexcept {
  const std::size_t k = rank_++;
  return {directions_ + k * dimension_, normals_ + k * draws_};
}

void MemoryAverage::scale(std::uint32_t parameter, double by) noexcept {
  if (!any()) return;
  shift_[parameter] *= by;
  for (std::size_t k = 0; k < rank_; ++k) directions_[k * dimension_ + parameter] *= by;
}

double MemoryAverage::along(const double* x, std::uint32_t k) const noexcept {
  return ConstVectorMap(x, dimension_).dot(ConstVectorMap(direction(k), dimension_));
}

double MemoryAverage::mean(const double* x) const noexcept {
  return any() ? ConstVectorMap(x, dimension_).dot(ConstVectorMap(shift_, dimension_)) : 0.0;
}

void MemoryAverage::along_all(const double* x, double* out) const noexcept {
  for (std::uint32_t k = 0; k < most_; ++k) out[k] = k < rank_ ? along(x, k) : 0;
}

double MemoryAverage::variance(const double* x) const noexcept {
  double sum = 0;
  for (std::uint32_t k = 0; k < rank_; ++k) {
    const double of_one = along(x, k);
    sum += of_one * of_one;
  }
  return sum;
}

void MemoryAverage::add_covariance(const double* x, std::uint32_t columns, std::uint32_t outputs,
                                   double* matrix) const noexcept {
  const ConstVectorMap row(x, columns);
  MatrixMap covariance(matrix, outputs, outputs);
  for (std::uint32_t k = 0; k < rank_; ++k) {
    const ConstMatrixMap of_outputs(direction(k), columns, outputs);
    for (std::uint32_t b = 0; b < outputs; ++b) {
      const double of_b = row.dot(of_outputs.col(b));
      for (std::uint32_t a = b; a < outputs; ++a) {
        covariance(a, b) += row.dot(of_outputs.col(a)) * of_b;
      }
    }
  }
}

void MemoryAverage::add_draws(const double* x, double* values) const noexcept {
  VectorMap sums(values, draws_);
  if (own_ != 1) sums *= std::sqrt(own_);
  for (std::uint32_t k = 0; k < rank_; ++k) {
    sums.noalias() += along(x, k) * ConstVectorMap(normals(k), draws_);
  }
}

void MemoryAverage::copy_from(const MemoryAverage& other) noexcept {
  rank_ = other.rank_;
  own_ = other.own_;
  if (!any()) return;
  std::copy_n(other.shift_, dimension_, shift_);
  std::copy_n(other.directions_, std::size_t{dimension_} * rank_, directions_);
  std::copy_n(other.normals_, std::size_t{draws_} * rank_, normals_);
}

void MemoryAverage::visit_state(StateVisitor& visitor) noexcept {
  visitor.values(rank_, own_);
  if (visitor.restores()) {  // whatever a damaged copy says
    rank_ = std::min(rank_, most_);
    if (!(std::isfinite(own_) && own_ >= 0)) own_ = 1;
  }
  if (!any()) return;
  visitor.visit(shift_, dimension_);
  visitor.visit(directions_, std::size_t{dimension_} * rank_);
  visitor.visit(normals_, std::size_t{draws_} * rank_);
}

}  // namespace windhover
