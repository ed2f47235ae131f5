// When rows came, roughly.
#ifndef WINDHOVER_RUNTIME_WINDOW_ROW_TIMES_H_
#define WINDHOVER_RUNTIME_WINDOW_ROW_TIMES_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/config.h"

namespace windhover {

// For every 1/128 of the rows in memory a mark says when the learner had taken in so many, twice as
// far back as memory goes. Between two marks rows are taken to have come evenly.
//
// Invariant: rows and, while the clock is not set back, times grow from mark to mark. One thread:
// the learner's. 4 KB.
class RowTimes {
 public:
  explicit RowTimes(const EngineConfig& config) noexcept
      : every_(std::max<std::uint64_t>(1, rows_in_memory(config) / kInMemory)) {}
  void reset() noexcept { count_ = next_ = 0; }

  // Whether it is time for another mark. O(1).
  bool due(std::uint64_t head) const noexcept {
    return count_ == 0 || head >= newest().row + every_;
  }
  // Notes that now, `time_ns` since 1970, the learner has `head` rows. REQUIRES: no fewer than
  // before.
  void note(std::uint64_t head, std::int64_t time_ns) noexcept {
    marks_[next_] = {head, time_ns};
    next_ = (next_ + 1) % kMarks;
    count_ = std::min(count_ + 1, kMarks);
  }

  // When row `row` was taken in, to 1/128 of the rows in memory; 0: not known. O(kMarks).
  std::int64_t time_of(std::uint64_t row) const noexcept {
    if (count_ == 0 || row < oldest().row) return 0;
    Mark below = oldest();
    for (std::uint32_t i = 1; i < count_; ++i) {
      const Mark& above = at(i);
      if (above.row > row) {
        const double share =
            static_cast<double>(row - below.row) / static_cast<double>(above.row - below.row);
        return below.time_ns + static_cast<std::int64_t>(
                                   share * static_cast<double>(above.time_ns - below.time_ns));
      }
      below = above;
    }
    return below.time_ns;
  }

  void visit_state(StateVisitor& visitor) noexcept {
    visitor.section("times of rows", 1);
    visitor.values(count_, next_);
    count_ = std::min(count_, kMarks);
    next_ %= kMarks;
    for (std::uint32_t i = 0; i < count_; ++i) visitor.values(at(i).row, at(i).time_ns);
  }

 private:
  static constexpr std::uint64_t kInMemory = 128;
  static constexpr std::uint32_t kMarks = 2 * kInMemory;

  struct Mark {
    std::uint64_t row = 0;
    std::int64_t time_ns = 0;
  };
  Mark& at(std::uint32_t i) noexcept { return marks_[(next_ + kMarks - count_ + i) % kMarks]; }
  const Mark& at(std::uint32_t i) const noexcept {
    return marks_[(next_ + kMarks - count_ + i) % kMarks];
  }
  const Mark& oldest() const noexcept { return at(0); }
  const Mark& newest() const noexcept { return at(count_ - 1); }

  const std::uint64_t every_;
  std::uint32_t count_ = 0;
  std::uint32_t next_ = 0;
  std::array<Mark, kMarks> marks_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_WINDOW_ROW_TIMES_H_
