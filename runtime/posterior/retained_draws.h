// The draws that snapshots serve: deviations of past iterates from the centre of their own time, so
// that old draws can be placed around the present centre.
#ifndef WINDHOVER_RUNTIME_POSTERIOR_RETAINED_DRAWS_H_
#define WINDHOVER_RUNTIME_POSTERIOR_RETAINED_DRAWS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/random.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

// A ring of `draws` deviations in `dimension` parameters, each times the sqrt(n) of its own time,
// so that a growing n shrinks all of them alike. Invariant: the next draw to be replaced is the
// oldest. One thread.
class RetainedDraws {
 public:
  RetainedDraws(Arena& arena, std::uint32_t dimension, std::uint32_t draws,
                double temperature) noexcept
      : dimension_(dimension),
        draws_(draws),
        root_temperature_(std::sqrt(temperature)),
        deviations_(arena.allocate<double>(static_cast<std::size_t>(dimension) * draws).data()),
        scratch_(arena.allocate<double>(dimension).data()) {}

  void reset() noexcept {
    next_ = 0;
    std::fill_n(deviations_, static_cast<std::size_t>(dimension_) * draws_, 0.0);
  }

  // Fills the ring with draws from N(0, temperature A^-1), the same normals every time.
  void fill_gaussian(const Factor& curvature, std::uint64_t seed) noexcept {
    for (std::uint32_t m = 0; m < draws_; ++m) {
      gaussian_draw(curvature, seed, m, scratch_);
      put(m, scratch_);
    }
    next_ = 0;
  }

  // Writes draw number `index` from N(0, temperature A^-1). O(D^2).
  void gaussian_draw(const Factor& curvature, std::uint64_t seed, std::uint64_t index,
                     double* out) noexcept {
    windhover::fill_normals(seed, {index, 0, Purpose::kInitialDraw}, {out, dimension_});
    curvature.solve_root(out);
    for (std::uint32_t j = 0; j < dimension_; ++j) out[j] *= root_temperature_;
  }

  void retain(const double* theta, const double* centre, double n) noexcept {
    const double scale = std::sqrt(n);
    for (std::uint32_t j = 0; j < dimension_; ++j) scratch_[j] = scale * (theta[j] - centre[j]);
    put(next_, scratch_);
    next_ = (next_ + 1) % draws_;
  }

  // Moves all draws from N(0, T before^-1) to N(0, T after^-1), whatever T. O(draws x D^2).
  void transport(const Factor& before, const Factor& after, Interlude* interlude) noexcept {
    before.colour(deviations_, draws_, interlude);
    after.solve_root(deviations_, draws_, interlude);
  }

  // The sum of the squared deviations of all draws in one parameter, for this n.
  double squares(std::size_t parameter, double n) const noexcept {
    return ConstVectorMap(deviations_ + parameter * draws_, draws_).squaredNorm() / n;
  }
  std::uint32_t count() const noexcept { return draws_; }

  // Copies the deviations for this n: draws x dimension, column-major.
  void copy_to(double* out, double n) const noexcept {
    const double scale = 1.0 / std::sqrt(n);
    for (std::size_t i = 0; i < static_cast<std::size_t>(dimension_) * draws_; ++i) {
      out[i] = scale * deviations_[i];
    }
  }

  void visit_state(StateVisitor& visitor) noexcept {
    visitor.value(next_);
    visitor.visit(deviations_, static_cast<std::size_t>(dimension_) * draws_);
  }

 private:
  void put(std::uint32_t draw, const double* deviation) noexcept {
    for (std::uint32_t j = 0; j < dimension_; ++j) {
      deviations_[static_cast<std::size_t>(j) * draws_ + draw] = deviation[j];
    }
  }

  std::uint32_t dimension_;
  std::uint32_t draws_;
  double root_temperature_;
  std::uint32_t next_ = 0;
  double* deviations_;
  double* scratch_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_POSTERIOR_RETAINED_DRAWS_H_
