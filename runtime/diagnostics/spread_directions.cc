#include "windhover/runtime/diagnostics/spread_directions.h"

#include <algorithm>
#include <cmath>

#include "windhover/platform/random.h"
#include "windhover/samplers/kernels/kernels.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

using Eigen::Index;

SpreadDirections::SpreadDirections(Arena& arena, std::uint32_t dimension) noexcept
    : dimension_(dimension),
      worst_(arena, dimension, true),
      best_(arena, dimension, false),
      directions_(arena.allocate<double>(kCount * dimension).data()),
      room_(arena.allocate<double>(dimension).data()) {}

void SpreadDirections::follow(const double* covariance, std::uint64_t version,
                              const std::array<const double*, kLaw>& law,
                              Interlude* interlude) noexcept {
  const bool changed = version != version_;
  version_ = version;
  if (begun_ && changed) {
    worst_.forms_changed();
    best_.forms_changed();
  }
  search(covariance, interlude);
  if (!chosen_ && !(worst_.converged() && best_.converged())) return;
  if (chosen_ && !changed) return;
  if (!chosen_) choose(covariance, law);
  const Index d = dimension_;
  for (std::size_t i = 0; i < kCount; ++i) {
    std::fill_n(room_, d, 0.0);
    kernels().symmetric_product(covariance, dimension_, 1.0, direction(i), room_);
    variances_[i] = ConstVectorMap(direction(i), d).dot(ConstVectorMap(room_, d));
    advance(interlude, kSweptNumber * static_cast<double>(d * d));
  }
}

// Once the directions are found, one step for each is enough to follow a posterior that changes.
void SpreadDirections::search(const double* covariance, Interlude* interlude) noexcept {
  const Index d = dimension_;
  if (!begun_) {
    for (Index j = 0; j < d; ++j) room_[j] = 1 / std::sqrt(covariance[j * (d + 1)]);
    worst_.reset(room_);
    best_.reset(room_);
    begun_ = true;
  }
  // The images are in units of the parameters' own deviations, in which the second form is the
  // identity.
  const auto images = [&](const RatioVector& v) {
    std::fill_n(v.numerator, d, 0.0);
    kernels().symmetric_product(covariance, dimension_, 1.0, v.w, v.numerator);
    for (Index j = 0; j < d; ++j) {
      const double variance = covariance[j * (d + 1)];
      v.dual[j] = v.w[j] * variance;
      v.numerator[j] /= variance;
      v.denominator[j] = v.w[j];
    }
    advance(interlude, kSweptNumber * static_cast<double>(d * d));
  };
  constexpr double kBudget = 1e6;  // products of two numbers
  double spent = 0;
  do {
    worst_.step(images);
    best_.step(images);
    spent += 2.0 * static_cast<double>(d * d);
  } while (spent < kBudget && !(worst_.converged() && best_.converged()));
}

void SpreadDirections::choose(const double* covariance,
                              const std::array<const double*, kLaw>& law) noexcept {
  constexpr std::uint64_t kSeed = 0xd1;
  const std::size_t d = dimension_;
  for (std::size_t i = kLaw + kExtreme; i < kCount; ++i) {
    Rng rng(kSeed, {choices_, static_cast<std::uint16_t>(i), Purpose::kInitialState});
    rng.fill_normals({direction(i), d});
    for (std::size_t j = 0; j < d; ++j) {
      direction(i)[j] /= std::sqrt(covariance[j * (d + 1)]);
    }
  }
  for (std::size_t i = 0; i < kLaw; ++i) {
    // Where no law is known, a random direction is as good as any.
    const double* from = law[i] != nullptr ? law[i] : direction(kLaw + kExtreme + i);
    std::copy_n(from, d, direction(i));
  }
  std::copy_n(worst_.direction(), d, direction(kLaw));
  std::copy_n(best_.direction(), d, direction(kLaw + 1));
  ++choices_;
  chosen_ = true;
}

bool SpreadDirections::squares(const double* deviation, Numbers& squares) const noexcept {
  if (!chosen_) return false;
  const Index d = dimension_;
  for (std::size_t i = 0; i < kCount; ++i) {
    const double along = ConstVectorMap(direction(i), d).dot(ConstVectorMap(deviation, d));
    squares[i] = along * along / variances_[i];
  }
  return true;
}

void SpreadDirections::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("spread directions");
  visitor.values(begun_, chosen_, version_, choices_);
  worst_.visit_state(visitor);
  best_.visit_state(visitor);
  visitor.visit(directions_, kCount * dimension_);
  visitor.visit(variances_.data(), variances_.size());
}

}  // namespace windhover
