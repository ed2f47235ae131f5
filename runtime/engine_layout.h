// What an engine is made of: seen by engine.cc, reader.cc and checkpoint/engine_checkpoint.cc
// alone.
#ifndef WINDHOVER_RUNTIME_ENGINE_LAYOUT_H_
#define WINDHOVER_RUNTIME_ENGINE_LAYOUT_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <span>

#include "windhover/platform/snapshots.h"
#include "windhover/runtime/checkpoint/capture.h"
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

// Those that predict come first.
inline std::uint32_t readers_in_all(const EngineConfig& config) noexcept {
  return config.max_readers + config.max_watchers;
}

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
  // One a learner's thread.
  static std::span<Model*> make_models(Arena& arena, const EngineConfig& config) noexcept {
    const ModelEntry& entry = *find_model(config.model.name);
    ModelConfig summed = config.model;
    // With a diagonal structure nobody asks a model for sums over rows: it knows the targets.
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
    const std::uint32_t memories = MemoryChoice::memories(config);
    return arena.make_array<Posterior>(Snapshots<Posterior>::slots_for(readers_in_all(config)),
                                       arena, dimension, features, config.retained_draws, memories);
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
  Model* model;  // the leader's
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

struct Engine::Layout {
  Layout(Arena& arena, const EngineConfig& config_in, Clock& clock_in) noexcept
      : config(with_own_features(arena, config_in)),
        clock(clock_in),
        parts(arena, config, clock, counters),
        feature_shift(arena.allocate<double>(given_units(config))),
        feature_scale(arena.allocate<double>(given_units(config))),
        events(Parts::start_region(arena, "events"), readers_in_all(config)),
        capture(make_capture(arena, config)),
        relayed(make_relayed(arena, config)),
        labels(make_labels(arena)),
        scorer(make_scorer(arena)),
        readers(config.max_readers, config.max_watchers),
        engine(this) {}

  // What it says of missing features is the caller's; the engine's copy is there before the parts
  // that look at it.
  static EngineConfig with_own_features(Arena& arena, EngineConfig config) noexcept {
    const std::span<MissingFeature> own =
        arena.allocate<MissingFeature>(config.missing_features.size());
    if (own.data() == nullptr) return config;
    std::ranges::copy(config.missing_features, own.begin());
    config.missing_features = own;
    return config;
  }
  // Numbers of the features' units that the host gives.
  static std::uint32_t given_units(const EngineConfig& config) noexcept {
    return config.standardize == Standardize::kGiven ? config.model.features : 0;
  }

  static checkpoint::Capture* make_capture(Arena& arena, const EngineConfig& config) noexcept {
    if (!config.checkpoints) return nullptr;
    const std::size_t bytes = checkpoint::Capture::state_bound(arena, config);
    arena.region("checkpoint");
    const PackedRows packed{RowLayout(config.model)};
    return arena.make<checkpoint::Capture>(arena, bytes, packed.largest());
  }

  static std::span<std::byte> make_relayed(Arena& arena, const EngineConfig& config) noexcept {
    if (!config.follows) return {};
    const PackedRows packed{RowLayout(config.model)};
    arena.region("rows of a leader");
    return arena.allocate<std::byte>(RowRelay::kRows * packed.largest());
  }

  PendingLabels* make_labels(Arena& arena) noexcept {
    if (config.labels.pending == 0) return nullptr;
    arena.region("labels");
    return arena.make<PendingLabels>(arena, config, clock, counters);
  }

  Prequential* make_scorer(Arena& arena) noexcept {
    if (!config.score_predictions) return nullptr;
    arena.region("scores");
    return arena.make<Prequential>(arena, config, parts.window, parts.model, parts.snapshots,
                                   labels, clock, recovery_target);
  }

  // What create() does with a layout that has just been made. Idempotent.
  void start() noexcept;
  void stamp(const Posterior& posterior, Provenance& provenance) noexcept;
  // After a poll: what has changed since the last one becomes events.
  void look_for_events() noexcept;
  // Rows with a key that `predictor` has answered; `conformal` where its intervals ended.
  void keep_rows(const Posterior& posterior, const Conformal::Bounds& conformal,
                 const Predictor& predictor, const PredictRequest& request, std::size_t first,
                 std::size_t count, std::span<PredictiveSummary> summaries) noexcept;
  void visit_learned(StateVisitor& visitor) noexcept;
  void visit_counters(StateVisitor& visitor) noexcept;
  // The window's lease that a capture holds.
  std::uint32_t capture_lease() const noexcept { return config.max_followers; }
  void take_capture() noexcept;  // which is being taken
  Status write_capture(Sink& sink, std::uint64_t head) noexcept;
  Result<bool> read(Source& source) noexcept;
  bool read_rows(std::span<const std::byte> payload, std::uint64_t& next,
                 std::uint64_t head) noexcept;
  Result<bool> put(std::span<const std::byte> sections, std::uint64_t at) noexcept;
  std::span<std::byte> block() noexcept;

  EngineConfig config;
  Clock& clock;
  Counters<RuntimeCounter> counters;
  Parts parts;
  std::span<double> feature_shift;
  std::span<double> feature_scale;
  std::uint32_t followers = 0;
  EventBoard events;
  checkpoint::Capture* capture;  // null: no checkpoints
  std::span<std::byte> relayed;
  std::optional<RowRelay> relay;  // while it follows
  PendingLabels* labels;          // null: no keys
  Prequential* scorer;            // null: nobody scores
  ReaderPlaces readers;
  std::atomic<bool> paused{false};
  std::atomic<std::uint64_t> recovery_target{0};
  alignas(64) std::atomic<std::uint64_t> polls{0};  // apart from what readers read
  Engine engine;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_ENGINE_LAYOUT_H_
