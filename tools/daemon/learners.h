// The learner threads of a daemon: for one model as many as its configuration asks for, for several
// a few that all share.
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
  // `threads`: for several engines; one engine has as many as its configuration says. `spare`:
  // engines that may come while the threads run, see LearnerPool. The engines outlive the threads.
  // Errors as LearnerThread::start() and LearnerPool::start().
  Status start(std::span<Engine* const> engines, std::uint32_t threads,
               const ProcessOptions& options, std::size_t spare = 0) noexcept;
  Status add(Engine& engine) noexcept { return several_.add(engine); }
  void remove(Engine& engine) noexcept { several_.remove(engine); }
  void stop() noexcept;
  std::uint32_t warnings() const noexcept { return one_.warnings() | several_.warnings(); }
  // When the thread that has not turned for longest last began a turn; 0: none has yet.
  std::int64_t beat_ns() const noexcept;

 private:
  LearnerThread one_;
  LearnerPool several_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_LEARNERS_H_
