// Which rows of the window the learner stands on, and what they count for.
#ifndef WINDHOVER_RUNTIME_WINDOW_WINDOW_CURSOR_H_
#define WINDHOVER_RUNTIME_WINDOW_WINDOW_CURSOR_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "windhover/runtime/window/age_weights.h"
#include "windhover/runtime/window/window.h"

namespace windhover {

// Invariant: the rows [first(), head()) are readable, because the lease stands at head(). One
// thread: the learner's.
class WindowCursor {
 public:
  explicit WindowCursor(Window& window, const AgeWeights& ages = {}) noexcept : window_(window) {
    weigh_by(ages);
  }

  std::uint64_t head() const noexcept { return head_; }
  std::uint64_t first() const noexcept { return first_at(head_); }
  // The first row of the window once `head` has been taken.
  std::uint64_t first_at(std::uint64_t head) const noexcept {
    return head > size_ ? head - size_ : 0;
  }
  std::uint64_t rows() const noexcept { return head_ - first(); }
  const AgeWeights& ages() const noexcept { return ages_; }
  // How many equal rows the posterior of rows() stands on: rows(), where all count the same.
  double worth() const noexcept { return worth_; }
  std::uint64_t worth_rows() const noexcept {
    return ages_.flat() ? rows() : static_cast<std::uint64_t>(std::lround(worth_));
  }
  // The first readable row, also where the posterior looks at fewer than the N newest.
  std::uint64_t oldest() const noexcept {
    return head_ > window_.size() ? head_ - window_.size() : 0;
  }
  // How many rows came with the newest advance().
  std::uint64_t fresh() const noexcept { return fresh_; }
  // How many rows the writer has published.
  std::uint64_t published() const noexcept { return window_.head(); }
  std::uint64_t slack() const noexcept { return window_.capacity() - window_.size(); }
  // From now on rows count by these ages; sums over rows that were made before are not theirs.
  void weigh_by(const AgeWeights& ages) noexcept {
    ages_ = ages;
    size_ = std::min(window_.size(), ages.rows());
    weigh();
  }

  // Goes on to `head`, which may be where it is. Rows that N newer ones follow are given up.
  // REQUIRES: nobody needs them any more.
  void advance(std::uint64_t head) noexcept {
    fresh_ = head - head_;
    if (fresh_ == 0) return;
    head_ = head;
    weigh();
    window_.advance_lease(head);
  }

  // Leaves out fresh(), which belongs to a round, and the ages, whose owner shows them.
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.value(head_);
    weigh();
  }

  // Sets the learner's weight of a readable row, between rounds.
  void set_learner_weight(std::uint64_t sequence, double weight) noexcept {
    window_.set_learner_weight(sequence, weight);
  }

  const double* row(std::uint64_t sequence) const noexcept { return window_.slot_of(sequence); }
  const double* rows_in_place() const noexcept { return window_.rows(); }
  const RowLayout& layout() const noexcept { return window_.layout(); }
  std::uint64_t capacity() const noexcept { return window_.capacity(); }

  // The rows [first, last) in the order of the stream. `indices` has room for so many numbers, and
  // is part of the result.
  RowBatch between(std::uint64_t first, std::uint64_t last,
                   std::span<std::uint32_t> indices) const noexcept {
    const std::uint64_t capacity = window_.capacity();
    std::uint64_t slot = first % capacity;
    for (std::uint64_t i = 0; i < last - first; ++i) {
      indices[i] = static_cast<std::uint32_t>(slot);
      if (++slot == capacity) slot = 0;
    }
    return {window_.rows(), indices.data(), static_cast<std::size_t>(last - first)};
  }

 private:
  void weigh() noexcept { worth_ = ages_.worth(first(), head_); }

  Window& window_;
  AgeWeights ages_;
  std::uint64_t size_ = 0;
  double worth_ = 0;
  std::uint64_t head_ = 0;
  std::uint64_t fresh_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_WINDOW_WINDOW_CURSOR_H_
