#include "windhover/runtime/learning/learner.h"

namespace windhover {

int Learner::poll(int max_work) noexcept {
  int done = 0;
  while (done < max_work) {
    take_head(next_head());
    if (!do_round()) break;
    ++done;
  }
  const bool idle = done < max_work || max_work == 0;
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
