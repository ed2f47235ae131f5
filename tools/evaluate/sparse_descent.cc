#include "windhover/tools/evaluate/sparse_descent.h"

#include <cmath>

namespace windhover {

SparseDescent::SparseDescent(std::uint32_t columns, Rule rule, Loss loss, double rate)
    : rule_(rule), loss_(loss), rate_(rate), columns_(std::size_t{columns} + 1) {}

double SparseDescent::predictor(const std::uint32_t* indices, const double* values,
                                std::size_t count) const noexcept {
  double eta = columns_.back().weight;
  for (std::size_t k = 0; k < count; ++k) eta += values[k] * columns_[indices[k]].weight;
  return eta;
}

double SparseDescent::step_of(const Column& column) const noexcept {
  if (rule_ == Rule::kPlain) return rate_;
  return column.squares > 0 ? rate_ / std::sqrt(column.squares) : 0;
}

void SparseDescent::learn(const std::uint32_t* indices, const double* values, std::size_t count,
                          double target, double weight) noexcept {
  const double eta = predictor(indices, values, count);
  const bool logistic = loss_ == Loss::kLogistic;
  const double mean = logistic ? 1 / (1 + std::exp(-eta)) : eta;
  const double gradient = weight * (mean - target);
  const auto with_ones = [&](const auto& use) {
    for (std::size_t k = 0; k < count; ++k) use(columns_[indices[k]], values[k]);
    use(columns_.back(), 1.0);
  };
  if (rule_ == Rule::kAdaptive) {
    with_ones([&](Column& column, double x) {
      column.squares += static_cast<float>(gradient * gradient * x * x);
    });
  }
  double own = 0;
  with_ones([&](const Column& column, double x) { own += step_of(column) * x * x; });
  const double curvature = logistic ? mean * (1 - mean) : 1;
  const double length = gradient / (1 + weight * curvature * own);
  with_ones([&](Column& column, double x) {
    column.weight -= static_cast<float>(step_of(column) * length * x);
  });
}

}  // namespace windhover
