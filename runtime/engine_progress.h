// How far an engine has come, and whether it goes on: Engine::progress().
#ifndef WINDHOVER_RUNTIME_ENGINE_PROGRESS_H_
#define WINDHOVER_RUNTIME_ENGINE_PROGRESS_H_

#include <atomic>
#include <cstdint>

namespace windhover {

struct EngineLayout;

// Invariant: what the learner has taken in <= Engine::head() <= offered_rows().
class EngineProgress {
 public:
  // How often Engine::poll() has returned: the number grows while the learner learns or rests. Any
  // thread.
  std::uint64_t polls() const noexcept { return polls_.load(std::memory_order_relaxed); }

  // Engine::head(), plus the rows that wait in the engine that this one follows, if any. The
  // learner's thread.
  std::uint64_t offered_rows() const noexcept;
  // How many of these rows the learner has not taken in. The learner's thread.
  std::uint64_t waiting_rows() const noexcept;

  // While paused Engine::poll() does no round: answers stay as they are, and rows wait until the
  // window's slack is used up. An engine that follows another skips its leader's rows meanwhile, so
  // that the leader does not wait for it. Any thread.
  void pause(bool paused) noexcept { paused_.store(paused, std::memory_order_relaxed); }
  bool paused() const noexcept { return paused_.load(std::memory_order_relaxed); }

  // Answers of snapshots with Provenance::sequence below `head` say kRecovering and kReplay, until
  // the learner rests with all these rows. 0: none do. Any thread.
  void set_recovery_target(std::uint64_t head) noexcept {
    recovery_target_.store(head, std::memory_order_relaxed);
  }
  std::uint64_t recovery_target() const noexcept {
    return recovery_target_.load(std::memory_order_relaxed);
  }

 private:
  friend struct EngineLayout;
  friend class Engine;

  explicit EngineProgress(const EngineLayout& engine) noexcept : engine_(engine) {}
  void polled() noexcept { polls_.store(polls() + 1, std::memory_order_relaxed); }

  const EngineLayout& engine_;
  std::atomic<bool> paused_{false};
  std::atomic<std::uint64_t> recovery_target_{0};
  alignas(64) std::atomic<std::uint64_t> polls_{0};  // apart from what readers read
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_ENGINE_PROGRESS_H_
