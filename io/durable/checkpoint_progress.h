#ifndef WINDHOVER_IO_DURABLE_CHECKPOINT_PROGRESS_H_
#define WINDHOVER_IO_DURABLE_CHECKPOINT_PROGRESS_H_

#include <atomic>
#include <cstdint>

#include "windhover/platform/status.h"

namespace windhover {

// How checkpoints go: what their thread tells the others. Numbers only rise.
struct CheckpointProgress {
  std::atomic<std::uint64_t> requested{0};  // how many were asked for,
  std::atomic<std::uint64_t> answered{0};   // and how many of these have been taken or have failed
  std::atomic<std::uint64_t> met{0};        // the last of these that a checkpoint was taken for
  std::atomic<std::uint64_t> taken{0};
  std::atomic<std::uint64_t> failures{0};
  // Rows of the newest checkpoint, when it was taken (the engine's clock), and how long it took.
  std::atomic<std::uint64_t> head{0};
  std::atomic<std::int64_t> taken_ns{0};
  std::atomic<std::int64_t> lasted_ns{0};
  // The state of the last attempt: kOk, or why there is no checkpoint, and the errno.
  std::atomic<Status> status{Status::kOk};
  std::atomic<int> error_number{0};

  bool is_answered(std::uint64_t request) const noexcept { return answered.load() >= request; }
  // REQUIRES: is_answered(). Whether a checkpoint begun after the request is there. `status` and
  // `failures` may be those of another one, before or behind it.
  bool is_met(std::uint64_t request) const noexcept { return met.load() >= request; }
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_CHECKPOINT_PROGRESS_H_
