#include "windhover/runtime/learning/prior_precision.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/registry.h"

namespace windhover {

namespace {

// Below this share of a group's parameters, what the rows determine is rounding.
constexpr double kNothing = 1e-9;

// So many steps of the iteration are taken at once at most, and no further in log lambda.
constexpr double kMostLeap = 16;
constexpr double kLongestLeap = 1;

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
      summing_(arena.allocate<double>(group_count(model))),
      summed_(arena.allocate<double>(group_count(model))),
      leap_(arena.allocate<double>(group_count(model))),
      sums_(arena.allocate<Sums>(group_count(model))),
      centre_(arena.allocate<double>(model.learn_prior_precision ? model.dimension() : 0).data()) {}

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
  begin_sums();
  end_sums();
  std::ranges::fill(leap_, 1.0);
  way_left_ = way_from_sums_ = 0;
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

void PriorPrecision::begin_sums() noexcept { std::ranges::copy(precision_, summing_.begin()); }

void PriorPrecision::end_sums() noexcept { std::ranges::copy(summing_, summed_.begin()); }

void PriorPrecision::sum(const double* mode, const double* mean, const double* variance,
                         std::size_t stride) noexcept {
  std::ranges::fill(sums_, Sums{});
  for (std::size_t j = 0; j < group_.size(); ++j) {
    if (group_[j] == kNoGroup) continue;
    Sums& sums = sums_[group_[j]];
    sums.count += 1;
    sums.determined += 1 - values_[j] * variance[j * stride];
    const double shift = mean[j] - mode[j];
    const double m = mode[j] + shift / std::sqrt(1 + shift * shift / variance[j * stride]);
    sums.squares += m * m;
    centre_[j] = m;
  }
}

double PriorPrecision::next(std::size_t group) const noexcept {
  const Sums& sums = sums_[group];
  if (!(sums.determined > kNothing * sums.count) || !std::isfinite(sums.squares)) {
    return precision_[group];
  }
  const double next = sums.squares > 0 ? sums.determined / sums.squares : most_;
  return std::clamp(next, least_, most_);
}

double PriorPrecision::update(const double* mode, const double* mean, const double* variance,
                              double longest) noexcept {
  sum(mode, mean, variance, 1);
  const double factor = std::exp(std::min(longest, 700.0));
  double largest = 0;
  for (std::size_t g = 0; g < sums_.size(); ++g) {
    const double step = std::log(next(g) / precision_[g]);
    const double most = std::max(kLongestLeap, std::abs(step));
    double to = precision_[g] * std::exp(std::clamp(leap_[g] * step, -most, most));
    to = std::clamp(to, marked_[g] / factor, marked_[g] * factor);
    to = std::clamp(to, least_, most_);
    largest = std::max(largest, std::abs(std::log(to / precision_[g])));
    precision_[g] = to;
  }
  spread();
  return largest;
}

// An iteration that multiplies what is left by `turn` has 1 / (1 - turn) times its next step to go,
// and goes to a bound where that is no number of steps.
void PriorPrecision::look_ahead(const double* mode, const double* mean,
                                const double* covariance) noexcept {
  sum(mode, mean, covariance, group_.size() + 1);
  for (std::size_t g = 0; g < sums_.size(); ++g) {
    sums_[g].way = std::log(precision_[g] / summed_[g]);
  }
  way_from_sums_ = change_of_sd(covariance);
  find_turns(covariance);
  for (std::size_t g = 0; g < sums_.size(); ++g) {
    Sums& sums = sums_[g];
    const double step = std::log(next(g) / precision_[g]);
    const double share = 1 - sums.turn;
    leap_[g] = share > 0 ? std::min(1 / share, kMostLeap) : 1.0;
    const double bound = std::log((step > 0 ? most_ : least_) / precision_[g]);
    const bool arrives = share > 0 && std::abs(step) < share * std::abs(bound);
    sums.way = arrives ? step / share : step == 0 ? 0.0 : bound;
  }
  way_left_ = std::max(way_of_mode(covariance), change_of_sd(covariance));
}

// From dP = -P dLambda P and dm = -P dLambda m, each group by itself.
void PriorPrecision::find_turns(const double* covariance) noexcept {
  const std::size_t d = group_.size();
  for (std::size_t j = 0; j < d; ++j) {
    if (group_[j] == kNoGroup) continue;
    Sums& sums = sums_[group_[j]];
    double square = 0;
    double along = 0;
    for (std::size_t i = 0; i < d; ++i) {
      if (group_[i] != group_[j]) continue;
      const double p = covariance[j * d + i];
      square += p * p;
      along += p * centre_[i];
    }
    const double lambda = values_[j];
    sums.turn += lambda * (lambda * square - covariance[j * (d + 1)]) / sums.determined +
                 2 * lambda * centre_[j] * along / sums.squares;
  }
}

// The share of the sd that a coefficient gains or loses where log lambda goes its way.
double PriorPrecision::change_of_sd(const double* covariance) const noexcept {
  const std::size_t d = group_.size();
  double largest = 0;
  for (std::size_t j = 0; j < d; ++j) {
    if (group_[j] == kNoGroup) continue;
    const double change = std::abs(std::expm1(-0.5 * sums_[group_[j]].way));
    largest = std::max(largest, values_[j] * covariance[j * (d + 1)] * change);
  }
  return largest;
}

double PriorPrecision::way_of_mode(const double* covariance) noexcept {
  const std::size_t d = group_.size();
  for (std::size_t j = 0; j < d; ++j) {
    const bool learned = group_[j] != kNoGroup;
    centre_[j] *= learned ? values_[j] * std::expm1(-sums_[group_[j]].way) : 0.0;
  }
  double squared = 0;
  for (std::size_t j = 0; j < d; ++j) {
    double product = 0;
    for (std::size_t i = 0; i < d; ++i) product += covariance[j * d + i] * centre_[i];
    squared += centre_[j] * product;
  }
  return std::sqrt(std::max(squared, 0.0));
}

double PriorPrecision::moved() const noexcept {
  double largest = 0;
  for (std::size_t g = 0; g < precision_.size(); ++g) {
    largest = std::max(largest, std::abs(std::log(precision_[g] / marked_[g])));
  }
  return largest;
}

}  // namespace windhover
