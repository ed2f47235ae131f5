// Whether rows come in an order of their features, as those of time series and of sorted files do.
#ifndef WINDHOVER_RUNTIME_DIAGNOSTICS_ROW_ORDER_H_
#define WINDHOVER_RUNTIME_DIAGNOSTICS_ROW_ORDER_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/rows.h"

namespace windhover {

// In an order the next rows lie where none was seen, and few rows do not tell whether the model
// holds there, too.
//
// The statistic of a feature is the sum of the products of a row's distance from the feature's mean
// so far and that of the row before, over the root of the sum of their squares: about a standard
// normal number where rows are in no order. By chance in_order() is true after one pass in 1,000.
// Sparse rows are not looked at. One thread. add() is O(features) a row.
class RowOrder {
 public:
  static constexpr double kChance = 1e-3;
  // The order matters for fewer rows than this.
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
  std::uint32_t features_;  // how many are looked at
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
