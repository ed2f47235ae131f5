// Rows on their way into the window, in the caller's memory.
#ifndef WINDHOVER_RUNTIME_OBSERVATION_H_
#define WINDHOVER_RUNTIME_OBSERVATION_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "windhover/platform/status.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// The largest number in a row. Beyond it products of four scores, each a residual times a feature,
// cannot be summed in a double.
inline constexpr double kLargestNumber = 1e35;
// The largest offset: the same for a number; beyond 100 an offset of a logarithm or of log-odds is
// taken for a mistake.
inline double largest_offset(Response response) noexcept {
  const bool number = is_number(response) && response != Response::kLogNormal;
  return number ? kLargestNumber : 100.0;
}

// The outcomes of rows that were asked about with a key. What spans point to must last for the
// call.
struct OutcomeBatch {
  std::span<const std::string_view> keys;
  std::span<const double> targets;  // one a key
};

// Weights lie between these. A row that is to count for nothing must not be sent.
inline constexpr double kLeastWeight = 1e-6;
inline constexpr double kLargestWeight = 1e6;

// Trials of a binomial model: a whole number up to this one.
inline constexpr double kMostTrials = 1e9;
inline bool is_number_of_trials(double n) noexcept {
  return n >= 1 && n <= kMostTrials && n == std::floor(n);  // false for NaN
}

enum class Scalar : std::uint8_t { kFloat32, kFloat64 };

// `rows` observations, in arrays that must last for the call. All arrays are little-endian and may
// have any alignment, so that they can point straight into a received frame.
// Dense:  `features` holds rows x features values, row after row; `indices` is null.
// Sparse: `features` holds `feature_values` values, `indices` as many uint32 (strictly increasing
//         within a row, below the number of features), `row_ends` one uint32 a row: where it ends.
struct ObservationBatch {
  std::size_t rows = 0;
  std::size_t first_row = 0;         // rows before it are skipped (a sender's duplicates)
  Scalar scalar = Scalar::kFloat64;  // of features and targets
  const std::byte* features = nullptr;
  const std::byte* targets = nullptr;  // one a row
  std::size_t feature_values = 0;  // how many values `features` holds; checked against the shape
  const std::byte* indices = nullptr;
  const std::byte* row_ends = nullptr;
  const std::byte* offsets = nullptr;  // a double a row, of a model that has them; null: all 0
  const std::byte* weights = nullptr;  // likewise; null: all 1
  // A double a row, of a binomial model alone, which needs them (kTrialsMissing): the number of
  // trials.
  const std::byte* trials = nullptr;
};

struct RefusedRow {
  std::uint32_t row = 0;  // index within the batch
  Status reason = Status::kOk;
};

struct ObserveResult {
  // kOk: every row from first_row on was accepted or refused by itself. kWindowFull: no row was
  // taken, try again later. kWrongDimension, kMalformed, kTooLarge, kOffsetNotTaken,
  // kWeightNotTaken, kTrialsNotTaken, kTrialsMissing: the batch as a whole is wrong, and no row was
  // taken.
  Status status = Status::kOk;
  std::size_t accepted = 0;
  std::size_t refused = 0;
  std::size_t duplicate = 0;  // only for outcomes: keys that had been joined already
  // Only for LateLabels::settle(): keys whose time was up.
  std::size_t timed_out = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_OBSERVATION_H_
