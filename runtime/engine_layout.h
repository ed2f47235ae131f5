// What an engine is made of. Included only by the sources of Engine, Reader and the parts of an
// engine that callers see.
#ifndef WINDHOVER_RUNTIME_ENGINE_LAYOUT_H_
#define WINDHOVER_RUNTIME_ENGINE_LAYOUT_H_

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include "windhover/platform/snapshots.h"
#include "windhover/runtime/diagnostics/event_board.h"
#include "windhover/runtime/engine.h"
#include "windhover/runtime/labels/pending_labels.h"
#include "windhover/runtime/learning/row_block_learner.h"
#include "windhover/runtime/learning/single_pass_learner.h"
#include "windhover/runtime/learning/window_learner.h"
#include "windhover/runtime/posterior/posterior.h"
#include "windhover/runtime/prediction/predict.h"
#include "windhover/runtime/prediction/request_check.h"
#include "windhover/runtime/reader_places.h"
#include "windhover/runtime/scoring/prequential.h"
#include "windhover/runtime/window/ingest.h"
#include "windhover/runtime/window/row_relay.h"
#include "windhover/runtime/window/window.h"
#include "windhover/samplers/registry.h"

namespace windhover {

// How many readers there are: those that predict, then those that only watch.
inline std::uint32_t readers_in_all(const EngineConfig& config) noexcept {
  return config.max_readers + config.max_watchers;
}

// The larger parts of an engine, in the order in which they lie in the block. While an arena
// measures, every pointer is null: constructors store pointers and references without following
// them.
struct Parts {
  explicit Parts(Arena& arena, const EngineConfig& config, Clock& clock,
                 Counters<RuntimeCounter>& counters) noexcept
      : layout(config.model),
        models(make_models(arena, config)),
        model(models.data() == nullptr ? nullptr : models[0]),
        window(make_window(arena, config, layout)),
        slots(make_slots(arena, config)),
        pins(arena.allocate<SnapshotPin>(readers_in_all(config))),
        snapshots(slots, pins),
        sampler(make_sampler(arena, config)),
        ingest(window, model, config.max_frame_rows, MissingFeatures(config.missing_features),
               counters),
        learner(make_learner(start_region(arena, "estimates and chains"), config, clock, counters)),
        request_check(config),
        predictors(make_predictors(arena, config)) {}

  static Arena& start_region(Arena& arena, const char* name) noexcept {
    arena.region(name);
    return arena;
  }
  // Makes one model for each of the learner's threads.
  static std::span<Model*> make_models(Arena& arena, const EngineConfig& config) noexcept {
    const ModelEntry& entry = *find_model(config.model.name);
    ModelConfig summed = config.model;
    // With a diagonal structure a model is only asked about targets, never for sums over rows.
    if (config.structure == Structure::kDiagonal) summed.features = summed.max_nonzeros = 1;
    const std::span<Model*> models =
        start_region(arena, "model").allocate<Model*>(config.learner_threads);
    for (std::uint32_t i = 0; i < config.learner_threads; ++i) {
      Model* model = entry.make(arena, summed);
      if (models.data() != nullptr) models[i] = model;
    }
    return models;
  }
  static Window make_window(Arena& arena, const EngineConfig& config,
                            const RowLayout& layout) noexcept {
    return Window(start_region(arena, "window"), layout, rows_in_memory(config),
                  config.window_slack, config.max_followers + (config.checkpoints ? 1 : 0));
  }
  static std::span<Posterior> make_slots(Arena& arena, const EngineConfig& config) noexcept {
    start_region(arena, "snapshots");
    const bool shared = config.structure == Structure::kDiagonal;
    const std::uint32_t dimension = shared ? 0 : config.model.dimension();
    const std::uint32_t features = shared ? 0 : config.model.features;
    const std::uint32_t columns = MemoryChoice::columns(config);
    return arena.make_array<Posterior>(Snapshots<Posterior>::slots_for(readers_in_all(config)),
                                       arena, dimension, features, config.retained_draws, columns);
  }
  static AnySampler* make_sampler(Arena& arena, const EngineConfig& config) noexcept {
    if (!keeps_window(config.horizon) || config.structure == Structure::kDiagonal) return nullptr;
    return find_sampler(config.sampler.name)
        ->make(start_region(arena, "sampler"), config.sampler, config.model.dimension());
  }
  Learner* make_learner(Arena& arena, const EngineConfig& config, Clock& clock,
                        Counters<RuntimeCounter>& counters) noexcept {
    if (config.structure == Structure::kDiagonal) {
      return arena.make<RowBlockLearner>(arena, config, window, snapshots, clock, counters);
    }
    if (keeps_window(config.horizon)) {
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
  Model* model;  // of poll()'s thread
  Window window;
  std::span<Posterior> slots;
  std::span<SnapshotPin> pins;
  Snapshots<Posterior> snapshots;
  AnySampler* sampler;
  Ingest ingest;
  Learner* learner;
  RequestCheck request_check;
  std::span<Predictor> predictors;
};

struct EngineLayout {
  EngineLayout(Arena& arena, const EngineConfig& config_in, Clock& clock_in) noexcept
      : config(with_own_features(arena, config_in)),
        clock(clock_in),
        parts(arena, config, clock, counters),
        feature_shift(arena.allocate<double>(given_units(config))),
        feature_scale(arena.allocate<double>(given_units(config))),
        events(Parts::start_region(arena, "events"), readers_in_all(config)),
        state(*this, arena),
        relayed(make_relayed(arena, config)),
        labels(*this, arena),
        scorer(make_scorer(arena)),
        readers(config.max_readers, config.max_watchers),
        progress(*this),
        engine(this) {}

  // The caller owns the missing features in its configuration; they are copied before the parts are
  // made that look at them.
  static EngineConfig with_own_features(Arena& arena, EngineConfig config) noexcept {
    const std::span<MissingFeature> own =
        arena.allocate<MissingFeature>(config.missing_features.size());
    if (own.data() == nullptr) return config;
    std::ranges::copy(config.missing_features, own.begin());
    config.missing_features = own;
    return config;
  }
  // How many numbers feature_shift and feature_scale have.
  static std::uint32_t given_units(const EngineConfig& config) noexcept {
    return config.standardize == Standardize::kGiven ? config.model.features : 0;
  }

  static std::span<std::byte> make_relayed(Arena& arena, const EngineConfig& config) noexcept {
    if (!config.follows) return {};
    const PackedRows packed{RowLayout(config.model)};
    arena.region("rows of a leader");
    return arena.allocate<std::byte>(RowRelay::kRows * packed.largest());
  }

  Prequential* make_scorer(Arena& arena) noexcept {
    if (!config.score_predictions) return nullptr;
    arena.region("scores");
    GivenAnswers* const given = labels.table_ == nullptr ? nullptr : &labels.table_->answers();
    return arena.make<Prequential>(arena, config, MemoryChoice::columns(config), parts.window,
                                   parts.model, parts.snapshots, given, clock,
                                   progress.recovery_target_);
  }

  // Puts a layout that has just been made to work, as create() does. Idempotent.
  void start() noexcept;
  // Makes the engine anew in the same block, as create() did; readers and followers stay valid.
  void start_anew() noexcept;
  std::span<std::byte> block() noexcept;
  // Copies the snapshot's provenance and sets what belongs to the moment of the answer.
  void stamp(const Posterior& posterior, Provenance& provenance) noexcept;
  // After a poll: logs what has changed since the last one as events.
  void look_for_events() noexcept;
  // Keeps the rows with a key that `predictor` has answered; `conformal`: the intervals served.
  void keep_rows(const Posterior& posterior, const Conformal::Bounds& conformal,
                 const Predictor& predictor, const PredictRequest& request, std::size_t first,
                 std::size_t count, std::span<PredictiveSummary> summaries) noexcept;
  void visit_learned(StateVisitor& visitor) noexcept;
  void visit_counters(StateVisitor& visitor) noexcept;

  EngineConfig config;
  Clock& clock;
  Counters<RuntimeCounter> counters;
  Parts parts;
  std::span<double> feature_shift;
  std::span<double> feature_scale;
  std::uint32_t followers = 0;
  EventBoard events;
  EngineState state;
  std::span<std::byte> relayed;
  std::optional<RowRelay> relay;  // if it follows another engine
  LateLabels labels;
  Prequential* scorer;  // null: predictions are not scored
  ReaderPlaces readers;
  EngineProgress progress;
  Engine engine;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_ENGINE_LAYOUT_H_
