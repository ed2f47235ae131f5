// A few tasks at a time, shared out between one leader and whoever helps.
#ifndef WINDHOVER_PLATFORM_FORK_JOIN_H_
#define WINDHOVER_PLATFORM_FORK_JOIN_H_

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "windhover/platform/cpu.h"

namespace windhover {

// The leader calls run() on its thread, helpers call help() on theirs. Each task is done once.
// Where nobody helps the leader does all; it waits only for what a helper has begun. A task costs
// one atomic operation, two when a helper does it. No heap, no locks.
class ForkJoin {
 public:
  // `worker` is 0 on the leader's thread, and on a helper's what it gave to help(). The leader sees
  // after run() what tasks wrote; a task sees what the leader wrote before run().
  using Task = void (*)(void* context, int task, int worker) noexcept;

  static constexpr int kMostTasks = (1 << 12) - 1;

  ForkJoin(Task task, void* context) noexcept : task_(task), context_(context) {}
  ForkJoin(const ForkJoin&) = delete;

  // Runs tasks 0 to count - 1, begun in this order; returns when all are done. REQUIRES: count at
  // most kMostTasks.
  void run(int count) noexcept {
    const auto tasks = static_cast<std::uint64_t>(count);
    done_.store(0, std::memory_order_relaxed);
    const std::uint64_t turn = ticket_.load(std::memory_order_relaxed) >> (2 * kBits);
    ticket_.store((((turn + 1) << kBits) | tasks) << kBits, std::memory_order_release);
    const int here = work(0);
    for (int look = 0; done_.load(std::memory_order_acquire) + here != count; ++look) {
      if (look < kLooks) {
        pause_processor();
      } else {
        sched_yield();  // the helper may wait for this processor
      }
    }
  }

  // Does tasks of the run under way, if any are left; returns how many. Each helping thread has a
  // `worker` number of its own.
  int help(int worker) noexcept { return work(worker); }

 private:
  static constexpr int kBits = 12;
  static constexpr std::uint64_t kMask = (1ULL << kBits) - 1;
  static constexpr int kLooks = 4096;

  // Takes one task after the other of the run that it finds. A ticket names its run, so that a late
  // helper takes no task of the next run by mistake.
  int work(int worker) noexcept {
    int taken = 0;
    std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
    while ((ticket & kMask) < ((ticket >> kBits) & kMask)) {
      if (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
        continue;
      }
      task_(context_, static_cast<int>(ticket & kMask), worker);
      ++taken;
      if (worker != 0) done_.fetch_add(1, std::memory_order_release);
      ticket = ticket_.load(std::memory_order_acquire);
    }
    return taken;
  }

  Task task_;
  void* context_;
  alignas(64) std::atomic<std::uint64_t> ticket_{
      0};                                 // run | tasks | next, 12 bits for the last two
  alignas(64) std::atomic<int> done_{0};  // how many tasks helpers have done
};

}  // namespace windhover

#endif  // WINDHOVER_PLATFORM_FORK_JOIN_H_
