#include "windhover/io/python/native/engine.h"

#include <array>
#include <cstdio>
#include <cstring>

#include "windhover/io/python/native/without_gil.h"

namespace py = pybind11;

namespace windhover::python {
namespace {

using Free = WithoutGil;

template <class T>
const T* data_of(const Maybe<T>& numbers) {
  return numbers.has_value() && numbers->size() > 0 ? numbers->data() : nullptr;
}
// Checks the length, so that the library never reads past the array's end.
template <class T>
const T* data_of(const Maybe<T>& numbers, std::size_t count) {
  if (numbers.has_value() && static_cast<std::size_t>(numbers->size()) != count) {
    throw std::invalid_argument("an array has not one number a row, or one column a value");
  }
  return data_of(numbers);
}
// Where a table of `columns` numbers a row is written; null for one without columns.
double* room_of(Array<double>& numbers, std::size_t rows, std::size_t columns) {
  if (static_cast<std::size_t>(numbers.size()) != rows * columns) {
    throw std::invalid_argument("a table has not the numbers that are asked for");
  }
  return columns > 0 ? numbers.mutable_data() : nullptr;
}

// windhover_rows and windhover_question have these fields in common.
template <class Rows>
void fill(Rows& out, const RowArrays& rows, std::size_t count) {
  out.rows = count;
  out.features = rows.features.data();
  out.feature_values = static_cast<std::size_t>(rows.features.size());
  out.indices = data_of(rows.indices, out.feature_values);
  out.row_ends = data_of(rows.row_ends, count);
  out.offsets = data_of(rows.offsets, count);
  out.trials = data_of(rows.trials, count);
}

RefusedRows listed_in(const std::vector<windhover_refused_row>& listed, std::size_t refused) {
  RefusedRows out;
  for (std::size_t i = 0; i < refused; ++i) out.emplace_back(listed[i].row, listed[i].reason);
  return out;
}

std::vector<const char*> texts_of(const std::vector<std::string>& keys) {
  std::vector<const char*> out;
  for (const std::string& key : keys) out.push_back(key.c_str());
  return out;
}

std::string text_of(const windhover_error& error) {
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), " (%g)", error.number);
  return error.sentence + std::string(number.data());
}

int append(void* out, const void* bytes, std::size_t size) noexcept {
  try {
    static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), size);
    return 0;
  } catch (...) {
    return -1;
  }
}

int take(void* from, void* bytes, std::size_t size) noexcept {
  auto& rest = *static_cast<std::string_view*>(from);
  if (rest.size() < size) return -1;
  std::memcpy(bytes, rest.data(), size);
  rest.remove_prefix(size);
  return 0;
}

}  // namespace

SetUpError::SetUpError(const windhover_error& error) : std::runtime_error(text_of(error)) {}

Options::Options(const Library& library) : c{} {
  library.windhover_engine_options_init(&c, sizeof(c));
  set_model(c.model);
  set_sampler(c.sampler);
}

void Options::set_model(std::string text) {
  model = std::move(text);
  c.model = model.c_str();
}

void Options::set_sampler(std::string text) {
  sampler = std::move(text);
  c.sampler = sampler.c_str();
}

Engine::Engine(const Library& library, const Options& options) : library_(library) {
  windhover_error error{};
  const Free free;
  if (library_.windhover_engine_footprint(&options.c, &footprint_, &error) != WINDHOVER_OK ||
      library_.windhover_engine_create(&options.c, &engine_, &error) != WINDHOVER_OK) {
    throw SetUpError(error);
  }
}

void Engine::destroy() {
  const Free free;
  library_.windhover_engine_destroy(std::exchange(engine_, nullptr));
}

std::pair<int, RefusedRows> Engine::observe(const RowArrays& rows, const Array<double>& targets,
                                            const Maybe<double>& weights) {
  const auto count = static_cast<std::size_t>(targets.size());
  windhover_rows frame;
  library_.windhover_rows_init(&frame, sizeof(frame));
  fill(frame, rows, count);
  frame.targets = targets.data();
  frame.weights = data_of(weights, count);
  std::size_t refused = 0;
  const Free free;
  std::vector<windhover_refused_row> listed(count);
  const int status = library_.windhover_engine_observe_rows(engine_, &frame, listed.data(), count,
                                                            nullptr, &refused);
  return {status, listed_in(listed, status == WINDHOVER_OK ? refused : 0)};
}

std::tuple<int, std::uint64_t, std::uint64_t, std::uint64_t, RefusedRows> Engine::outcomes(
    const std::vector<std::string>& keys, const Array<double>& targets) {
  if (static_cast<std::size_t>(targets.size()) != keys.size()) {
    throw std::invalid_argument("not one target a key");
  }
  const std::vector<const char*> texts = texts_of(keys);
  std::vector<windhover_refused_row> listed(keys.size());
  windhover_joined joined;
  library_.windhover_joined_init(&joined, sizeof(joined));
  int status = WINDHOVER_OK;
  {
    const Free free;
    status = library_.windhover_engine_outcomes(engine_, texts.data(), targets.data(), keys.size(),
                                                listed.data(), listed.size(), &joined);
  }
  const std::size_t refused = status == WINDHOVER_OK ? joined.refused : 0;
  return {status, joined.accepted, joined.refused, joined.duplicate, listed_in(listed, refused)};
}

int Engine::settle_labels() {
  const Free free;
  return library_.windhover_engine_settle_labels(engine_);
}

std::pair<int, int> Engine::poll(int rounds) {
  const Free free;
  int done = 0;
  const int status = library_.windhover_engine_poll(engine_, rounds, &done);
  return {status, done};
}

int Engine::start() {
  const Free free;
  return library_.windhover_engine_start(engine_);
}

int Engine::stop() {
  const Free free;
  return library_.windhover_engine_stop(engine_);
}

int Engine::pause(bool paused) {
  const Free free;
  return library_.windhover_engine_pause(engine_, paused ? 1 : 0);
}

std::pair<int, py::bytes> Engine::save() {
  std::string kept;
  int status = WINDHOVER_OK;
  {
    const Free free;
    status = library_.windhover_engine_save(engine_, &append, &kept);
  }
  return {status, py::bytes(kept)};
}

void Engine::restore(std::string_view kept) {
  windhover_error error{};
  const Free free;
  if (library_.windhover_engine_restore(engine_, &take, &kept, &error) != WINDHOVER_OK) {
    throw SetUpError(error);
  }
}

Reader::Reader(const Engine& engine) : library_(engine.library()), engine_(engine) {
  const windhover_status status = library_.windhover_reader_create(engine.handle(), &reader_);
  if (status != WINDHOVER_OK) throw std::runtime_error(library_.windhover_status_text(status));
}

void Reader::destroy() {
  library_.windhover_reader_destroy(alive());
  reader_ = nullptr;
}

windhover_provenance Reader::provenance() const {
  windhover_provenance out;
  library_.windhover_provenance_init(&out, sizeof(out));
  return out;
}

std::pair<int, windhover_provenance> Reader::predict(const RowArrays& rows,
                                                     const QuestionArrays& question,
                                                     AnswerArrays& answer) {
  windhover_provenance where = provenance();
  windhover_question asked;
  library_.windhover_question_init(&asked, sizeof(asked));
  fill(asked, rows, static_cast<std::size_t>(answer.predictions.size()));
  asked.outcomes = data_of(question.outcomes, asked.rows);
  asked.interval = question.interval;
  asked.thompson_id = question.thompson_id;
  asked.posterior_spread = question.posterior_spread ? 1 : 0;
  asked.quantile_count = static_cast<std::size_t>(question.quantiles.size());
  asked.quantiles = asked.quantile_count > 0 ? question.quantiles.data() : nullptr;
  asked.threshold_count = static_cast<std::size_t>(question.thresholds.size());
  asked.thresholds = asked.threshold_count > 0 ? question.thresholds.data() : nullptr;
  const std::vector<const char*> keys = texts_of(question.keys);
  if (!keys.empty() && keys.size() != asked.rows) throw std::invalid_argument("not one key a row");
  asked.keys = keys.empty() ? nullptr : keys.data();

  windhover_answer into;
  library_.windhover_answer_init(&into, sizeof(into));
  into.predictions = answer.predictions.mutable_data();
  into.prediction_size = sizeof(windhover_prediction);
  into.quantiles = room_of(answer.quantiles, asked.rows, asked.quantile_count);
  into.exceedance = room_of(answer.exceedance, asked.rows, asked.threshold_count);
  into.classes = question.classes;
  into.probabilities = room_of(answer.probabilities, asked.rows, into.classes);
  into.probabilities_sd = room_of(answer.probabilities_sd, asked.rows, into.classes);
  into.probabilities_lower = room_of(answer.probabilities_lower, asked.rows, into.classes);
  into.probabilities_upper = room_of(answer.probabilities_upper, asked.rows, into.classes);
  into.provenance = &where;
  const Free free;
  const int status = library_.windhover_reader_predict(alive(), &asked, &into);
  return {status, where};
}

std::pair<int, windhover_provenance> Reader::posterior(Array<windhover_parameter>& parameters) {
  windhover_provenance where = provenance();
  windhover_parameter* const out = parameters.mutable_data();
  const auto room = static_cast<std::size_t>(parameters.size());
  const Free free;
  const int status =
      library_.windhover_reader_posterior(alive(), out, sizeof(windhover_parameter), room, &where);
  return {status, where};
}

std::pair<int, windhover_provenance> Reader::draws(Array<double>& theta) {
  windhover_provenance where = provenance();
  double* const out = theta.ndim() == 2 ? theta.mutable_data() : nullptr;
  const std::size_t dimension = out != nullptr ? static_cast<std::size_t>(theta.shape(1)) : 0;
  const auto room = static_cast<std::size_t>(theta.size());
  const Free free;
  // The first call takes a snapshot and keeps it for those that follow.
  int status = library_.windhover_reader_draws(alive(), 0, 0, nullptr, 0, &where);
  if (status == WINDHOVER_OK && room > 0 && where.draws > 0) {
    status = library_.windhover_reader_draws(alive(), 0, 1, out, room, &where);
    if (status == WINDHOVER_OK && where.draws > 1) {
      status = library_.windhover_reader_draws(alive(), 1, where.draws - 1, out + dimension,
                                               room - dimension, nullptr);
    }
  }
  library_.windhover_reader_release(alive());
  return {status, where};
}

std::pair<int, std::vector<windhover_event>> Reader::events() {
  std::vector<windhover_event> room(WINDHOVER_MAX_EVENTS);
  std::size_t count = 0;
  const int status = library_.windhover_reader_events(alive(), room.data(), sizeof(windhover_event),
                                                      room.size(), &count);
  room.resize(status == WINDHOVER_OK ? count : 0);
  return {status, std::move(room)};
}

}  // namespace windhover::python
