// What may happen between the pieces of a long computation, so that nothing waits for the whole.
#ifndef WINDHOVER_SAMPLERS_LINEAR_ALGEBRA_INTERLUDE_H_
#define WINDHOVER_SAMPLERS_LINEAR_ALGEBRA_INTERLUDE_H_

#include "windhover/platform/state_visitor.h"

namespace windhover {

// The computation says what it has done, in products of two numbers: where it stops for a while
// depends on that alone, never on a clock. One thread.
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

  // What came in between was long enough: the next piece begins now.
  void restart() noexcept { products_ = 0; }

  void visit_state(StateVisitor& visitor) noexcept { visitor.value(products_); }

 private:
  Run run_;
  void* context_;
  double most_;
  double products_ = 0;
};

// A number that only goes through memory counts for so many products, in order and out of it.
inline constexpr double kProductsANumber = 16;
inline constexpr double kScatteredNumber = 64;
// What a number of a matrix counts for that a product with one vector reads once, from beyond the
// caches.
inline constexpr double kSweptNumber = 6;

// `interlude` is null for a computation that need not be interrupted.
inline void advance(Interlude* interlude, double products) noexcept {
  if (interlude != nullptr) interlude->add(products);
}

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_LINEAR_ALGEBRA_INTERLUDE_H_
