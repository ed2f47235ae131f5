// The threads that learn for a daemon: of one model as many as it asks for, of several a few that
// all share.
#ifndef WINDHOVER_TOOLS_DAEMON_LEARNERS_H_
#define WINDHOVER_TOOLS_DAEMON_LEARNERS_H_

#include <cstdint>
#include <span>

#include "windhover/runtime/engine.h"
#include "windhover/runtime/learner_pool.h"
#include "windhover/runtime/learner_thread.h"
#include "windhover/tools/daemon/process_options.h"

namespace windhover {

class Learners {
 public:
  // `threads`: of several engines; one says itself how many it has. The engines outlive the
  // threads. Errors as LearnerThread::start() and LearnerPool::start().
  // `spare`: engines that may come while they run, see LearnerPool.
  Status start(std::span<Engine* const> engines, std::uint32_t threads,
               const ProcessOptions& options, std::size_t spare = 0) noexcept;
  Status add(Engine& engine) noexcept { return several_.add(engine); }
  void remove(Engine& engine) noexcept { several_.remove(engine); }
  void stop() noexcept;
  std::uint32_t warnings() const noexcept { return one_.warnings() | several_.warnings(); }
  // When the thread that has not turned for longest last began a turn; 0: none has.
  std::int64_t beat_ns() const noexcept;

 private:
  LearnerThread one_;
  LearnerPool several_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_LEARNERS_H_
