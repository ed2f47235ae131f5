// Where in a series its mean most likely changed.
#ifndef WINDHOVER_RUNTIME_DIAGNOSTICS_CHANGE_POINT_H_
#define WINDHOVER_RUNTIME_DIAGNOSTICS_CHANGE_POINT_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "windhover/platform/state_visitor.h"

namespace windhover {

// The split of a series x_1 .. x_n that a least squares fit of two means would choose: the k with
// the largest |S_k - (k / n) S_n| / sqrt(k (n - k)), S_k = x_1 + ... + x_k (Hinkley 1970; for
// normal numbers of equal variance it is the most likely one). There is such a k also where nothing
// changed; Split::contrast tells. The error of k does not grow with n: it is some (sd / change)^2
// numbers.
//
// Cumulative sums are kept at fewer than kMost places: when there are as many, every other one is
// dropped, so that k is exact to n / (kMost / 2). Memory 8 kMost bytes; add() is O(1). One thread.
class ChangePoint {
 public:
  static constexpr std::size_t kMost = 512;

  void begin() noexcept;
  void add(double x) noexcept;
  std::uint64_t count() const noexcept { return count_; }
  struct Split {
    std::uint64_t before = 0;  // numbers before the change, 1 to n - 1; 0: n is less than two
    // How far the two means are apart, in standard deviations of that difference, by the scatter of
    // some 32 to 64 stretches of the series about them: numbers may depend on one another within a
    // stretch. 0 with fewer than three stretches.
    double contrast = 0;
  };
  Split split() const noexcept;  // O(kMost)

  void visit_state(StateVisitor& visitor) noexcept {
    visitor.values(count_, width_, places_);
    visitor.value(sum_);
    visitor.visit(sums_.data(), kMost);
  }

 private:
  double variance(std::uint64_t before) const noexcept;

  std::array<double, kMost> sums_{};  // of the first (i + 1) width_ numbers
  std::uint64_t places_ = 0;
  std::uint64_t width_ = 1;
  std::uint64_t count_ = 0;
  double sum_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_DIAGNOSTICS_CHANGE_POINT_H_
