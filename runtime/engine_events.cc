// The events of an engine.
#include "windhover/runtime/engine_layout.h"

namespace windhover {

void EngineLayout::look_for_events() noexcept {
  const Posterior* const newest = parts.snapshots.published();
  if (newest == nullptr) return;
  const EventCause now{newest->provenance.snapshot_id, progress.recovery_target(),
                       scorer != nullptr && scorer->failing(), progress.paused()};
  if (!events.has_cause(now)) return;
  Provenance answer;
  stamp(*newest, answer);
  const LearnerView view = parts.learner->view();
  const EngineMoment moment{answer,
                            view.phase != Learner::Phase::kWarmingUp,
                            counters.get(RuntimeCounter::kColdStarts),
                            view.memory,
                            view.limit_aside,
                            now.paused};
  events.look(moment, clock.wall_ns());
}

void Engine::tell_start() noexcept {
  EngineLayout& engine = *layout_;
  engine.events.tell_start(engine.parts.learner->head(), engine.clock.wall_ns());
}

void Reader::events(EventList& list) noexcept { engine_->layout_->events.read(id_, list); }

}  // namespace windhover
