// Do rows come in an order of their features, as those of time series and of sorted files do?
#ifndef WINDHOVER_RUNTIME_DIAGNOSTICS_ROW_ORDER_H_
#define WINDHOVER_RUNTIME_DIAGNOSTICS_ROW_ORDER_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/rows.h"

namespace windhover {

// Then the next rows lie where none was seen, and few rows do not tell whether what holds of those
// seen holds there, too.
//
// Takes the products of a feature's distances from its mean so far, a row's times that of the row
// before: their sum over the root of the sum of their squares is about a standard normal number
// where rows are in no order. By chance in_order() is true of one pass in 1,000. Sparse rows are
// not looked at. One thread. add() is O(features).
class RowOrder {
 public:
  static constexpr double kChance = 1e-3;
  // The order matters for fewer rows than this; of more nothing is asked, in order or not.
  static constexpr std::uint64_t kFewRows = 384;

  RowOrder(Arena& arena, const RowLayout& layout) noexcept;
  void reset() noexcept;

  void begin_pass() noexcept;
  void add(const RowBatch& rows) noexcept;
  // Ends the pass and decides.
  void conclude() noexcept;

  bool in_order() const noexcept { return in_order_; }

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  const RowLayout layout_;
  std::uint32_t features_;  // that are looked at
  double threshold_;
  bool in_order_ = false;
  std::uint64_t rows_ = 0;  // of the pass so far
  double* mean_;            // of the rows so far
  double* distance_;        // of the newest row from the mean of those before it
  double* sum_;
  double* squares_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_DIAGNOSTICS_ROW_ORDER_H_
