// What runs between the pieces of a long computation, so that nothing waits for the whole.
#ifndef WINDHOVER_SAMPLERS_LINEAR_ALGEBRA_INTERLUDE_H_
#define WINDHOVER_SAMPLERS_LINEAR_ALGEBRA_INTERLUDE_H_

#include "windhover/platform/state_visitor.h"

namespace windhover {

// The computation reports its work as a number of multiplications. Where it pauses depends on that
// number alone, never on a clock. One thread.
class Interlude {
 public:
  using Run = void (*)(void* context) noexcept;
  static constexpr double kMost = 6e6;  // some 0.4 ms
  // `run` must leave alone what the computation reads and writes.
  Interlude(Run run, void* context, double most = kMost) noexcept
      : run_(run), context_(context), most_(most) {}

  void add(double products) noexcept {
    products_ += products;
    if (products_ < most_) return;
    products_ = 0;
    run_(context_);
  }

  // What ran in between was long enough: the next piece begins now.
  void restart() noexcept { products_ = 0; }

  void visit_state(StateVisitor& visitor) noexcept { visitor.value(products_); }

 private:
  Run run_;
  void* context_;
  double most_;
  double products_ = 0;
};

// How many multiplications a number counts for that only goes through memory: in order, and
// scattered.
inline constexpr double kProductsANumber = 16;
inline constexpr double kScatteredNumber = 64;
// The same for a number of a matrix that a product with one vector reads once, from beyond the
// caches.
inline constexpr double kSweptNumber = 6;

// `interlude` is null for a computation that need not be interrupted.
inline void advance(Interlude* interlude, double products) noexcept {
  if (interlude != nullptr) interlude->add(products);
}

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_LINEAR_ALGEBRA_INTERLUDE_H_
