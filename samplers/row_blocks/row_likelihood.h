// What a likelihood says of one row at its linear predictor eta.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_LIKELIHOOD_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_LIKELIHOOD_H_

#include <algorithm>
#include <cmath>

#include "windhover/samplers/models/model.h"

namespace windhover {

// The least curvature of a row: 0 marks a row that has been set aside.
inline constexpr float kLeastCurvature = 1e-30F;

struct RowAt {
  float residual;   // d(-log p) / d eta
  float curvature;  // in eta
};

// A logistic row. The curvature (Jaakkola and Jordan 2000) is that of the quadratic that touches
// -log p at eta and lies above it everywhere: never less than that of -log p, and about 1 / (2
// |eta|) far out, where that is next to nothing.
inline RowAt logistic_at(double eta, double target) noexcept {
  // The residual's size is the probability of the other class, without cancellation.
  const double sign = target > 0.5 ? -1 : 1;
  const double other = 1 / (1 + std::exp(-sign * eta));
  const double curvature = std::abs(eta) < 1e-3 ? 0.25 : (2 * other - 1) / (2 * sign * eta);
  return {static_cast<float>(sign * other), static_cast<float>(curvature)};
}

// The same for a row with a weight. On the side of its own class the curvature is at most three
// times that of -log p: a heavy row lies far out there, where the bound above would be a thousand
// times too large.
inline RowAt logistic_at_of_weight(double eta, double target) noexcept {
  constexpr float kMostOfCurvature = 3;
  RowAt at = logistic_at(eta, target);
  const float other = std::abs(at.residual);
  if (other < 0.5F) {
    const float most = kMostOfCurvature * other * (1 - other);
    at.curvature = std::clamp(most, kLeastCurvature, at.curvature);
  }
  return at;
}

// What rows say. y and eta are in the units of a TargetTransform.
//
// Likelihoods with a dispersion give their numbers as at dispersion 1, so that sums of them stay
// while the dispersion is learned.
//
// Invariant: residuals of rows that are in_range() are at most most_residual() in size, and
// curvatures positive. One thread.
class RowLikelihood {
 public:
  static constexpr double kMostWeight = 1e6;  // the most that ingestion accepts

  explicit RowLikelihood(const ModelConfig& model) noexcept;

  // Whether models with this response can be used.
  static bool has(Response response) noexcept {
    return response == Response::kBernoulli || has_dispersion(response);
  }

  Response response() const noexcept { return response_; }
  // Whether rows have weights, given or their own: all but unweighted logistic ones.
  bool weighs_rows() const noexcept { return weighs_; }
  double most_residual() const noexcept;

  const TargetTransform& units() const noexcept { return units_; }
  void set_units(const TargetTransform& units) noexcept {
    units_ = units;
    inverse_scale_ = 1 / units.scale;
  }

  // Tells the dispersion to likelihoods whose -log p is no multiple of 1 / dispersion.
  void set_dispersion(double dispersion) noexcept { dispersion_ = dispersion; }
  // What a row says of the dispersion: its squared residual, times the likelihood's own weight,
  // which depends on the dispersion unless is_normal().
  double square(double eta, double y, double residual) const noexcept {
    return is_normal(response_) ? residual * residual : residual * (eta - y);
  }
  // The information of a row about the logarithm of the dispersion (Lange, Little and Taylor 1989,
  // appendix B).
  double information() const noexcept {
    return response_ == Response::kStudent ? 0.5 * nu_ / (nu_ + 3) : 0.5;
  }

  // The offset and y of a row, from what was sent, in the units of eta.
  double offset(double given) const noexcept { return given * inverse_scale_; }
  double target(double y) const noexcept {
    if (!has_dispersion(response_)) return y;
    return (working_target(response_, y) - units_.shift) * inverse_scale_;
  }
  // Whether sums keep digits beside this y, given in units.
  bool in_range(double y) const noexcept { return std::abs(y) <= kMostTarget; }

  RowAt at(double eta, double y) const noexcept {
    if (is_normal(response_)) return normal_at(eta, y);
    if (response_ == Response::kStudent) return student_at(eta, y);
    return logistic_at_of_weight(eta, y);
  }

  // -log p at eta, as at dispersion 1, but for a constant. REQUIRES: the rows are not logistic.
  double loss(double eta, double y) const noexcept {
    if (is_normal(response_)) return 0.5 * (eta - y) * (eta - y);
    const double square = (eta - y) * (eta - y) / (dispersion_ * nu_);
    return 0.5 * (nu_ + 1) * dispersion_ * std::log1p(square);
  }

 private:
  static RowAt normal_at(double eta, double y) noexcept {
    return {static_cast<float>(std::clamp(eta - y, -10 * kMostTarget, 10 * kMostTarget)), 1.0F};
  }

  // The curvature is the expectation over y of that of -log p, which is negative for a row far off,
  // and at most (nu + 3) / nu times its expectation.
  RowAt student_at(double eta, double y) const noexcept {
    const double off = std::clamp(eta - y, -10 * kMostTarget, 10 * kMostTarget);
    const double weight = (nu_ + 1) / (nu_ + off * off / dispersion_);
    return {static_cast<float>(weight * off), static_cast<float>((nu_ + 1) / (nu_ + 3))};
  }

  static constexpr double kMostTarget = 1e9;

  Response response_;
  bool weighs_;
  TargetTransform units_;
  double inverse_scale_ = 1;
  double nu_;
  double dispersion_ = 1;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_LIKELIHOOD_H_
