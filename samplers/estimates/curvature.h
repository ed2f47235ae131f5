// Sums of gradient and Hessian at a fixed anchor: what the mode, the mean and A come from.
#ifndef WINDHOVER_SAMPLERS_ESTIMATES_CURVATURE_H_
#define WINDHOVER_SAMPLERS_ESTIMATES_CURVATURE_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// The largest values that sums have had since they were empty. These bound the rounding left in the
// sums when rows have been taken out again. Memory D. One thread.
class LargestSums {
 public:
  LargestSums(Arena& arena, std::uint32_t dimension) noexcept
      : curvature_(arena.allocate<double>(dimension)) {}
  void clear() noexcept {
    std::ranges::fill(curvature_, 0.0);
    squares_ = weight_ = 0;
  }
  void fade(double keep) noexcept {
    for (double& largest : curvature_) largest *= keep;
    squares_ *= keep;
    weight_ *= keep;
  }
  // Follows the sums as they are now; the diagonal entries of their curvature are `stride` apart.
  void follow(const CurvatureSums& sums, std::size_t stride) noexcept {
    squares_ = std::max(squares_, sums.squares);
    weight_ = std::max(weight_, sums.squared_weight);
    for (std::size_t j = 0; j < curvature_.size(); ++j) {
      curvature_[j] = std::max(curvature_[j], sums.curvature[j * stride]);
    }
  }
  // Whether rounding may have swallowed what is left in one of these sums. A prior of precision
  // `prior`, times `divisor`, counts beside the curvature.
  bool have_swallowed(const CurvatureSums& sums, std::size_t stride, const double* prior,
                      double divisor, bool weighted) const noexcept {
    bool any = swallowed(squares_, sums.squares) ||
               (weighted && sums.rows > 0 && swallowed(weight_, sums.squared_weight));
    for (std::size_t j = 0; j < curvature_.size(); ++j) {
      any = any || swallowed(curvature_[j], sums.curvature[j * stride] + prior[j] * divisor);
    }
    return any;
  }

  // Each shows its numbers at its place in the section that is open.
  void visit_squares(StateVisitor& visitor) noexcept { visitor.value(squares_); }
  void visit_weight(StateVisitor& visitor) noexcept { visitor.value(weight_); }
  void visit_curvature(StateVisitor& visitor) noexcept { visitor.visit(curvature_); }

  void copy_from(const LargestSums& other) noexcept {
    std::ranges::copy(other.curvature_, curvature_.begin());
    squares_ = other.squares_;
    weight_ = other.weight_;
  }

 private:
  static bool swallowed(double largest, double now) noexcept {
    constexpr double kRounding = 1e-15;
    constexpr double kTolerance = 1e-6;
    return kRounding * largest > kTolerance * std::max(now, 0.0);
  }

  std::span<double> curvature_;  // of each diagonal entry
  double squares_ = 0;
  double weight_ = 0;  // sum of squared weights
};

// Counts rows that fade by their age, and what they have faded to. One thread.
class RowAges {
 public:
  void clear() noexcept { count_ = squares_ = 0; }
  // Adds `rows` rows that have faded to `left` of what they were; a negative number takes them out.
  void add(double rows, double left) noexcept {
    count_ += rows;
    squares_ += rows * left * left;
  }
  void fade(double keep) noexcept { squares_ *= keep * keep; }

  double count() const noexcept { return count_; }
  // How many equal rows would be as informative (Kish 1965), where all have faded to `sum`
  // together.
  double kish(double sum) const noexcept { return squares_ > 0 ? sum * sum / squares_ : sum; }

  // Shows its numbers in the section that is open.
  void visit_state(StateVisitor& visitor) noexcept { visitor.values(count_, squares_); }

 private:
  double count_ = 0;
  double squares_ = 0;  // of what each row has faded to
};

// Sums over rows at one anchor, in units of dispersion 1. One Newton step from the anchor is the
// mode, exactly for a quadratic loss. The model's dispersion, or shape, is kept with the anchor, so
// that rows leave with the numbers they came with. Memory D^2. One thread.
class AnchorSums {
 public:
  AnchorSums(Arena& arena, std::uint32_t dimension, Response response = Response::kGaussian,
             bool weighted = false, bool aged = false, bool moves = false) noexcept
      : dimension_(dimension),
        shaped_(has_shape(response)),
        weighted_(weighted),
        aged_(aged),
        width_(matrix_width(dimension)),
        anchor_(arena.allocate<double>(dimension).data()),
        move_(arena.allocate<double>(dimension).data()),
        way_(arena.allocate<double>(moves ? dimension : 0)),
        third_variances_(arena.allocate<double>(dimension)),
        largest_(arena, dimension) {
    sums_.with_loss = false;  // not needed
    sums_.gradient = arena.allocate<double>(dimension).data();
    sums_.third = arena.allocate<double>(dimension).data();
    sums_.curvature = arena.allocate<double>(width_ * width_).data();
    if (shape_crosses(response)) {
      cross_ = arena.allocate<double>(dimension);
      sums_.shape_cross = cross_.data();
    }
  }

  void begin(const double* anchor, double dispersion = 1.0) noexcept {
    std::copy_n(anchor, dimension_, anchor_);
    dispersion_ = dispersion;
    clear();
  }
  // Copies sums and anchor. REQUIRES: equal dimension.
  void copy_from(const AnchorSums& other) noexcept;
  void clear() noexcept {
    std::fill_n(sums_.gradient, dimension_, 0.0);
    std::fill_n(sums_.third, dimension_, 0.0);
    std::ranges::fill(third_variances_, 0.0);
    std::ranges::fill(way_, 0.0);
    gone_ = 0;
    largest_.clear();
    std::fill_n(sums_.curvature, width_ * width_, 0.0);
    sums_.rows = 0;
    ages_.clear();
    sums_.weight = sums_.squared_weight = 0;
    sums_.squares = 0;
    sums_.shape_gradient = 0;
    sums_.shape_curvature = 0;
    std::ranges::fill(cross_, 0.0);
  }
  // Adds rows as at the start of Newton's method; see Model::add_start. REQUIRES: the anchor is 0.
  void add_start(Model& model, const RowBatch& rows) noexcept {
    model.set_dispersion(dispersion_);
    model.add_start(rows, sums_);
    ages_.add(static_cast<double>(rows.count), 1.0);
  }
  // Adds rows. `covariance`: P for the third-order sums, or null. If it is null for the first rows,
  // later rows have no third-order sums either, nor have rows that leave.
  void add(Model& model, const RowBatch& rows, const double* covariance) noexcept {
    if (sums_.rows == 0) third_ = covariance != nullptr;
    model.set_dispersion(dispersion_);
    model.add_curvature(rows, anchor_, third_with(covariance), 1.0, sums_);
    ages_.add(static_cast<double>(rows.count), 1.0);
    largest_.follow(sums_, width_ + 1);
  }
  // Takes out rows that were added before and have faded to `left` of what they were. false: the
  // sums are worth nothing, because they have been so large that rounding may have swallowed what
  // is left (beside a prior of precision `prior`).
  bool remove(Model& model, const RowBatch& rows, const double* covariance, const double* prior,
              double left = 1.0) noexcept {
    const double divisor = shaped_ ? 1.0 : dispersion_;
    model.set_dispersion(dispersion_);
    model.add_curvature(rows, anchor_, third_with(covariance), -left, sums_);
    ages_.add(-static_cast<double>(rows.count), left);
    return !largest_.have_swallowed(sums_, width_ + 1, prior, divisor, weighted_);
  }
  // Multiplies what rows have added so far by `keep`, and with it the rounding that others have
  // left.
  void fade(double keep) noexcept {
    largest_.fade(keep);
    ages_.fade(keep);
    for (std::uint32_t j = 0; j < dimension_; ++j) sums_.gradient[j] *= keep;
    for (std::uint32_t j = 0; j < dimension_; ++j) sums_.third[j] *= keep;
    for (double& sum : way_) sum *= keep;
    gone_ *= keep;
    for (std::size_t i = 0; i < width_ * width_; ++i) sums_.curvature[i] *= keep;
    sums_.rows *= keep;
    sums_.weight *= keep;
    sums_.squared_weight *= keep;
    sums_.squares *= keep;
    sums_.shape_gradient *= keep;
    sums_.shape_curvature *= keep;
    for (double& sum : cross_) sum *= keep;
  }
  // Moves to another anchor, for rows that cannot be summed again. Exact for a quadratic loss;
  // otherwise each row's loss becomes its parabola where it was first seen, as in an extended
  // Kalman filter. `third_scale`: by how much P has changed since the third-order sums were last
  // scaled.
  void move_anchor(const double* anchor, double dispersion, double third_scale) noexcept;

  // The sum over rows of a row's curvature times the square of how far its linear predictor has
  // gone with the anchor since the row was summed. 0 unless `moves`.
  double gone() const noexcept { return gone_; }

  const double* anchor() const noexcept { return anchor_; }
  const CurvatureSums& sums() const noexcept { return sums_; }
  // The sum of what rows have faded to; without fading, the number of rows.
  double rows() const noexcept { return sums_.rows; }
  // See RowAges; rows() unless `aged`.
  double count() const noexcept { return aged_ ? ages_.count() : sums_.rows; }
  double kish() const noexcept { return aged_ ? ages_.kish(sums_.rows) : sums_.rows; }
  // The factor that makes the sums those of n equal rows; 1 where rows do not fade with their age.
  double scale_to(double n) const noexcept {
    return aged_ && sums_.rows > 0 ? n / sums_.rows : 1.0;
  }
  bool aged() const noexcept { return aged_; }
  bool weighted() const noexcept { return weighted_; }
  // The sum of the rows' weights; without weights, rows().
  double weight() const noexcept { return weighted_ ? sums_.weight : sums_.rows; }
  // The sum of the weights over the sum of their squares; 1 where rows have no weight, or there are
  // none. Where weights tell nothing about gradients, the covariance of a gradient times its weight
  // w is that of w equal rows together, divided by this.
  double weight_ratio() const noexcept {
    return any_weight() ? sums_.weight / sums_.squared_weight : 1.0;
  }
  double mean_weight() const noexcept { return any_weight() ? sums_.weight / sums_.rows : 1.0; }
  double dispersion() const noexcept { return dispersion_; }
  std::uint32_t dimension() const noexcept { return dimension_; }
  // How many times larger than it is now, variances[j * stride], a variance was in a P that rows of
  // the third-order sums were summed with, for the parameter of which that is most so. 0: there are
  // no such sums, or their rows were summed before move_anchor().
  double third_excess(const double* variances, std::size_t stride) const noexcept {
    double excess = 0;
    for (std::size_t j = 0; j < dimension_; ++j) {
      excess = std::max(excess, third_variances_[j] / variances[j * stride]);
    }
    return excess;
  }
  // Column j of the curvature from its diagonal downwards: D - j numbers.
  const double* curvature_below(std::uint32_t j) const noexcept {
    return sums_.curvature + j * (width_ + 1);
  }
  // A_jj of the rows alone, their mean at dispersion 1.
  double mean_curvature(std::uint32_t j) const noexcept {
    return *curvature_below(j) / std::max(rows(), 1.0);
  }

  void visit_state(StateVisitor& visitor) noexcept {
    visitor.values(dispersion_, third_);
    largest_.visit_squares(visitor);
    visitor.values(sums_.rows, sums_.squares);
    if (shaped_) visitor.values(sums_.shape_gradient, sums_.shape_curvature);
    if (weighted_) {
      visitor.values(sums_.weight, sums_.squared_weight);
      largest_.visit_weight(visitor);
    }
    if (aged_) ages_.visit_state(visitor);
    visitor.visit(anchor_, dimension_);
    largest_.visit_curvature(visitor);
    visitor.visit(sums_.gradient, dimension_);
    visitor.visit(sums_.third, dimension_);
    visitor.visit(third_variances_);
    visitor.visit(sums_.curvature, width_ * width_);
    if (!cross_.empty()) visitor.visit(cross_);
    if (!way_.empty()) {
      visitor.visit(way_);
      visitor.value(gone_);
    }
  }

 private:
  // The P to sum terms of third order with, or null.
  const double* third_with(const double* covariance) noexcept {
    if (!third_ || covariance == nullptr) return nullptr;
    for (std::size_t j = 0; j < dimension_; ++j) {
      third_variances_[j] = std::max(third_variances_[j], covariance[j * (dimension_ + 1)]);
    }
    return covariance;
  }
  // Whether there is weight to divide by: rows that have left may leave only rounding.
  bool any_weight() const noexcept {
    return weighted_ && sums_.rows > 0 && sums_.weight > 0 && sums_.squared_weight > 0;
  }

  std::uint32_t dimension_;
  bool shaped_;
  bool weighted_;
  bool aged_;  // rows fade and are taken out by their age
  bool third_ = false;
  std::size_t width_;
  double dispersion_ = 1;
  double* anchor_;
  double* move_;           // dimension: scratch
  std::span<double> way_;  // sum of each row's curvature times the anchor's way since
  double gone_ = 0;
  std::span<double> third_variances_;  // the largest of each in a P that rows were summed with
  LargestSums largest_;                // since clear()
  RowAges ages_;
  std::span<double> cross_;  // dimension: shape_cross; otherwise none
  CurvatureSums sums_{};
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ESTIMATES_CURVATURE_H_
