#include "windhover/runtime/learning/learner.h"

#include "windhover/runtime/scoring/prequential.h"

namespace windhover {

int Learner::poll(int max_work, const std::atomic<bool>* interrupt) noexcept {
  int done = 0;
  bool idle = max_work == 0;
  while (done < max_work) {
    const std::uint64_t next = next_head();
    if (scorer_ != nullptr && next > head()) scorer_->score(head(), next);
    take_head(next);
    idle = !do_round();
    if (idle) break;
    ++done;
    if (interrupt != nullptr && interrupt->load(std::memory_order_relaxed)) break;
  }
  if (dirty_ && (idle || publication_due())) publish();
  return done;
}

int Learner::replay(std::uint64_t head, int max_work) noexcept {
  int done = 0;
  while (done < max_work) {
    take_head(head);
    if (!do_round()) break;
    ++done;
  }
  if (dirty_) publish();
  return done;
}

}  // namespace windhover
