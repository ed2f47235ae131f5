// How predictions of an adaptive horizon are moved and widened by memories beside the posterior's
// own.
#ifndef WINDHOVER_RUNTIME_POSTERIOR_MEMORY_AVERAGE_H_
#define WINDHOVER_RUNTIME_POSTERIOR_MEMORY_AVERAGE_H_

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"

namespace windhover {

// theta of an answer is that of the posterior plus `shift`, which leads to the average centre of
// several memories, plus B z, z standard normal, by which their centres differ (Bayesian model
// averaging: Hoeting et al. 1999). B has a column a memory, and may have one more, for how far a
// walking level may have gone. Without columns answers are the posterior's alone. Invariant: there
// are at most as many columns as memory was taken for. Memory (most + 1) D + most x draws doubles;
// most = 0: none.
class MemoryAverage {
 public:
  MemoryAverage(Arena& arena, std::uint32_t dimension, std::uint32_t draws,
                std::uint32_t most) noexcept;

  // ---- For the learner, which fills it.

  void clear() noexcept {
    rank_ = 0;
    own_ = 1;
  }
  // Sets the factor of the posterior's own variance of a linear predictor, to which B's is added.
  // REQUIRES: it is 1 unless the model has one linear predictor a row.
  void set_own(double share) noexcept { own_ = share; }
  // Adds a column: the caller fills in its direction, and z of each draw. REQUIRES: fewer columns
  // than the most.
  struct Column {
    double* direction;
    double* normals;
  };
  Column add() noexcept;
  double* shift() noexcept { return shift_; }
  // Brings this parameter to other units.
  void scale(std::uint32_t parameter, double by) noexcept;

  // ---- For readers. x: `dimension` numbers.

  bool any() const noexcept { return rank_ > 0; }
  double own() const noexcept { return own_; }  // set_own()
  // x . shift. O(D).
  double mean(const double* x) const noexcept;
  // Writes x^T B, and zeros up to the most columns there may be. O(rank x D).
  void along_all(const double* x, double* out) const noexcept;
  // x^T B B^T x. O(rank x D).
  double variance(const double* x) const noexcept;
  // The sd of x . theta, where it is `sd` without this average.
  double wider(double sd, const double* x) const noexcept {
    return any() ? std::hypot(std::sqrt(own_) * sd, std::sqrt(variance(x))) : sd;
  }
  // Adds B's covariance of the linear predictors x . theta_a, a < outputs, theta_a the a-th block
  // of `columns` parameters, to the lower triangle of `matrix` (column-major). O(rank x outputs x
  // D).
  void add_covariance(const double* x, std::uint32_t columns, std::uint32_t outputs,
                      double* matrix) const noexcept;
  // Turns values[m], x . (deviation of the posterior's draw m), into that of the averaged answer's
  // draw. O(rank x (D + draws)).
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
