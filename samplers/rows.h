// How observations lie in the window, and how a minibatch names some of them.
#ifndef WINDHOVER_SAMPLERS_ROWS_H_
#define WINDHOVER_SAMPLERS_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "windhover/samplers/config.h"

namespace windhover {

// One row is `stride` doubles.
//   dense:  features x_0 .. x_{F-1}, target, extras, zeros up to a multiple of 4 (so that kernels
//           need no tail: whatever they multiply there is 0)
//   sparse: target, count (both doubles), max_nonzeros values, max_nonzeros uint32 indices, extras
// Extras are what the model's configuration asks for, in this order. First the offset, a known
// addend of the row's linear predictor in units of its own y (for counts the log of the exposure),
// or, for a binomial model, which takes no offset, the number of trials. Then the weight that the
// row is sent with. Last the learner's weight, where the learner may give a row less than that; it
// replaces the weight, and is no part of a row as it is sent, logged or followed.
class RowLayout {
 public:
  RowLayout() = default;
  explicit RowLayout(const ModelConfig& config)
      : features_(config.features),
        max_nonzeros_(config.max_nonzeros),
        has_offset_(config.offset),
        has_trials_(config.has_trials()),
        takes_weight_(config.weight),
        has_learner_weight_(config.learner_weight) {
    stride_ = round_up(extras_index() + held_extras());
  }

  bool sparse() const { return max_nonzeros_ > 0; }
  std::uint32_t features() const { return features_; }
  std::uint32_t max_nonzeros() const { return max_nonzeros_; }
  std::size_t stride() const { return stride_; }

  // Where the target stands in a row.
  std::size_t target_index() const { return sparse() ? 0 : features_; }
  static constexpr std::size_t kCountIndex = 1;
  static constexpr std::size_t kValuesIndex = 2;
  std::size_t indices_index() const { return kValuesIndex + max_nonzeros_; }
  // How many extras rows are sent with, how many they hold, and where the first one stands.
  std::size_t extras() const { return before_weight() + std::size_t{takes_weight_}; }
  std::size_t held_extras() const { return extras() + std::size_t{has_learner_weight_}; }
  std::size_t extras_index() const {
    return sparse() ? indices_index() + (max_nonzeros_ + 1) / 2 : features_ + 1;
  }
  bool has_offset() const { return has_offset_; }
  std::size_t offset_index() const { return extras_index(); }
  double offset(const double* row) const { return has_offset() ? row[offset_index()] : 0.0; }
  bool has_trials() const { return has_trials_; }
  std::size_t trials_index() const { return extras_index(); }
  double trials(const double* row) const { return has_trials() ? row[trials_index()] : 1.0; }
  // The weight that rows are sent with.
  bool takes_weight() const { return takes_weight_; }
  std::size_t given_weight_index() const { return extras_index() + before_weight(); }
  double given_weight(const double* row) const {
    return takes_weight() ? row[given_weight_index()] : 1.0;
  }
  bool has_learner_weight() const { return has_learner_weight_; }
  // A row that has not been judged yet gets the weight it came with as its learner's weight.
  void begin_learner_weight(double* row) const {
    if (has_learner_weight_) row[weight_index()] = given_weight(row);
  }
  // The weight that a row has for the learner: the learner's own, where there is one.
  bool has_weight() const { return takes_weight_ || has_learner_weight_; }
  std::size_t weight_index() const {
    return has_learner_weight_ ? extras_index() + extras() : given_weight_index();
  }
  double weight(const double* row) const { return has_weight() ? row[weight_index()] : 1.0; }

 private:
  static std::size_t round_up(std::size_t n) { return (n + 3) / 4 * 4; }
  std::size_t before_weight() const { return has_offset_ || has_trials_ ? 1 : 0; }

  std::uint32_t features_ = 0;
  std::uint32_t max_nonzeros_ = 0;
  bool has_offset_ = false;
  bool has_trials_ = false;
  bool takes_weight_ = false;
  bool has_learner_weight_ = false;
  std::size_t stride_ = 0;
};

// Some rows of the window, by slot; a slot may occur more than once. Borrowed.
struct RowBatch {
  const double* base = nullptr;  // slot 0
  const std::uint32_t* slots = nullptr;
  std::size_t count = 0;
  std::size_t following = 0;  // slots after these, of rows that are wanted next: a hint

  RowBatch part(std::size_t first, std::size_t n) const {
    return {base, slots + first, n, count + following - first - n};
  }
};

// One sparse row, looked at in place.
struct SparseRow {
  SparseRow(const RowLayout& layout, const double* row)
      : target(row[0]),
        count(static_cast<std::size_t>(row[RowLayout::kCountIndex])),
        values(row + RowLayout::kValuesIndex),
        indices(reinterpret_cast<const std::uint32_t*>(row + layout.indices_index())) {}

  double target;
  std::size_t count;
  const double* values;
  const std::uint32_t* indices;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROWS_H_
