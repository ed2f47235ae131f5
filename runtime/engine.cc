#include "windhover/runtime/engine.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "windhover/platform/snapshots.h"
#include "windhover/runtime/learning/single_pass_learner.h"
#include "windhover/runtime/learning/units.h"
#include "windhover/runtime/learning/window_learner.h"
#include "windhover/runtime/posterior/posterior.h"
#include "windhover/runtime/prediction/gaussian_mixture.h"
#include "windhover/runtime/prediction/predict.h"
#include "windhover/runtime/window/ingest.h"
#include "windhover/runtime/window/window.h"
#include "windhover/samplers/registry.h"

namespace windhover {

const char* to_string(PosteriorStatus status) noexcept {
  switch (status) {
    case PosteriorStatus::kWarmingUp:
      return "warming_up";
    case PosteriorStatus::kOk:
      return "ok";
    case PosteriorStatus::kDegraded:
      return "degraded";
    case PosteriorStatus::kDrifting:
      return "drifting";
  }
  return "unknown";
}

const char* to_string(StatusReason reason) noexcept {
  switch (reason) {
    case StatusReason::kNone:
      return "none";
    case StatusReason::kFewDraws:
      return "few_draws";
    case StatusReason::kDrift:
      return "drift";
    case StatusReason::kDependentRows:
      return "dependent_rows";
    case StatusReason::kNetwork:
      return "network";
    case StatusReason::kLostChains:
      return "lost_chains";
    case StatusReason::kSamplersLaw:
      return "samplers_law";
    case StatusReason::kLawUnknown:
      return "law_unknown";
    case StatusReason::kSpread:
      return "spread";
    case StatusReason::kPace:
      return "pace";
    case StatusReason::kNotDefinite:
      return "not_definite";
    case StatusReason::kPrior:
      return "prior";
    case StatusReason::kMisfit:
      return "misfit";
  }
  return "unknown";
}

const char* to_string(Horizon horizon) noexcept {
  switch (horizon) {
    case Horizon::kWindow:
      return "window";
    case Horizon::kForgetting:
      return "forgetting";
    case Horizon::kAll:
      return "all";
  }
  return "unknown";
}

namespace {

// Everything an engine is made of, in the order it lies in the block. While measuring the arena
// gives nothing and every pointer is null; constructors store pointers without following them, so
// stand-ins are enough for the references.
struct Parts {
  explicit Parts(Arena& arena, const EngineConfig& config, Clock& clock,
                 Counters<RuntimeCounter>& counters) noexcept
      : layout(config.model),
        models(make_models(arena, config)),
        model(models.data() == nullptr ? nullptr : models[0]),
        window(make_window(arena, config, layout)),
        slots(make_slots(arena, config)),
        pins(arena.allocate<SnapshotPin>(config.max_readers)),
        snapshots(slots, pins),
        sampler(make_sampler(arena, config)),
        ingest(window, model, config.max_frame_rows, counters),
        learner(make_learner(start_region(arena, "estimates and chains"), config, clock, counters)),
        predictors(make_predictors(arena, config)) {}

  static Arena& start_region(Arena& arena, const char* name) noexcept {
    arena.region(name);
    return arena;
  }
  // One a learner's thread.
  static std::span<Model*> make_models(Arena& arena, const EngineConfig& config) noexcept {
    const ModelEntry& entry = *find_model(config.model.name);
    const std::span<Model*> models =
        start_region(arena, "model").allocate<Model*>(config.learner_threads);
    for (std::uint32_t i = 0; i < config.learner_threads; ++i) {
      Model* model = entry.make(arena, config.model);
      if (models.data() != nullptr) models[i] = model;
    }
    return models;
  }
  static Window make_window(Arena& arena, const EngineConfig& config,
                            const RowLayout& layout) noexcept {
    return Window(start_region(arena, "window"), layout, rows_in_memory(config),
                  config.window_slack);
  }
  static std::span<Posterior> make_slots(Arena& arena, const EngineConfig& config) noexcept {
    start_region(arena, "snapshots");
    const std::uint32_t dimension = config.model.dimension();
    return arena.make_array<Posterior>(Snapshots<Posterior>::slots_for(config.max_readers), arena,
                                       dimension, config.model.features, config.retained_draws);
  }
  static AnySampler* make_sampler(Arena& arena, const EngineConfig& config) noexcept {
    if (config.horizon != Horizon::kWindow) return nullptr;
    return find_sampler(config.sampler.name)
        ->make(start_region(arena, "sampler"), config.sampler, config.model.dimension());
  }
  Learner* make_learner(Arena& arena, const EngineConfig& config, Clock& clock,
                        Counters<RuntimeCounter>& counters) noexcept {
    if (config.horizon == Horizon::kWindow) {
      return arena.make<WindowLearner>(arena, config, window, models, sampler, snapshots, clock,
                                       counters);
    }
    return arena.make<SinglePassLearner>(arena, config, window, model, snapshots, clock, counters);
  }
  static std::span<Predictor> make_predictors(Arena& arena, const EngineConfig& config) noexcept {
    start_region(arena, "readers");
    return arena.make_array<Predictor>(config.max_readers, arena, config);
  }

  RowLayout layout;
  std::span<Model*> models;
  Model* model;  // the leader's
  Window window;
  std::span<Posterior> slots;
  std::span<SnapshotPin> pins;
  Snapshots<Posterior> snapshots;
  AnySampler* sampler;
  Ingest ingest;
  Learner* learner;
  std::span<Predictor> predictors;
};

}  // namespace

struct Engine::Layout {
  Layout(Arena& arena, const EngineConfig& config_in, Clock& clock_in) noexcept
      : config(config_in),
        clock(clock_in),
        parts(arena, config, clock, counters),
        feature_shift(arena.allocate<double>(config.model.features)),
        feature_scale(arena.allocate<double>(config.model.features)),
        engine(this) {}

  EngineConfig config;
  Clock& clock;
  Counters<RuntimeCounter> counters;
  Parts parts;
  std::span<double> feature_shift;
  std::span<double> feature_scale;
  std::atomic<std::uint32_t> readers{0};
  Engine engine;
};

Result<std::size_t> Engine::plan(const EngineConfig& config, Arena& arena) noexcept {
  const Result<bool> possible = windhover::check(config);
  if (!possible.ok()) return possible.error();
  const EngineConfig full = with_defaults(config);
  RealClock clock;
  arena.region("engine");
  (void)arena.make<Layout>(arena, full, clock);
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
  // The names in the configuration are the caller's; the registry's live as long as the program.
  full.model.name = find_model(full.model.name)->name;
  full.sampler.name = find_sampler(full.sampler.name)->name;
  arena.region("engine");
  auto* layout = arena.make<Layout>(arena, full, clock);
  if (layout == nullptr || arena.exhausted()) {
    return Error{Status::kArenaTooSmall, "block is too small; it must hold this many bytes",
                 static_cast<double>(arena.used())};
  }
  Parts& parts = layout->parts;
  for (Model* model : parts.models) find_model(full.model.name)->reset(*model);
  parts.model->target() = given_target_units(full);
  if (full.standardize == Standardize::kGiven) {
    FeatureTransform& transform = parts.model->transform();
    for (std::size_t j = 0; j < full.model.features; ++j) {
      transform.shift[j] = layout->feature_shift[j] = full.feature_shift[j];
      layout->feature_scale[j] = full.feature_scale[j];
      transform.inverse_scale[j] = 1.0 / full.feature_scale[j];
    }
    layout->config.feature_shift = layout->feature_shift;
    layout->config.feature_scale = layout->feature_scale;
  }
  parts.window.reset();
  parts.snapshots.reset();
  parts.learner->reset();
  // Likewise the groups of the prior.
  if (!full.model.prior_groups.empty()) {
    layout->config.model.prior_groups =
        parts.learner->estimator().prior().groups().first(full.model.features);
  }
  return &layout->engine;
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

int Engine::poll(int max_work) noexcept { return layout_->parts.learner->poll(max_work); }
int Engine::assist(std::uint32_t worker) noexcept {
  if (worker == 0 || worker >= layout_->config.learner_threads) return 0;
  return layout_->parts.learner->assist(worker);
}

void Engine::visit_state(StateVisitor& visitor) noexcept {
  layout_->parts.window.visit_state(visitor);
  layout_->parts.learner->visit_state(visitor);
  visitor.section("counters");
  for (std::size_t id = 0; id < layout_->counters.size(); ++id) {
    const auto counter = static_cast<RuntimeCounter>(id);
    std::uint64_t count = layout_->counters.get(counter);
    visitor.value(count);
    if (visitor.restores()) layout_->counters.set(counter, count);
  }
}

Learner& Engine::learner() noexcept { return *layout_->parts.learner; }

Result<Reader> Engine::reader() noexcept {
  const std::uint32_t id = layout_->readers.fetch_add(1, std::memory_order_relaxed);
  if (id >= layout_->config.max_readers) {
    layout_->readers.fetch_sub(1, std::memory_order_relaxed);
    return Error{Status::kUnavailable, "all readers are taken; max_readers allows this many",
                 static_cast<double>(layout_->config.max_readers)};
  }
  return Reader(this, id);
}

std::uint32_t Engine::dimension() const noexcept { return layout_->config.model.dimension(); }
std::uint64_t Engine::head() const noexcept { return layout_->parts.window.head(); }
const EngineConfig& Engine::config() const noexcept { return layout_->config; }
Counters<RuntimeCounter>& Engine::counters() noexcept { return layout_->counters; }

std::uint64_t Engine::fingerprint() const noexcept {
  return windhover::fingerprint(layout_->config.model, layout_->config.schema_fingerprint);
}

// --- Reader

namespace {

void stamp(const Posterior& posterior, Clock& clock, Provenance& provenance) noexcept {
  provenance = posterior.provenance;
  provenance.age_ns = clock.now_ns() - posterior.made_ns;
}

}  // namespace

Status Reader::predict(const PredictRequest& request, std::span<PredictiveSummary> summaries,
                       Provenance& provenance) noexcept {
  Engine::Layout& engine = *engine_->layout_;
  Predictor& predictor = engine.parts.predictors[id_];
  const Response response = engine.parts.model->response();
  Status status = predictor.check(request, response);
  if (ok(status) && summaries.size() < request.rows) status = Status::kInvalidArgument;
  if (!ok(status)) {
    engine.counters.add(RuntimeCounter::kPredictionsRefused);
    return status;
  }
  const Posterior* posterior = held_ != nullptr ? held_ : engine.parts.snapshots.pin(id_);
  predictor.predict(*posterior, response, engine.config.seed, request, summaries);
  stamp(*posterior, engine.clock, provenance);
  if (held_ == nullptr) engine.parts.snapshots.unpin(id_);
  engine.counters.add(RuntimeCounter::kPredictions, request.rows);
  return Status::kOk;
}

Status Reader::posterior(std::span<ParameterSummary> summaries, Provenance& provenance) noexcept {
  Engine::Layout& engine = *engine_->layout_;
  if (summaries.size() < engine.config.model.dimension()) return Status::kInvalidArgument;
  const Posterior* p = held_ != nullptr ? held_ : engine.parts.snapshots.pin(id_);
  const double z = normal_quantile(0.95);
  for (std::uint32_t j = 0; j < p->dimension; ++j) {
    summaries[j] = {p->raw_mean[j],
                    p->mode[j],
                    p->sd[j],
                    p->sd_robust[j],
                    p->raw_mean[j] - z * p->sd[j],
                    p->raw_mean[j],
                    p->raw_mean[j] + z * p->sd[j],
                    p->ess_bulk[j],
                    p->r_hat[j],
                    p->ess_tail[j],
                    p->mcse_mean[j],
                    p->autocorrelation_time[j],
                    p->prior_precision[j]};
  }
  stamp(*p, engine.clock, provenance);
  if (held_ == nullptr) engine.parts.snapshots.unpin(id_);
  return Status::kOk;
}

Status Reader::draws(std::uint64_t snapshot_id, std::size_t first, std::size_t count,
                     std::span<double> out, Provenance& provenance) noexcept {
  Engine::Layout& engine = *engine_->layout_;
  const std::uint32_t dimension = engine.config.model.dimension();
  const std::size_t draws = engine.config.retained_draws;
  if (first > draws || count > draws - first || out.size() < count * dimension) {
    return Status::kInvalidArgument;
  }
  if (snapshot_id == 0) {
    release();
    held_ = engine.parts.snapshots.pin(id_);
  }
  if (held_ == nullptr || (snapshot_id != 0 && held_->provenance.snapshot_id != snapshot_id)) {
    return Status::kUnavailable;
  }
  const ModelConfig& model = engine.config.model;
  const ParameterLayout parameters = find_model(model.name)->layout(model);
  for (std::size_t m = 0; m < count; ++m) {
    double* theta = &out[m * dimension];
    for (std::uint32_t j = 0; j < dimension; ++j) {
      theta[j] = held_->mean[j] + held_->deviations[j * draws + first + m];
    }
    to_raw_features(parameters, held_->transform, theta, theta);
  }
  stamp(*held_, engine.clock, provenance);
  return Status::kOk;
}

void Reader::release() noexcept {
  if (held_ == nullptr) return;
  engine_->layout_->parts.snapshots.unpin(id_);
  held_ = nullptr;
}

}  // namespace windhover
