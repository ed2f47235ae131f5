// What rows that fade are worth together.
#ifndef WINDHOVER_RUNTIME_LEARNING_FADING_ROWS_H_
#define WINDHOVER_RUNTIME_LEARNING_FADING_ROWS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "windhover/platform/state_visitor.h"

namespace windhover {

// Rows count 1 when they come and then exp(-2 age / memory), about. W is the sum of what they count
// and W2 that of its squares: they are as good as W^2 / W2 rows that count the same (Kish 1965,
// effective sample size), which tends to `memory`.
//
// Invariant: W and W2 are of the same rows, so W2 <= W.
class FadingRows {
 public:
  explicit FadingRows(std::uint64_t memory) noexcept : memory_(memory) {}

  std::uint64_t memory() const noexcept { return memory_; }

  void reset() noexcept { sum_ = squares_ = 0; }
  // Begins with so many rows, each counting 1.
  void start(std::uint64_t rows) noexcept { sum_ = squares_ = static_cast<double>(rows); }
  // Adds so many rows. Returns the factor by which all rows before them count less from now on.
  double add(std::size_t rows) noexcept {
    const auto more = static_cast<double>(rows);
    const double keep = std::pow(1 - std::min(2 / static_cast<double>(memory_), 0.5), more);
    sum_ = keep * sum_ + more;
    squares_ = keep * keep * squares_ + more;
    return keep;
  }

  double sum() const noexcept { return sum_; }  // W
  // How many equal rows all of them are worth: W^2 / W2.
  double worth() const noexcept { return squares_ > 0 ? sum_ * sum_ / squares_ : 0.0; }
  // The factor that makes the rows' counts add up to worth(): W / W2.
  double as_many() const noexcept { return squares_ > 0 ? sum_ / squares_ : 1.0; }

  void visit_state(StateVisitor& visitor) noexcept { visitor.values(sum_, squares_); }

 private:
  std::uint64_t memory_;
  double sum_ = 0;
  double squares_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_FADING_ROWS_H_
