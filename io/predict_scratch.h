// The arrays of one Predict or Outcome, aligned and as doubles.
#ifndef WINDHOVER_IO_PREDICT_SCRATCH_H_
#define WINDHOVER_IO_PREDICT_SCRATCH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "windhover/io/messages.h"
#include "windhover/io/server_state.h"
#include "windhover/platform/arena.h"

namespace windhover {

// Arrays in a frame have any alignment; here they are copied. There is room for all that a frame
// can hold. One thread.
class PredictScratch {
 public:
  // Takes memory, writes nothing but itself.
  PredictScratch(Arena& arena, const Limits& limits) noexcept;

  // Before use.
  void reset() noexcept;

  // What is loaded stays until the next load().
  PredictRequest load(const PredictQuery& query) noexcept;
  OutcomeBatch load(const OutcomeQuery& query) noexcept;
  // Loads the keys alone, of a question that has been loaded and whose frame has moved.
  std::span<const std::string_view> load_keys(const PredictQuery& query) noexcept;

  // REQUIRES: rows <= Limits::max_query_rows.
  std::span<PredictiveSummary> summaries(std::size_t rows) noexcept {
    return summaries_.first(rows);
  }

 private:
  std::span<const double> to_doubles(const PackedArray& array, Scalar scalar) noexcept;
  std::span<const std::uint32_t> to_integers(const PackedArray& array) noexcept;
  std::span<const std::string_view> to_texts(const KeyList& keys, int field) noexcept;

  std::span<double> doubles_;
  std::span<std::string_view> keys_;
  std::span<std::uint32_t> integers_;
  std::span<PredictiveSummary> summaries_;
  std::size_t doubles_used_ = 0;
  std::size_t integers_used_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_PREDICT_SCRATCH_H_
