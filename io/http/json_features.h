#ifndef WINDHOVER_IO_HTTP_JSON_FEATURES_H_
#define WINDHOVER_IO_HTTP_JSON_FEATURES_H_

#include <algorithm>
#include <cstddef>

namespace windhover {

// The features of the rows of an Observe or a Predict, from whichever of the two arrays has them.
// REQUIRES, except for name(), count() and sparse(): its arrays do not contradict each other.
template <class Rows>
struct Features {
  explicit Features(const Rows& rows) : of(rows) {}
  const char* name() const { return of.features_f32_size() > 0 ? "features_f32" : "features_f64"; }
  std::size_t count() const {
    return static_cast<std::size_t>(of.features_f32_size() + of.features_f64_size());
  }
  double operator[](std::size_t i) const {
    const auto at = static_cast<int>(i);
    return of.features_f32_size() > 0 ? double{of.features_f32(at)} : of.features_f64(at);
  }
  bool sparse() const { return of.row_ends_size() > 0; }
  std::size_t begin_of(std::size_t row) const {
    if (!sparse()) return of.rows() > 0 ? row * (count() / of.rows()) : 0;
    return row == 0 ? 0 : std::min<std::size_t>(of.row_ends(static_cast<int>(row) - 1), count());
  }
  std::size_t end_of(std::size_t row) const { return begin_of(row + 1); }
  std::size_t column(std::size_t row, std::size_t i) const {
    return sparse() ? of.indices(static_cast<int>(i)) : i - begin_of(row);
  }
  const Rows& of;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_JSON_FEATURES_H_
