#include "windhover/runtime/diagnostics/law_check.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/kernels/kernels.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

using Eigen::Index;

namespace {

// The search approaches the bounds from inside, so the true ones may be wider by this factor.
constexpr double kShort = 1.02;

bool within(double ratio) noexcept {
  return ratio * kShort < LawCheck::kTolerance && ratio * LawCheck::kTolerance > kShort;
}

}  // namespace

LawCheck::LawCheck(Arena& arena, std::uint32_t dimension) noexcept
    : dimension_(dimension),
      largest_(arena, dimension, true),
      smallest_(arena, dimension, false),
      room_(arena.allocate<double>(2 * std::size_t{dimension}).data()) {
  orbit_.w = arena.allocate<double>(dimension).data();
  orbit_.sum = RatioVector(arena, dimension);
}

void LawCheck::reset() noexcept {
  begun_ = false;
  orbit_side_ = 0;
  found_ = {Verdict::kOpen, kNaN, kNaN, found_.version};
}

// Works out the images of w: H w, (n/T) (C/S + E) H w and (1 - beta) (2 w - A H w / (1 + beta)).
// Products of H w with the other two are n times the forms of Q / T and of G.
void LawCheck::apply(const LawTerms& terms, const RatioVector& v, Interlude* interlude) noexcept {
  const Index d = dimension_;
  const double swept = kSweptNumber * static_cast<double>(d * d);
  const double beta = terms.sampler->momentum();
  std::copy_n(v.w, d, v.dual);
  terms.sampler->apply_law(v.dual, v.numerator, room_);
  windhover::advance(interlude, 2 * swept);
  VectorMap(v.numerator, d) *= terms.n / terms.temperature;
  kernels().symmetric_product(terms.noise_covariance, dimension_,
                              terms.n / (terms.temperature * terms.minibatch_size), v.dual,
                              v.numerator);
  windhover::advance(interlude, swept);
  VectorMap(v.denominator, d) = 2 * (1 - beta) * ConstVectorMap(v.w, d);
  kernels().symmetric_product(terms.curvature, dimension_, -(1 - beta) / (1 + beta), v.dual,
                              v.denominator);
  windhover::advance(interlude, swept);
}

void LawCheck::advance(const LawTerms& terms, Interlude* interlude) noexcept {
  if (!begun_) {
    for (std::uint32_t j = 0; j < dimension_; ++j) {
      room_[j] = std::sqrt(terms.curvature[std::size_t{j} * (dimension_ + 1)]);
    }
    largest_.reset(room_);
    smallest_.reset(room_);
    begun_ = true;
    version_ = terms.version;
  }
  if (version_ != terms.version) {
    version_ = terms.version;
    // Where there was no law, the search has nothing to go on from.
    if (found_.verdict == Verdict::kNone) return reset();
    largest_.forms_changed();
    smallest_.forms_changed();
  }
  const std::uint64_t cost = 4 * std::uint64_t{dimension_} * dimension_;  // of a step
  for (std::uint64_t spent = 0; spent < kBudget; spent += cost) {
    if (search(terms, interlude)) return;
  }
}

// Makes one step of the search. Returns whether there is nothing more to find for now.
bool LawCheck::search(const LawTerms& terms, Interlude* interlude) noexcept {
  const bool converged = largest_.converged() && smallest_.converged();
  const bool decided = found_.verdict != Verdict::kOpen && found_.version == version_;
  if (orbit_side_ != 0) {
    if (!advance_orbit(terms, interlude)) return false;
    if (orbit_side_ == 1 && !within(smallest_.ratio())) {
      orbit_side_ = 2;
      begin_orbit(terms, smallest_.direction());
      return false;
    }
    orbit_side_ = 0;
    decide_by_orbits();
    return true;
  }
  if (converged && !decided) {
    if (bounds_suffice()) {
      decide(Verdict::kWithin, largest_.ratio(), smallest_.ratio());
      return true;
    }
    intervals_ = {Interval{smallest_.ratio(), largest_.ratio()},
                  Interval{smallest_.ratio(), largest_.ratio()}};
    orbit_side_ = within(largest_.ratio()) ? 2 : 1;
    begin_orbit(terms, orbit_side_ == 1 ? largest_.direction() : smallest_.direction());
    return false;
  }
  const auto images = [&](const RatioVector& v) { apply(terms, v, interlude); };
  turn_ = converged ? !turn_ : largest_.converged() || (!smallest_.converged() && !turn_);
  (turn_ ? smallest_ : largest_).step(images);
  if (largest_.indefinite() || smallest_.indefinite()) {
    decide(Verdict::kNone, std::numeric_limits<double>::infinity(), 1);
    return true;
  }
  return converged;
}

bool LawCheck::bounds_suffice() const noexcept {
  return within(largest_.ratio()) && within(smallest_.ratio());
}

void LawCheck::begin_orbit(const LawTerms& terms, const double* direction) noexcept {
  const Index d = dimension_;
  std::copy_n(direction, d, orbit_.w);
  std::copy_n(direction, d, orbit_.sum.w);
  std::fill_n(room_, d, 0.0);
  kernels().symmetric_product(terms.covariance, dimension_, terms.n, direction, room_);
  orbit_.total = ConstVectorMap(direction, d).dot(ConstVectorMap(room_, d));
  orbit_.numerator = orbit_.denominator = 0;
  orbit_.steps = 0;
}

// One power of R^T: w <- w - A H c, the velocity's part <- beta c, c <- the sum of both. Returns
// whether the orbit has come to an end.
bool LawCheck::advance_orbit(const LawTerms& terms, Interlude* interlude) noexcept {
  constexpr int kEnough = 256;  // steps, if the ratio is certain to be beyond by then
  constexpr int kMost = 4096;
  constexpr double kClosed = 0.03;
  const Index d = dimension_;
  const double beta = terms.sampler->momentum();
  RatioVector& c = orbit_.sum;
  apply(terms, c, interlude);
  orbit_.numerator += ConstVectorMap(c.dual, d).dot(ConstVectorMap(c.numerator, d));
  orbit_.denominator += ConstVectorMap(c.dual, d).dot(ConstVectorMap(c.denominator, d));
  VectorMap w(orbit_.w, d);
  VectorMap sum(c.w, d);
  w += (1 + beta) * (ConstVectorMap(c.denominator, d) / (1 - beta) - 2 * sum);
  sum = w + beta * sum;
  ++orbit_.steps;
  const Interval found = orbit_interval();
  const bool closed = found.high - found.low <= kClosed * found.high;
  const bool certain = found.beyond() && orbit_.steps >= kEnough;
  if (!closed && !certain && orbit_.steps < kMost) return false;
  intervals_[orbit_side_ == 1 ? 0 : 1] = found;
  return true;
}

LawCheck::Interval LawCheck::orbit_interval() const noexcept {
  const double left = std::max(0.0, orbit_.total - orbit_.denominator);
  return {(orbit_.numerator + smallest_.ratio() * left) / orbit_.total,
          (orbit_.numerator + largest_.ratio() * left) / orbit_.total};
}

void LawCheck::decide_by_orbits() noexcept {
  constexpr double kAttained = 1.05;
  const bool high = within(largest_.ratio()) || intervals_[0].low * kAttained >= largest_.ratio();
  const bool low = within(smallest_.ratio()) || intervals_[1].high <= kAttained * smallest_.ratio();
  if (high && low) {  // the bounds are attained, as far as they matter
    const bool beyond = Interval{largest_.ratio(), smallest_.ratio()}.beyond();
    return decide(beyond ? Verdict::kBeyond : Verdict::kWithin, largest_.ratio(),
                  smallest_.ratio());
  }
  const bool found = intervals_[0].beyond() || intervals_[1].beyond();
  if (!found) return decide(Verdict::kUnknown, kNaN, kNaN);
  decide(Verdict::kBeyond, within(largest_.ratio()) ? largest_.ratio() : intervals_[0].low,
         within(smallest_.ratio()) ? smallest_.ratio() : intervals_[1].high);
}

void LawCheck::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("law check");
  visitor.values(begun_, version_, found_.version, turn_, orbit_side_, found_.verdict,
                 found_.largest, found_.smallest);
  largest_.visit_state(visitor);
  smallest_.visit_state(visitor);
  visitor.values(orbit_.numerator, orbit_.denominator, orbit_.total, orbit_.steps);
  visitor.visit(orbit_.w, dimension_);
  orbit_.sum.visit_state(visitor, dimension_);
  for (Interval& interval : intervals_) visitor.values(interval.low, interval.high);
}

}  // namespace windhover
