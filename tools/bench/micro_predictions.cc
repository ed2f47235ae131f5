// Answers in process, from the newest snapshot; see micro_benchmarks.cc. Predictions are measured
// for all models of the registry.
#include <span>
#include <string>

#include "windhover/tools/bench/heap_column.h"
#include "windhover/tools/bench/micro_stream.h"

namespace windhover::micro_predictions {
namespace {

struct Question {
  std::uint32_t nonzeros = 0;  // sparse rows of so many; 0: dense
  bool with_draws = true;      // a Thompson draw, which reads all draws even for one row
  bool with_quantiles = false;
};

bool gives_thompson_draws(const ModelEntry& model) {
  return !model.network && model.response != Response::kCategorical;
}

// range: dimension, rows of a request.
void predict(benchmark::State& state, std::string_view model, const Question& question) {
  EngineConfig config = MicroStream::config(model, argument(state, 0));
  config.model.max_nonzeros = question.nonzeros;
  // A network takes long to learn, and what its answers cost does not depend on that.
  MicroStream stream(config, nullptr, !find_model(model)->network);
  Reader reader = stream.engine().reader().value();
  const auto rows = static_cast<std::size_t>(state.range(1));
  const MicroRows& from = stream.rows();
  PredictRequest request;
  request.rows = rows;
  request.features = std::span(from.values()).first(rows * from.a_row());
  if (question.nonzeros > 0) {
    request.indices = std::span(from.indices()).first(rows * from.a_row());
    request.row_ends = std::span(from.row_ends()).first(rows);
  }
  const std::vector<double> quantiles = {0.05, 0.25, 0.5, 0.75, 0.95};
  if (question.with_quantiles) request.quantile_probabilities = quantiles;
  if (question.with_draws) request.thompson_id = 1;
  std::vector<PredictiveSummary> summaries(rows);
  Provenance provenance;
  Status status = Status::kOk;
  measure(state, [&] { status = reader.predict(request, summaries, provenance); });
  if (!ok(status)) state.SkipWithError(to_string(status));
  state.SetItemsProcessed(state.range(1) * state.iterations());
}

// "predict/MODEL/D/ROWS", with a Thompson draw where the model has one; predict_quantiles with five
// quantiles, predict_sparse for rows of 8 non-zeros, predict_alone without the Thompson draw.
bool register_predictions() {
  for (const ModelEntry& model : model_registry()) {
    const auto add = [&](const std::string& what, const Question& question) {
      const std::string name = what + "/" + std::string(model.name);
      return benchmark::RegisterBenchmark(
          name.c_str(),
          [&model, question](benchmark::State& state) { predict(state, model.name, question); });
    };
    const bool draws = gives_thompson_draws(model);
    auto* dense = add("predict", {.with_draws = draws})->Args({10, 1})->Args({10, 256});
    if (draws) dense->Args({100, 1})->Args({100, 256});
    if (model.name == "linear") dense->Args({1000, 1})->Args({1000, 256});
    const int sparse_dimension = model.network ? 25 : 101;  // a network has many more parameters
    add("predict_sparse", {.nonzeros = 8, .with_draws = draws})
        ->Args({sparse_dimension, 1})
        ->Args({sparse_dimension, 256});
    if (model.response != Response::kCategorical) {
      add("predict_quantiles", {.with_draws = draws, .with_quantiles = true})
          ->Args({10, 1})
          ->Args({10, 256});
    }
    if (draws) add("predict_alone", {.with_draws = false})->Args({10, 1})->Args({100, 1});
  }
  return true;
}
const bool kRegistered = register_predictions();

// The summaries of all parameters.
void posterior(benchmark::State& state) {
  MicroStream stream(MicroStream::config("linear", argument(state, 0)));
  Reader reader = stream.engine().reader().value();
  std::vector<ParameterSummary> summaries(stream.engine().dimension());
  Provenance provenance;
  measure(state, [&] { benchmark::DoNotOptimize(reader.posterior(summaries, provenance)); });
}

// All 64 draws, from the newest snapshot.
void draws(benchmark::State& state) {
  MicroStream stream(MicroStream::config("linear", argument(state, 0)));
  Reader reader = stream.engine().reader().value();
  const std::size_t count = stream.engine().config().retained_draws;
  std::vector<double> theta(count * stream.engine().dimension());
  Provenance provenance;
  Status status = Status::kOk;
  measure(state, [&] { status = reader.draws(0, 0, count, theta, provenance); });
  if (!ok(status)) state.SkipWithError(to_string(status));
}

BENCHMARK(posterior)->Arg(10)->Arg(100);
BENCHMARK(draws)->Arg(10)->Arg(100);

}  // namespace
}  // namespace windhover::micro_predictions
