#ifndef WINDHOVER_IO_DURABLE_CHECKPOINT_PROGRESS_H_
#define WINDHOVER_IO_DURABLE_CHECKPOINT_PROGRESS_H_

#include <atomic>
#include <cstdint>

#include "windhover/platform/status.h"

namespace windhover {

// The progress of checkpoints. Written by their thread, except `requested`; read by any. Counts
// only rise.
struct CheckpointProgress {
  std::atomic<std::uint64_t> requested{0};  // requests so far,
  std::atomic<std::uint64_t> answered{0};   // those of them for which one was taken or has failed,
  std::atomic<std::uint64_t> met{0};        // and the last of them for which one was taken
  std::atomic<std::uint64_t> taken{0};
  std::atomic<std::uint64_t> failures{0};
  // Rows of the newest checkpoint, when it was taken (engine's clock; 0: before this start), and
  // how long it took.
  std::atomic<std::uint64_t> head{0};
  std::atomic<std::int64_t> taken_ns{0};
  std::atomic<std::int64_t> lasted_ns{0};
  // The result of the last attempt: kOk, or why there is no checkpoint, and the errno.
  std::atomic<Status> status{Status::kOk};
  std::atomic<int> error_number{0};

  bool is_answered(std::uint64_t request) const noexcept { return answered.load() >= request; }
  // Whether a checkpoint was taken that began after the request. `status` and `failures` may be
  // those of another one, earlier or later. REQUIRES: is_answered().
  bool is_met(std::uint64_t request) const noexcept { return met.load() >= request; }
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_CHECKPOINT_PROGRESS_H_
