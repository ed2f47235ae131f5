#include "windhover/runtime/engine.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "windhover/runtime/engine_layout.h"
#include "windhover/runtime/learning/units.h"

namespace windhover {

Result<std::size_t> Engine::plan(const EngineConfig& config, Arena& arena) noexcept {
  const Result<bool> possible = windhover::check(config);
  if (!possible.ok()) return possible.error();
  const EngineConfig full = with_defaults(config);
  RealClock clock;
  arena.region("engine");
  (void)arena.make<EngineLayout>(arena, full, clock);
  return arena.used();
}

Result<std::size_t> Engine::footprint(const EngineConfig& config) noexcept {
  Arena arena = Arena::measuring();
  return plan(config, arena);
}

Result<Engine*> Engine::create(const EngineConfig& config, std::span<std::byte> block,
                               Clock& clock) noexcept {
  const Result<std::size_t> needed = footprint(config);
  if (!needed.ok()) return needed.error();
  if (!Arena::is_aligned(block)) {
    return Error{Status::kInvalidArgument, "block must be aligned to this many bytes",
                 static_cast<double>(Arena::kAlignment)};
  }
  if (block.size() < needed.value()) {
    return Error{Status::kArenaTooSmall, "block is too small; it must hold this many bytes",
                 static_cast<double>(needed.value())};
  }
  Arena arena(block);
  EngineConfig full = with_defaults(config);
  // The names in the configuration belong to the caller; the registry's live as long as the
  // program.
  full.model.name = find_model(full.model.name)->name;
  full.sampler.name = find_sampler(full.sampler.name)->name;
  arena.region("engine");
  auto* layout = arena.make<EngineLayout>(arena, full, clock);
  if (layout == nullptr || arena.exhausted()) {
    return Error{Status::kArenaTooSmall, "block is too small; it must hold this many bytes",
                 static_cast<double>(arena.used())};
  }
  layout->start();
  return &layout->engine;
}

void EngineLayout::start() noexcept {
  for (Model* model : parts.models) find_model(config.model.name)->reset(*model);
  parts.model->target() = given_target_units(config);
  if (config.standardize == Standardize::kGiven) {
    FeatureTransform& transform = parts.model->transform();
    for (std::size_t j = 0; j < config.model.features; ++j) {
      transform.shift[j] = feature_shift[j] = config.feature_shift[j];
      feature_scale[j] = config.feature_scale[j];
      transform.inverse_scale[j] = 1.0 / config.feature_scale[j];
    }
    config.feature_shift = feature_shift;
    config.feature_scale = feature_scale;
  }
  parts.window.reset();
  parts.snapshots.reset();
  events.reset();
  parts.learner->reset();
  labels.reset();
  if (scorer != nullptr) scorer->reset();
  parts.learner->set_scorer(scorer);
  // The groups of the prior belong to the caller, too.
  if (!config.model.prior_groups.empty()) {
    config.model.prior_groups =
        parts.learner->view().estimator().prior().groups().first(config.model.features);
  }
}

ObserveResult Engine::observe(const ObservationBatch& batch,
                              std::span<RefusedRow> refused) noexcept {
  return layout_->parts.ingest.observe(batch, refused);
}

Status Engine::observe(std::span<const double> features, double target) noexcept {
  ObservationBatch batch;
  batch.rows = 1;
  batch.features = reinterpret_cast<const std::byte*>(features.data());
  batch.feature_values = features.size();
  batch.targets = reinterpret_cast<const std::byte*>(&target);
  RefusedRow refused;
  const ObserveResult result = layout_->parts.ingest.observe(batch, {&refused, 1});
  if (!ok(result.status)) return result.status;
  return result.refused > 0 ? refused.reason : Status::kOk;
}

ObserveResult Engine::observe_packed(std::span<const std::byte> bytes,
                                     std::uint64_t rows) noexcept {
  return layout_->parts.ingest.observe_packed(bytes, rows);
}

Status Engine::follow(Engine& leader) noexcept {
  EngineLayout& own = *layout_;
  if (own.relayed.empty()) return Status::kUnsupported;
  if (own.relay || &leader == this) return Status::kInvalidArgument;
  const RowLayout& rows = leader.layout_->parts.layout;
  if (rows.features() != own.parts.layout.features() ||
      rows.max_nonzeros() != own.parts.layout.max_nonzeros() ||
      rows.has_offset() != own.parts.layout.has_offset() ||
      rows.has_trials() != own.parts.layout.has_trials() ||
      rows.takes_weight() != own.parts.layout.takes_weight()) {
    return Status::kWrongDimension;
  }
  const Result<RowFollower> follower = leader.follower();
  if (!follower.ok()) return follower.status();
  own.relay.emplace(follower.value(), leader.layout_->parts.window, own.relayed);
  if (const std::uint64_t rows_there = own.relay->waiting(); rows_there > 0) {
    own.progress.set_recovery_target(head() + rows_there);
  }
  return Status::kOk;
}

int Engine::poll(int max_work) noexcept {
  EngineLayout& engine = *layout_;
  if (engine.progress.paused()) {
    max_work = 0;
    if (engine.relay) engine.relay->pass_over();
  } else if (engine.relay && max_work > 0) {
    engine.relay->hand_over(engine.parts.window, engine.parts.ingest);
  }
  Learner& learner = *engine.parts.learner;
  const std::uint64_t target = engine.progress.recovery_target();
  const bool all_there = target > 0 && max_work > 0 && head() >= target;
  const std::atomic<bool>* const wanted = engine.state.wanted();
  int done = learner.poll(max_work, wanted);
  while (wanted != nullptr && wanted->load(std::memory_order_relaxed)) {
    engine.state.take_wanted();
    if (done < max_work) done += learner.poll(max_work - done, wanted);
  }
  // All rows are there and nothing is left to do: the answers will not become better by these rows.
  if (all_there && done == 0) engine.progress.set_recovery_target(0);
  engine.look_for_events();
  engine.progress.polled();
  return done;
}

int Engine::assist(std::uint32_t worker) noexcept {
  if (worker == 0 || worker >= layout_->config.learner_threads) return 0;
  return layout_->parts.learner->assist(worker);
}

// A checkpoint may be restored whether or not predictions are scored.
void EngineLayout::visit_learned(StateVisitor& visitor) noexcept {
  parts.learner->visit_state(visitor);
  scorer != nullptr ? scorer->visit_state(visitor) : Prequential::visit_none(visitor);
  events.visit_state(visitor);
}

void EngineLayout::visit_counters(StateVisitor& visitor) noexcept {
  visitor.section("counters", 7);
  for (std::size_t id = 0; id < counters.size(); ++id) {
    const auto counter = static_cast<RuntimeCounter>(id);
    std::uint64_t count = counters.get(counter);
    visitor.value(count);
    if (visitor.restores()) counters.set(counter, count);
  }
}

// What the configuration's spans point to lies in the block, where the new layout puts it again.
void EngineLayout::start_anew() noexcept {
  const EngineConfig same_config = config;
  Clock& same_clock = clock;
  ReaderPlaces taken(config.max_readers, config.max_watchers);
  taken.take_as(readers);
  const std::uint32_t following = followers;
  Arena arena(block());
  arena.region("engine");
  EngineLayout& anew = *arena.make<EngineLayout>(arena, same_config, same_clock);  // replaces this
  anew.start();
  anew.readers.take_as(taken);
  for (; anew.followers < following; ++anew.followers) {
    anew.parts.window.take_lease(anew.followers);
  }
}

std::span<std::byte> EngineLayout::block() noexcept {
  return {reinterpret_cast<std::byte*>(this), Engine::footprint(config).value()};
}

Learner& Engine::learner() noexcept { return *layout_->parts.learner; }
LateLabels& Engine::labels() noexcept { return layout_->labels; }
EngineState& Engine::state() noexcept { return layout_->state; }
EngineProgress& Engine::progress() noexcept { return layout_->progress; }
const EngineProgress& Engine::progress() const noexcept { return layout_->progress; }

Result<Reader> Engine::reader() noexcept {
  if (const auto place = layout_->readers.take_reader()) return Reader(this, *place);
  return Error{Status::kUnavailable, "all readers are taken; max_readers allows this many",
               static_cast<double>(layout_->config.max_readers)};
}

Result<Reader> Engine::watcher() noexcept {
  if (const auto place = layout_->readers.take_watcher()) return Reader(this, *place);
  return reader();  // its error says that none is left
}

Result<RowFollower> Engine::follower() noexcept {
  Window& window = layout_->parts.window;
  if (layout_->followers == layout_->config.max_followers) {
    return Error{Status::kUnavailable, "all followers are taken; max_followers allows this many",
                 static_cast<double>(layout_->config.max_followers)};
  }
  window.take_lease(layout_->followers);
  return RowFollower(window, layout_->followers++);
}

bool Engine::scores(PredictionScores& scores) const noexcept {
  if (layout_->scorer == nullptr) return false;
  scores = layout_->scorer->scores();
  return true;
}

std::uint32_t Engine::dimension() const noexcept { return layout_->config.model.dimension(); }
std::uint64_t Engine::head() const noexcept { return layout_->parts.window.head(); }
std::uint64_t EngineProgress::offered_rows() const noexcept {
  return engine_.parts.window.head() + (engine_.relay ? engine_.relay->waiting() : 0);
}
std::uint64_t EngineProgress::waiting_rows() const noexcept {
  const std::uint64_t taken_in = engine_.parts.window.lease();  // read first: never above the head
  return offered_rows() - taken_in;
}
const EngineConfig& Engine::config() const noexcept { return layout_->config; }
Counters<RuntimeCounter>& Engine::counters() noexcept { return layout_->counters; }

std::uint64_t Engine::fingerprint() const noexcept {
  return windhover::fingerprint(layout_->config.model, layout_->config.schema_fingerprint);
}

}  // namespace windhover
