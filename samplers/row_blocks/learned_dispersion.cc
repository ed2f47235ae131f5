#include "windhover/samplers/row_blocks/learned_dispersion.h"

#include <algorithm>
#include <cmath>

namespace windhover {

namespace {

constexpr double kMostLogStep = 3;
// A step against the direction of the one before is shortened to this share.
constexpr double kTurned = 0.5;
// The value is known once its logarithm changes by no more than this, or than two of its sds.
constexpr double kAtRest = 0.1;
constexpr std::uint64_t kEnds = 3;
// In units of the targets' variance: single precision cannot resolve less.
constexpr double kLeast = 1e-10;
// The largest share of the rows that parameters may follow.
constexpr double kMostFollowed = 0.95;

}  // namespace

void LearnedDispersion::reset(double given, double information) noexcept {
  *this = {};
  learned_ = given == 0;
  if (!learned_) value_ = given;
  information_ = information;
}

bool LearnedDispersion::known() const noexcept {
  if (!learned_) return true;
  return ends_ >= kEnds && std::abs(change_) <= std::max(kAtRest, 2 * relative_sd_);
}

void LearnedDispersion::look_again(double weight, double importance, double before, double squares,
                                   double rows, std::uint32_t chains) noexcept {
  squares_ += kept_.value() + rows * importance * (squares - before);
  looks_ += chains;
  kept_.add(weight * squares);
  kept_.add(-(weight * before));
}

void LearnedDispersion::add_variance(double importance, double variance) noexcept {
  variance_ += importance * variance;
  ++variances_;
}

void LearnedDispersion::end(std::uint64_t rows, double weight, std::uint32_t chains,
                            double informed) noexcept {
  if (!learned_ || looks_ == 0 || looks_ < rows * chains) return;
  const double squares = squares_ / static_cast<double>(looks_);
  const double looked = static_cast<double>(std::max<std::uint64_t>(variances_, 1));
  const double variance = variance_ / looked * static_cast<double>(rows);
  const double followed = std::min({variance / value_, informed, kMostFollowed * weight});
  const double pseudo = std::max(0.0, 1 - static_cast<double>(rows) / (2 * informed + 10));
  const double left = std::max(squares - variance, 0.0) + pseudo;
  const double found = std::max(left / (weight - followed + pseudo), kLeast);
  const double before = value_;
  const double whole = 0.5 / information_ * std::log(found / before);
  // Chains that have not followed the last change yet would make the value swing for ever.
  const double step = whole * change_ < 0 ? kTurned * whole : whole;
  const double change = std::clamp(step, -kMostLogStep, kMostLogStep);
  value_ = std::max(before * std::exp(change), kLeast);
  change_ = std::log(value_ / before);
  // A lower bound, because only the sum of the fitted parameters' eigenvalues, `followed`, is
  // known.
  relative_sd_ = std::sqrt(weight / information_) / (weight - followed);
  ++ends_;
  squares_ = variance_ = 0;
  looks_ = variances_ = 0;
}

void LearnedDispersion::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("learned dispersion");
  visitor.values(value_, relative_sd_, change_, ends_, squares_, variance_, looks_, variances_);
  visit_quanta(visitor, reinterpret_cast<Quanta*>(&kept_), 2);
}

}  // namespace windhover
