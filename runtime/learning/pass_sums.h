// Two sets of anchor sums: of a pass that is complete, and of the one under way.
#ifndef WINDHOVER_RUNTIME_LEARNING_PASS_SUMS_H_
#define WINDHOVER_RUNTIME_LEARNING_PASS_SUMS_H_

#include <cstdint>
#include <utility>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/estimates/curvature.h"

namespace windhover {

// Invariant: done() is the last complete pass over the window, and the rows that joined since (the
// tail), less those taken out; without a window it is all rows. pass() is the pass under way,
// summed at a newer anchor; without a window done() as it was kept. One thread. Memory 2 D^2
// doubles.
class PassSums {
 public:
  PassSums(Arena& arena, std::uint32_t dimension, Response response, bool weighted, bool aged,
           bool moves) noexcept
      : pass_(arena, dimension, response, weighted, aged, moves),
        done_(arena, dimension, response, weighted, aged, moves) {}
  // Begins anew: neither has rows.
  void start_over(const double* anchor, double dispersion) noexcept {
    pass_.begin(anchor, dispersion);
    done_.begin(anchor, dispersion);
  }

  AnchorSums& pass() noexcept { return pass_; }
  const AnchorSums& pass() const noexcept { return pass_; }
  AnchorSums& done() noexcept { return done_; }
  const AnchorSums& done() const noexcept { return done_; }

  void end_pass() noexcept { std::swap(done_, pass_); }
  // Copies done() to pass(), and back.
  void keep() noexcept { pass_.copy_from(done_); }
  void restore() noexcept { done_.copy_from(pass_); }

  void visit_state(StateVisitor& visitor) noexcept {
    visitor.section("sums of the last pass", 3);
    done_.visit_state(visitor);
    visitor.section("sums of the pass under way", 3);
    pass_.visit_state(visitor);
  }

 private:
  AnchorSums pass_;
  AnchorSums done_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_PASS_SUMS_H_
