#include "windhover/runtime/learning/prior_precision.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/registry.h"

namespace windhover {

namespace {

// Below this share of a group's parameters, what the rows determine is rounding.
constexpr double kNothing = 1e-9;

std::size_t group_count(const ModelConfig& model) noexcept {
  if (!model.learn_prior_precision) return 0;
  if (model.prior_groups.empty()) return 1;
  return std::size_t{*std::ranges::max_element(model.prior_groups)} + 1;
}

}  // namespace

PriorPrecision::PriorPrecision(Arena& arena, const ModelConfig& model) noexcept
    : values_(arena.allocate<double>(model.dimension()).data()),
      group_(arena.allocate<std::uint32_t>(model.dimension())),
      precision_(arena.allocate<double>(group_count(model))),
      marked_(arena.allocate<double>(group_count(model))),
      sums_(arena.allocate<Sums>(group_count(model))) {}

void PriorPrecision::reset(const ModelConfig& model) noexcept {
  find_model(model.name)->prior_precision(model, values_);
  learned_ = model.learn_prior_precision;
  start_ = model.prior_precision;
  least_ = model.prior_precision_min;
  most_ = model.prior_precision_max;
  for (std::size_t j = 0; j < group_.size(); ++j) {
    const std::size_t column = j % model.columns();
    group_[j] = !learned_ || column == model.features ? kNoGroup
                : model.prior_groups.empty()          ? 0
                                                      : model.prior_groups[column];
  }
  start_over();
}

void PriorPrecision::start_over() noexcept {
  std::ranges::fill(precision_, start_);
  mark();
  spread();
}

void PriorPrecision::mark() noexcept { std::ranges::copy(precision_, marked_.begin()); }

void PriorPrecision::undo() noexcept {
  std::ranges::copy(marked_, precision_.begin());
  spread();
}

void PriorPrecision::spread() noexcept {
  for (std::size_t j = 0; j < group_.size(); ++j) {
    if (group_[j] != kNoGroup) values_[j] = precision_[group_[j]];
  }
}

double PriorPrecision::update(const double* mode, const double* mean, const double* variance,
                              double longest) noexcept {
  std::ranges::fill(sums_, Sums{0, 0, 0});
  for (std::size_t j = 0; j < group_.size(); ++j) {
    if (group_[j] == kNoGroup) continue;
    Sums& sums = sums_[group_[j]];
    sums.count += 1;
    sums.determined += 1 - values_[j] * variance[j];
    const double shift = mean[j] - mode[j];
    const double m = mode[j] + shift / std::sqrt(1 + shift * shift / variance[j]);
    sums.squares += m * m;
  }
  const double factor = std::exp(std::min(longest, 700.0));
  double largest = 0;
  for (std::size_t g = 0; g < sums_.size(); ++g) {
    const Sums& sums = sums_[g];
    if (!(sums.determined > kNothing * sums.count) || !std::isfinite(sums.squares)) continue;
    double next = sums.squares > 0 ? std::min(sums.determined / sums.squares, most_) : most_;
    next = std::clamp(next, marked_[g] / factor, marked_[g] * factor);
    next = std::clamp(next, least_, most_);
    largest = std::max(largest, std::abs(std::log(next / precision_[g])));
    precision_[g] = next;
  }
  spread();
  return largest;
}

double PriorPrecision::moved() const noexcept {
  double largest = 0;
  for (std::size_t g = 0; g < precision_.size(); ++g) {
    largest = std::max(largest, std::abs(std::log(precision_[g] / marked_[g])));
  }
  return largest;
}

}  // namespace windhover
