// Readers of an engine.
#include <new>

#include "windhover/io/c/border.h"
#include "windhover/io/c/engine_handle.h"

using windhover::to_c;

windhover_status windhover_reader_create(windhover_engine* engine, windhover_reader** reader) {
  if (reader != nullptr) *reader = nullptr;
  if (engine == nullptr || reader == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  const windhover::EngineConfig& config = engine->engine->config();
  for (std::uint32_t i = 0; i < config.max_readers; ++i) {
    windhover_reader& place = engine->readers[i];
    if (place.taken.exchange(true, std::memory_order_acquire)) continue;
    place.summaries.reset(new (std::nothrow) windhover::PredictiveSummary[config.max_query_rows]);
    place.parameters.reset(new (std::nothrow)
                               windhover::ParameterSummary[engine->engine->dimension()]);
    place.keys.reset(new (std::nothrow) std::string_view[config.max_query_rows]);
    if (place.summaries == nullptr || place.parameters == nullptr || place.keys == nullptr) {
      windhover_reader_destroy(&place);
      return WINDHOVER_NO_MEMORY;
    }
    *reader = &place;
    return WINDHOVER_OK;
  }
  return WINDHOVER_UNAVAILABLE;
}

void windhover_reader_destroy(windhover_reader* reader) {
  if (reader == nullptr) return;
  (void)windhover_reader_release(reader);
  reader->summaries.reset();
  reader->parameters.reset();
  reader->keys.reset();
  reader->taken.store(false, std::memory_order_release);
}

windhover_status windhover_reader_predict(windhover_reader* reader,
                                          const windhover_question* question,
                                          const windhover_answer* answer) {
  if (reader == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  const auto status = windhover::check_question(question, answer, reader->engine->classes);
  if (status != WINDHOVER_OK) return status;
  const windhover::EngineConfig& config = reader->engine->engine->config();
  if (question->rows > config.max_query_rows) return WINDHOVER_TOO_LARGE;
  if ((question->row_ends != nullptr) != (config.model.max_nonzeros > 0)) {
    return WINDHOVER_WRONG_DIMENSION;
  }
  windhover::PredictiveSummary* const summaries = reader->summaries.get();
  windhover::Provenance provenance;
  windhover::PredictRequest request = windhover::request_of(*question);
  if (windhover::has_keys(*question)) {
    request.keys = windhover::keys_of(question->keys, question->rows, reader->keys.get());
  }
  const auto answered =
      reader->reader->predict(request, {summaries, config.max_query_rows}, provenance);
  if (!ok(answered)) return to_c(answered);
  windhover::give_answer(*question, {summaries, question->rows}, provenance, *answer);
  return WINDHOVER_OK;
}

windhover_status windhover_reader_posterior(windhover_reader* reader,
                                            windhover_parameter* parameters, size_t parameter_size,
                                            size_t room, windhover_provenance* provenance) {
  if (reader == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  const std::uint32_t dimension = reader->engine->engine->dimension();
  auto status = windhover::check_parameters(parameters, parameter_size, room, dimension);
  if (status == WINDHOVER_OK) status = windhover::check_wanted(provenance);
  if (status != WINDHOVER_OK) return status;
  windhover::Provenance of;
  const auto answered = reader->reader->posterior({reader->parameters.get(), dimension}, of);
  if (!ok(answered)) return to_c(answered);
  windhover::give_parameters({reader->parameters.get(), dimension}, parameters, parameter_size);
  windhover::give_provenance(of, provenance);
  return WINDHOVER_OK;
}

windhover_status windhover_reader_events(windhover_reader* reader, windhover_event* events,
                                         size_t event_size, size_t room, size_t* count) {
  if (count != nullptr) *count = 0;
  if (reader == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  const auto status = windhover::check_events(events, event_size, room, count);
  if (status != WINDHOVER_OK) return status;
  windhover::EventList list;
  reader->reader->events(list);
  windhover::give_events(list.all(), events, event_size, room, *count);
  return WINDHOVER_OK;
}

windhover_status windhover_reader_draws(windhover_reader* reader, size_t first, size_t count,
                                        double* draws, size_t room,
                                        windhover_provenance* provenance) {
  if (reader == nullptr || (draws == nullptr && room > 0)) return WINDHOVER_INVALID_ARGUMENT;
  const auto status = windhover::check_wanted(provenance);
  if (status != WINDHOVER_OK) return status;
  if (first > 0 && !reader->keeps) return WINDHOVER_UNAVAILABLE;
  windhover::Provenance of;
  const std::uint64_t from = first == 0 ? 0 : reader->snapshot;
  const auto answered = reader->reader->draws(from, first, count, {draws, room}, of);
  if (!ok(answered)) return to_c(answered);
  reader->snapshot = of.snapshot_id;
  reader->keeps = true;
  windhover::give_provenance(of, provenance);
  return WINDHOVER_OK;
}

windhover_status windhover_reader_release(windhover_reader* reader) {
  if (reader == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  reader->reader->release();
  reader->keeps = false;
  return WINDHOVER_OK;
}
