// Takes rows into the window: checks and copies each, and publishes once a batch.
#ifndef WINDHOVER_RUNTIME_WINDOW_INGEST_H_
#define WINDHOVER_RUNTIME_WINDOW_INGEST_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/counters.h"
#include "windhover/runtime/counter_ids.h"
#include "windhover/runtime/missing_features.h"
#include "windhover/runtime/observation.h"
#include "windhover/runtime/window/window.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// The observe thread's half of the engine. Invariant: each row of a batch is accepted, or refused
// and counted, unless the whole batch is. One thread at a time.
class Ingest {
 public:
  Ingest(Window& window, const Model* model, std::uint32_t max_frame_rows, MissingFeatures missing,
         Counters<RuntimeCounter>& counters) noexcept
      : window_(window),
        model_(model),
        max_frame_rows_(max_frame_rows),
        missing_(missing),
        largest_offset_(largest_offset(model == nullptr ? Response::kGaussian : model->response())),
        counters_(counters) {}

  // See Engine::observe.
  ObserveResult observe(const ObservationBatch& batch, std::span<RefusedRow> refused) noexcept;
  // See Engine::observe_packed.
  ObserveResult observe_packed(std::span<const std::byte> bytes, std::uint64_t rows) noexcept;

  std::uint64_t max_frame_rows() const noexcept { return max_frame_rows_; }

  // ---- For rows that were kept until their outcome came (LateLabels).

  // Takes in `rows` rows, each by copy(i, slot), which returns kOk or why the row is not taken;
  // then refuse(i, why) counts it.
  template <class Copy, class Refuse>
  void take_in(std::uint64_t rows, ObserveResult& result, Copy&& copy, Refuse&& refuse) noexcept;
  // Copies a kept row into `out`, its slot of the window.
  Status copy_kept(const double* row, double target, double* out) const noexcept;
  // Counts a row that is not taken, and lists it where there is room.
  void refuse_row(ObserveResult& result, std::span<RefusedRow> refused, std::uint64_t row,
                  Status why) noexcept;

 private:
  Status check_shape(const ObservationBatch& batch) const noexcept;
  // Writes row `i` of the batch into `out`; anything but kOk refuses the row.
  Status copy_dense(const ObservationBatch& batch, std::size_t i, double* out) const noexcept;
  Status copy_sparse(const ObservationBatch& batch, std::size_t i, double* out) const noexcept;
  bool fill_missing(double* row) const noexcept;
  // Copies and checks the extras of row `i`.
  Status copy_extras(const ObservationBatch& batch, std::size_t i, double* out) const noexcept;
  Status check_extras(const double* row) const noexcept;
  // Checks a row that is in its slot.
  Status check_values(const double* row) const noexcept;
  void count_refusal(Status reason) noexcept;                                 // of a row
  void count_refusal(const ObservationBatch& batch, Status reason) noexcept;  // of all

  Window& window_;
  const Model* model_;
  std::uint32_t max_frame_rows_;
  MissingFeatures missing_;
  double largest_offset_;
  Counters<RuntimeCounter>& counters_;
};

template <class Copy, class Refuse>
void Ingest::take_in(std::uint64_t rows, ObserveResult& result, Copy&& copy,
                     Refuse&& refuse) noexcept {
  const std::uint64_t head = window_.head();
  if (rows > max_frame_rows_) {
    counters_.add(RuntimeCounter::kBatchesRefused);
    result.status = Status::kTooLarge;
    return;
  }
  if (window_.room(head, rows) < rows) {
    counters_.add(RuntimeCounter::kWindowFull);
    result.status = Status::kWindowFull;
    return;
  }
  std::uint64_t next = head;
  for (std::uint64_t i = 0; i < rows; ++i) {
    const Status status = copy(i, window_.slot_of(next));
    if (ok(status)) {
      ++next;
      continue;
    }
    refuse(i, status);
  }
  result.accepted = next - head;
  if (result.accepted > 0) {
    window_.publish(next);
    counters_.add(RuntimeCounter::kRowsAccepted, result.accepted);
  }
}

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_WINDOW_INGEST_H_
