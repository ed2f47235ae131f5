// What answers are averaged over, beside the posterior of one memory's rows.
#ifndef WINDHOVER_RUNTIME_POSTERIOR_MEMORY_AVERAGE_H_
#define WINDHOVER_RUNTIME_POSTERIOR_MEMORY_AVERAGE_H_

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"

namespace windhover {

// theta of an answer is that of the posterior, moved by `shift` and by B z, z standard normal:
// where the centres of several memories are on average, and what they differ by (Bayesian model
// averaging: Hoeting et al. 1999). B has a column a memory, and may have one for what some of them
// leave open. Without a column the posterior stands for itself. Memory (most + 1) D + most x draws
// doubles; most = 0: none.
class MemoryAverage {
 public:
  MemoryAverage(Arena& arena, std::uint32_t dimension, std::uint32_t draws,
                std::uint32_t most) noexcept;

  // ---- For who fills it.

  void clear() noexcept {
    rank_ = 0;
    own_ = 1;
  }
  // What the posterior's own variance of a linear predictor counts for, beside that of B. REQUIRES:
  // the model has one linear predictor a row.
  void set_own(double share) noexcept { own_ = share; }
  // Adds a column. The caller fills both: the column, and z of each draw. REQUIRES: fewer columns
  // than the most.
  struct Column {
    double* direction;
    double* normals;
  };
  Column add() noexcept;
  double* shift() noexcept { return shift_; }
  // Multiplies the numbers of this parameter by `by`, for other units.
  void scale(std::uint32_t parameter, double by) noexcept;

  // ---- For readers. x: `dimension` numbers.

  bool any() const noexcept { return rank_ > 0; }
  double own() const noexcept { return own_; }  // set_own()
  // x . shift. O(D).
  double mean(const double* x) const noexcept;
  // out <- x^T B, and 0 beyond its columns, up to the most there may be. O(rank x D).
  void along_all(const double* x, double* out) const noexcept;
  // x^T B B^T x. O(rank x D).
  double variance(const double* x) const noexcept;
  // The sd of x . theta, where it is `sd` without this average.
  double wider(double sd, const double* x) const noexcept {
    return any() ? std::hypot(std::sqrt(own_) * sd, std::sqrt(variance(x))) : sd;
  }
  // matrix += the covariance of so many linear predictors x . theta_a, theta_a the a-th `columns`
  // parameters: the lower triangle, column-major. Complexity O(rank x outputs x D).
  void add_covariance(const double* x, std::uint32_t columns, std::uint32_t outputs,
                      double* matrix) const noexcept;
  // values[m], x . theta of the posterior's draw m less its mean, becomes that of the averaged
  // answer. O(rank x (D + draws)).
  void add_draws(const double* x, double* values) const noexcept;

  void copy_from(const MemoryAverage& other) noexcept;
  void visit_state(StateVisitor& visitor) noexcept;

 private:
  const double* direction(std::uint32_t k) const noexcept {
    return directions_ + std::size_t{k} * dimension_;
  }
  const double* normals(std::uint32_t k) const noexcept {
    return normals_ + std::size_t{k} * draws_;
  }
  double along(const double* x, std::uint32_t k) const noexcept;

  std::uint32_t dimension_;
  std::uint32_t draws_;
  std::uint32_t most_;
  std::uint32_t rank_ = 0;
  double own_ = 1;
  double* shift_;
  double* directions_;  // dimension x rank: B
  double* normals_;     // draws x rank
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_POSTERIOR_MEMORY_AVERAGE_H_
