#include "windhover/runtime/window/ingest.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "windhover/runtime/window/packed_rows.h"

namespace windhover {

namespace {

template <class T>
T load(const std::byte* array, std::size_t i) noexcept {
  T value;
  std::memcpy(&value, array + i * sizeof(T), sizeof(T));
  return value;
}

double load_scalar(Scalar scalar, const std::byte* array, std::size_t i) noexcept {
  return scalar == Scalar::kFloat64 ? load<double>(array, i)
                                    : static_cast<double>(load<float>(array, i));
}

// Copies `count` values. Returns whether all of them are usable.
template <class T>
bool copy_finite(const std::byte* from, std::size_t count, double* to) noexcept {
  bool usable = true;
  for (std::size_t j = 0; j < count; ++j) {
    const double value = static_cast<double>(load<T>(from, j));
    usable &= std::abs(value) <= kLargestNumber;  // false for NaN
    to[j] = value;
  }
  return usable;
}

bool copy_scalars(Scalar scalar, const std::byte* array, std::size_t first, std::size_t count,
                  double* to) noexcept {
  return scalar == Scalar::kFloat64 ? copy_finite<double>(array + first * sizeof(double), count, to)
                                    : copy_finite<float>(array + first * sizeof(float), count, to);
}

}  // namespace

Status Ingest::check_shape(const ObservationBatch& batch) const noexcept {
  const RowLayout& layout = window_.layout();
  if (batch.first_row > batch.rows) return Status::kMalformed;
  if (batch.rows == 0) return Status::kOk;
  if (batch.features == nullptr && batch.feature_values > 0) return Status::kMalformed;
  if (batch.targets == nullptr) return Status::kMalformed;
  if (batch.offsets != nullptr && !layout.has_offset()) return Status::kOffsetNotTaken;
  if (batch.weights != nullptr && !layout.takes_weight()) return Status::kWeightNotTaken;
  if ((batch.trials != nullptr) != layout.has_trials()) {
    return layout.has_trials() ? Status::kTrialsMissing : Status::kTrialsNotTaken;
  }
  if (!layout.sparse()) {
    if (batch.indices != nullptr || batch.row_ends != nullptr) return Status::kMalformed;
    return batch.feature_values == batch.rows * layout.features() ? Status::kOk
                                                                  : Status::kWrongDimension;
  }
  if (batch.row_ends == nullptr || (batch.indices == nullptr && batch.feature_values > 0)) {
    return Status::kMalformed;
  }
  std::uint32_t previous = 0;
  for (std::size_t i = 0; i < batch.rows; ++i) {
    const auto end = load<std::uint32_t>(batch.row_ends, i);
    if (end < previous) return Status::kMalformed;
    previous = end;
  }
  return previous == batch.feature_values ? Status::kOk : Status::kMalformed;
}

Status Ingest::copy_dense(const ObservationBatch& batch, std::size_t i,
                          double* out) const noexcept {
  const RowLayout& layout = window_.layout();
  const std::size_t features = layout.features();
  if (!copy_scalars(batch.scalar, batch.features, i * features, features, out) &&
      !fill_missing(out)) {
    return Status::kNotFinite;
  }
  const double target = load_scalar(batch.scalar, batch.targets, i);
  if (!(std::abs(target) <= kLargestNumber)) return Status::kNotFinite;
  if (const Status status = model_->check_target(target); !ok(status)) return status;
  out[layout.target_index()] = target;
  std::fill(out + features + 1, out + layout.stride(), 0.0);
  return Status::kOk;
}

// Fills in missing features of a row that has unusable values. Returns whether all are usable now.
bool Ingest::fill_missing(double* row) const noexcept {
  if (!missing_.any()) return false;
  missing_.fill(row);
  const std::size_t features = window_.layout().features();
  return std::all_of(row, row + features, [](double x) { return std::abs(x) <= kLargestNumber; });
}

Status Ingest::copy_extras(const ObservationBatch& batch, std::size_t i,
                           double* out) const noexcept {
  const RowLayout& layout = window_.layout();
  if (layout.has_offset()) {
    out[layout.offset_index()] = batch.offsets != nullptr ? load<double>(batch.offsets, i) : 0.0;
  }
  if (layout.has_trials()) out[layout.trials_index()] = load<double>(batch.trials, i);
  if (layout.takes_weight()) {
    out[layout.given_weight_index()] =
        batch.weights != nullptr ? load<double>(batch.weights, i) : 1.0;
  }
  return check_extras(out);
}

Status Ingest::check_extras(const double* row) const noexcept {
  const RowLayout& layout = window_.layout();
  if (!(std::abs(layout.offset(row)) <= largest_offset_)) return Status::kOffsetOutOfRange;
  if (layout.has_trials()) {
    if (!is_number_of_trials(layout.trials(row))) return Status::kTrialsOutOfRange;
    if (row[layout.target_index()] > layout.trials(row)) return Status::kTargetOutOfDomain;
  }
  const double weight = layout.given_weight(row);
  const bool usable = weight >= kLeastWeight && weight <= kLargestWeight;  // false for NaN
  return usable ? Status::kOk : Status::kWeightOutOfRange;
}

Status Ingest::copy_sparse(const ObservationBatch& batch, std::size_t i,
                           double* out) const noexcept {
  const RowLayout& layout = window_.layout();
  const std::size_t begin = i == 0 ? 0 : load<std::uint32_t>(batch.row_ends, i - 1);
  const std::size_t count = load<std::uint32_t>(batch.row_ends, i) - begin;
  if (count > layout.max_nonzeros()) return Status::kTooManyNonzeros;
  auto* indices = reinterpret_cast<std::uint32_t*>(out + layout.indices_index());
  std::uint64_t smallest_allowed = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const auto index = load<std::uint32_t>(batch.indices, begin + k);
    if (index >= layout.features()) return Status::kIndexOutOfRange;
    if (index < smallest_allowed) return Status::kIndicesNotIncreasing;
    smallest_allowed = std::uint64_t{index} + 1;
    indices[k] = index;
  }
  if (!copy_scalars(batch.scalar, batch.features, begin, count, out + RowLayout::kValuesIndex)) {
    return Status::kNotFinite;
  }
  const double target = load_scalar(batch.scalar, batch.targets, i);
  if (!(std::abs(target) <= kLargestNumber)) return Status::kNotFinite;
  if (const Status status = model_->check_target(target); !ok(status)) return status;
  out[layout.target_index()] = target;
  out[RowLayout::kCountIndex] = static_cast<double>(count);
  return Status::kOk;
}

Status Ingest::check_values(const double* row) const noexcept {
  const RowLayout& layout = window_.layout();
  const double* values = layout.sparse() ? row + RowLayout::kValuesIndex : row;
  const std::size_t count = layout.sparse() ? SparseRow(layout, row).count : layout.features();
  const bool usable =
      std::all_of(values, values + count, [](double x) { return std::abs(x) <= kLargestNumber; });
  const double target = row[layout.target_index()];
  if (!usable || !(std::abs(target) <= kLargestNumber)) return Status::kNotFinite;
  if (const Status status = model_->check_target(target); !ok(status)) return status;
  return check_extras(row);
}

Status Ingest::copy_kept(const double* row, double target, double* out) const noexcept {
  std::copy_n(row, window_.layout().stride(), out);
  out[window_.layout().target_index()] = target;
  window_.layout().begin_learner_weight(out);
  return check_values(out);
}

void Ingest::count_refusal(Status reason) noexcept {
  switch (reason) {
    case Status::kNotFinite:
      return counters_.add(RuntimeCounter::kRowsRefusedNotFinite);
    case Status::kTargetOutOfDomain:
      return counters_.add(RuntimeCounter::kRowsRefusedTarget);
    case Status::kOffsetOutOfRange:
      return counters_.add(RuntimeCounter::kRowsRefusedOffset);
    case Status::kUnknownKey:
      return counters_.add(RuntimeCounter::kLabelsUnknown);
    case Status::kKeyTimedOut:
      return counters_.add(RuntimeCounter::kLabelsLate);
    case Status::kWeightOutOfRange:
      return counters_.add(RuntimeCounter::kRowsRefusedWeight);
    case Status::kTrialsOutOfRange:
      return counters_.add(RuntimeCounter::kRowsRefusedTrials);
    default:
      return counters_.add(RuntimeCounter::kRowsRefusedSparse);
  }
}

void Ingest::count_refusal(const ObservationBatch& batch, Status reason) noexcept {
  const std::uint64_t rows = batch.rows - batch.first_row;
  switch (reason) {
    case Status::kWrongDimension:
      return counters_.add(RuntimeCounter::kRowsRefusedDimension, rows);
    case Status::kOffsetNotTaken:
      return counters_.add(RuntimeCounter::kRowsRefusedOffset, rows);
    case Status::kWeightNotTaken:
      return counters_.add(RuntimeCounter::kRowsRefusedWeight, rows);
    case Status::kTrialsNotTaken:
    case Status::kTrialsMissing:
      return counters_.add(RuntimeCounter::kRowsRefusedTrials, rows);
    default:
      return counters_.add(RuntimeCounter::kBatchesRefused);
  }
}

void Ingest::refuse_row(ObserveResult& result, std::span<RefusedRow> refused, std::uint64_t row,
                        Status why) noexcept {
  if (result.refused < refused.size()) {
    refused[result.refused] = {static_cast<std::uint32_t>(row), why};
  }
  ++result.refused;
  count_refusal(why);
}

ObserveResult Ingest::observe(const ObservationBatch& batch,
                              std::span<RefusedRow> refused) noexcept {
  ObserveResult result;
  result.status = check_shape(batch);
  if (!ok(result.status)) {
    count_refusal(batch, result.status);
    return result;
  }
  const bool sparse = window_.layout().sparse();
  const auto copy = [&](std::uint64_t i, double* out) noexcept {
    const std::size_t row = batch.first_row + i;
    return sparse ? copy_sparse(batch, row, out) : copy_dense(batch, row, out);
  };
  const auto refuse = [&](std::uint64_t i, Status why) noexcept {
    refuse_row(result, refused, batch.first_row + i, why);
  };
  const std::uint64_t rows = batch.rows - batch.first_row;
  if (window_.layout().held_extras() == 0) {
    take_in(rows, result, copy, refuse);
    return result;
  }
  const auto copy_all = [&](std::uint64_t i, double* out) noexcept {
    const Status status = copy(i, out);
    if (!ok(status)) return status;
    const Status of_extras = copy_extras(batch, batch.first_row + i, out);
    window_.layout().begin_learner_weight(out);
    return of_extras;
  };
  take_in(rows, result, copy_all, refuse);
  return result;
}

ObserveResult Ingest::observe_packed(std::span<const std::byte> bytes,
                                     std::uint64_t rows) noexcept {
  const PackedRows packed(window_.layout());
  ObserveResult result;
  if (!packed.holds(bytes, rows)) {
    counters_.add(RuntimeCounter::kBatchesRefused);
    result.status = Status::kMalformed;
    return result;
  }
  take_in(
      rows, result,
      [&](std::uint64_t, double* out) noexcept {
        const Status status = packed.unpack(bytes, out);
        bytes = bytes.subspan(packed.first_row(bytes));
        return ok(status) ? check_values(out) : status;
      },
      [&](std::uint64_t i, Status why) noexcept { refuse_row(result, {}, i, why); });
  return result;
}

}  // namespace windhover
