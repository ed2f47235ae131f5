// The engine for C: an Engine with its block, its clock and its threads.
#include "windhover/io/c/engine.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>

#include "windhover/io/c/border.h"
#include "windhover/io/c/engine_handle.h"
#include "windhover/runtime/chosen_horizon.h"
#include "windhover/samplers/registry.h"

namespace windhover {
namespace {

// Bytes of the options in the first library that had them.
constexpr std::size_t kFirstOptions = offsetof(windhover_engine_options, structure);

windhover_status config_of(const windhover_engine_options* o, EngineConfig& c,
                           windhover_error* error) noexcept {
  if (error != nullptr) *error = {"", 0};
  if (o == nullptr) return explain(error, WINDHOVER_INVALID_ARGUMENT, "options must not be NULL");
  if (const windhover_status status = check_given(o, kFirstOptions); status != WINDHOVER_OK) {
    return explain(error, status, sentence_of_given(status), static_cast<double>(o->struct_size));
  }
  if (o->model == nullptr || o->sampler == nullptr) {
    return explain(error, WINDHOVER_INVALID_ARGUMENT, "options.model and sampler must not be NULL");
  }
  if (o->horizon < WINDHOVER_HORIZON_WINDOW || o->horizon > WINDHOVER_HORIZON_CHOSEN) {
    return explain(error, WINDHOVER_INVALID_CONFIG,
                   "options.horizon must be one of windhover_horizon", o->horizon);
  }
  if (o->surprising_rows < WINDHOVER_SURPRISING_KEEP ||
      o->surprising_rows > WINDHOVER_SURPRISING_SET_ASIDE) {
    return explain(error, WINDHOVER_INVALID_CONFIG,
                   "options.surprising_rows must be one of windhover_surprising_rows",
                   o->surprising_rows);
  }
  const windhover_structure structure = o->struct_size >= kFirstOptions + sizeof(o->structure)
                                            ? o->structure
                                            : WINDHOVER_STRUCTURE_CHOSEN;
  if (structure < WINDHOVER_STRUCTURE_CHOSEN || structure > WINDHOVER_STRUCTURE_DIAGONAL) {
    return explain(error, WINDHOVER_INVALID_CONFIG,
                   "options.structure must be one of windhover_structure", structure);
  }
  // Of a program from before there was one it lies in what filled the struct up, which the init
  // function has zeroed.
  const windhover_dependent_spread spread =
      o->struct_size > offsetof(windhover_engine_options, dependent_spread)
          ? o->dependent_spread
          : WINDHOVER_DEPENDENT_SPREAD_ROBUST;
  if (spread != WINDHOVER_DEPENDENT_SPREAD_ROBUST &&
      spread != WINDHOVER_DEPENDENT_SPREAD_POSTERIOR) {
    return explain(error, WINDHOVER_INVALID_CONFIG,
                   "options.dependent_spread must be one of windhover_dependent_spread", spread);
  }
  c.model.name = o->model;
  c.model.features = o->features;
  c.model.max_nonzeros = o->max_nonzeros;
  c.model.intercept = o->intercept != 0;
  c.model.offset = o->offset != 0;
  c.model.weight = o->weight != 0;
  c.model.prior_precision = o->prior_precision;
  c.model.intercept_precision = o->intercept_precision;
  c.model.learn_prior_precision = o->learn_prior_precision != 0;
  c.model.noise_variance = o->noise_variance;
  c.model.degrees_of_freedom = o->degrees_of_freedom;
  c.model.classes = o->classes;
  c.model.hidden = o->hidden;
  c.model.hidden2 = o->hidden2;
  c.sampler.name = o->sampler;
  c.sampler.minibatch_size = o->minibatch_size;
  c.sampler.chains = o->chains;
  c.sampler.temperature = o->temperature;
  c.surprising_rows = static_cast<SurprisingRows>(o->surprising_rows);
  static_assert(static_cast<int>(Structure::kFull) == WINDHOVER_STRUCTURE_FULL &&
                static_cast<int>(Structure::kDiagonal) == WINDHOVER_STRUCTURE_DIAGONAL);
  c.structure = static_cast<Structure>(structure);
  c.window_size = o->window_size;
  c.window_slack = o->window_slack;
  c.max_frame_rows = o->max_frame_rows;
  c.draws_per_observation = o->draws_per_observation;
  c.score_predictions = o->score_predictions != 0;
  c.checkpoints = o->checkpoints != 0;
  c.learner_threads = o->learner_threads;
  c.retained_draws = o->retained_draws;
  c.max_readers = o->max_readers;
  c.max_query_rows = o->max_query_rows;
  c.seed = o->seed;
  c.schema_fingerprint = o->schema_fingerprint;
  c.labels.pending = o->labels_pending;
  c.labels.timeout_seconds = o->labels_timeout_seconds;
  c.labels.timeout_outcome = o->labels_timeout_outcome;
  c.dependent_spread = spread == WINDHOVER_DEPENDENT_SPREAD_ROBUST ? DependentSpread::kRobust
                                                                   : DependentSpread::kPosterior;
  c.horizon =
      o->horizon == WINDHOVER_HORIZON_CHOSEN ? chosen_horizon(c) : static_cast<Horizon>(o->horizon);
  return WINDHOVER_OK;
}

// The engine lists refused rows into the caller's memory, and each entry is then widened in place,
// the last one first: a list on the stack would be too short for all of them.
template <class Observe>
ObserveResult listing(windhover_refused_row* listed, std::size_t room, Observe&& observe) noexcept {
  static_assert(sizeof(windhover_refused_row) % sizeof(RefusedRow) == 0);
  auto* const narrow = reinterpret_cast<RefusedRow*>(listed);
  const ObserveResult result = observe(std::span<RefusedRow>(narrow, room));
  for (std::size_t i = std::min(room, result.refused); i-- > 0;) {
    const RefusedRow row = narrow[i];
    listed[i] = {row.row, to_c(row.reason)};
  }
  return result;
}

}  // namespace
}  // namespace windhover

using windhover::config_of;
using windhover::explain;
using windhover::ok;
using windhover::to_c;

void windhover_engine_options_init(windhover_engine_options* options, size_t size) {
  const windhover::EngineConfig c;
  windhover_engine_options o{};
  o.model = c.model.name.data();
  o.intercept = c.model.intercept ? 1 : 0;
  o.degrees_of_freedom = c.model.degrees_of_freedom;
  o.classes = c.model.classes;
  o.hidden = c.model.hidden;
  o.hidden2 = c.model.hidden2;
  o.sampler = c.sampler.name.data();
  o.temperature = c.sampler.temperature;
  o.horizon = static_cast<windhover_horizon>(c.horizon);
  o.window_size = c.window_size;
  o.window_slack = c.window_slack;
  o.max_frame_rows = c.max_frame_rows;
  o.draws_per_observation = c.draws_per_observation;
  o.score_predictions = 1;
  o.checkpoints = 1;
  o.learner_threads = c.learner_threads;
  o.retained_draws = c.retained_draws;
  o.max_readers = c.max_readers;
  o.max_query_rows = c.max_query_rows;
  o.seed = c.seed;
  o.structure = static_cast<windhover_structure>(c.structure);
  o.dependent_spread = WINDHOVER_DEPENDENT_SPREAD_ROBUST;
  o.labels_timeout_seconds = c.labels.timeout_seconds;
  o.labels_timeout_outcome = c.labels.timeout_outcome;
  windhover::begin(o, options, size, windhover::kFirstOptions);
}

windhover_status windhover_engine_footprint(const windhover_engine_options* options, size_t* bytes,
                                            windhover_error* error) {
  windhover::EngineConfig config;
  if (const auto status = config_of(options, config, error); status != WINDHOVER_OK) return status;
  if (bytes == nullptr) return explain(error, WINDHOVER_INVALID_ARGUMENT, "bytes must not be NULL");
  const auto needed = windhover::Engine::footprint(config);
  if (!needed.ok()) return explain(error, needed.error());
  *bytes = needed.value();
  return WINDHOVER_OK;
}

windhover_status windhover_engine_create(const windhover_engine_options* options,
                                         windhover_engine** engine, windhover_error* error) {
  if (engine != nullptr) *engine = nullptr;
  windhover::EngineConfig config;
  if (const auto status = config_of(options, config, error); status != WINDHOVER_OK) return status;
  if (engine == nullptr)
    return explain(error, WINDHOVER_INVALID_ARGUMENT, "engine must not be NULL");
  const auto needed = windhover::Engine::footprint(config);
  if (!needed.ok()) return explain(error, needed.error());
  const auto bytes = static_cast<double>(needed.value());
  std::unique_ptr<windhover_engine> made(new (std::nothrow) windhover_engine(needed.value()));
  if (made != nullptr) made->readers.reset(new (std::nothrow) windhover_reader[config.max_readers]);
  const bool keeps = config.labels.pending > 0;
  if (made != nullptr && keeps) {
    made->keys.reset(new (std::nothrow) std::string_view[config.max_frame_rows]);
  }
  if (made == nullptr || made->readers == nullptr || !made->block.valid() ||
      (keeps && made->keys == nullptr)) {
    return explain(error, WINDHOVER_NO_MEMORY, "the system does not give so many bytes", bytes);
  }
  const auto created = windhover::Engine::create(config, made->block.bytes(), made->clock);
  if (!created.ok()) return explain(error, created.error());
  made->engine = created.value();
  for (std::uint32_t i = 0; i < config.max_readers; ++i) {
    const auto reader = made->engine->reader();
    if (!reader.ok()) return explain(error, reader.error());
    made->readers[i].engine = made.get();
    made->readers[i].reader.emplace(reader.value());
  }
  const windhover::EngineConfig& full = made->engine->config();
  const auto response = windhover::find_model(full.model.name)->response;
  if (response == windhover::Response::kCategorical) made->classes = full.model.classes;
  *engine = made.release();
  return WINDHOVER_OK;
}

void windhover_engine_destroy(windhover_engine* engine) {
  if (engine == nullptr) return;
  engine->learner.stop();
  delete engine;
}

uint32_t windhover_engine_dimension(const windhover_engine* engine) {
  return engine == nullptr ? 0 : engine->engine->dimension();
}

uint64_t windhover_engine_head(const windhover_engine* engine) {
  return engine == nullptr ? 0 : engine->engine->head();
}

windhover_status windhover_engine_observe(windhover_engine* engine, const double* features,
                                          size_t count, double target) {
  if (engine == nullptr || (features == nullptr && count > 0)) return WINDHOVER_INVALID_ARGUMENT;
  // A model of sparse rows takes no dense row.
  if (engine->engine->config().model.max_nonzeros > 0) return WINDHOVER_WRONG_DIMENSION;
  return to_c(engine->engine->observe({features, count}, target));
}

windhover_status windhover_engine_observe_rows(windhover_engine* engine, const windhover_rows* rows,
                                               windhover_refused_row* listed, size_t room,
                                               size_t* accepted, size_t* refused) {
  if (engine == nullptr || (listed == nullptr && room > 0)) return WINDHOVER_INVALID_ARGUMENT;
  if (const auto status = windhover::check_rows(rows); status != WINDHOVER_OK) return status;
  const bool sparse = rows->row_ends != nullptr;
  if (rows->rows > 0 && sparse != (engine->engine->config().model.max_nonzeros > 0)) {
    return WINDHOVER_WRONG_DIMENSION;
  }
  const auto result = windhover::listing(listed, room, [&](auto refused_rows) {
    return engine->engine->observe(windhover::batch_of(*rows), refused_rows);
  });
  if (accepted != nullptr) *accepted = result.accepted;
  if (refused != nullptr) *refused = result.refused;
  return to_c(result.status);
}

windhover_status windhover_engine_outcomes(windhover_engine* engine, const char* const* keys,
                                           const double* targets, size_t count,
                                           windhover_refused_row* listed, size_t room,
                                           windhover_joined* joined) {
  if (engine == nullptr || ((keys == nullptr || targets == nullptr) && count > 0) ||
      (listed == nullptr && room > 0)) {
    return WINDHOVER_INVALID_ARGUMENT;
  }
  if (const auto status = windhover::check_wanted(joined); status != WINDHOVER_OK) return status;
  if (engine->keys == nullptr) return WINDHOVER_KEY_NOT_TAKEN;
  if (count > engine->engine->config().max_frame_rows) return WINDHOVER_TOO_LARGE;
  const windhover::OutcomeBatch batch = {windhover::keys_of(keys, count, engine->keys.get()),
                                         {targets, count}};
  const auto result = windhover::listing(listed, room, [&](auto refused_rows) {
    return engine->engine->labels().observe(batch, refused_rows);
  });
  if (joined != nullptr) {
    windhover_joined out{};
    out.accepted = result.accepted;
    out.refused = result.refused;
    out.duplicate = result.duplicate;
    windhover::give(out, joined);
  }
  return to_c(result.status);
}

windhover_status windhover_engine_settle_labels(windhover_engine* engine) {
  if (engine == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  for (;;) {
    const auto result = engine->engine->labels().settle(engine->engine->config().max_frame_rows);
    if (!ok(result.status) || result.timed_out == 0) return to_c(result.status);
  }
}

uint64_t windhover_engine_pending_labels(const windhover_engine* engine) {
  return engine == nullptr ? 0 : engine->engine->labels().pending();
}

windhover_status windhover_engine_poll(windhover_engine* engine, int max_work, int* done) {
  if (done != nullptr) *done = 0;
  if (engine == nullptr || max_work < 0) return WINDHOVER_INVALID_ARGUMENT;
  if (engine->running) return WINDHOVER_UNAVAILABLE;
  const int worth = engine->engine->poll(max_work);
  if (done != nullptr) *done = worth;
  return WINDHOVER_OK;
}

windhover_status windhover_engine_start(windhover_engine* engine) {
  if (engine == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  if (engine->running) return WINDHOVER_UNAVAILABLE;
  const auto status = engine->learner.start(*engine->engine, {}, windhover::IdleStrategy::kPark);
  engine->running = ok(status);
  return to_c(status);
}

windhover_status windhover_engine_stop(windhover_engine* engine) {
  if (engine == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  engine->learner.stop();
  engine->running = false;
  return WINDHOVER_OK;
}

windhover_status windhover_engine_pause(windhover_engine* engine, int paused) {
  if (engine == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  engine->engine->progress().pause(paused != 0);
  return WINDHOVER_OK;
}
