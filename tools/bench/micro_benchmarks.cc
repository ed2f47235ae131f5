// Google Benchmark of the hot functions, most with a column of heap calls, which must be 0 for the
// library's own functions.
//
//   build/bin/windhover_benchmarks [--benchmark_filter=...] [--benchmark_format=json]
//
// Here: rounds, snapshots, rows into the window. micro_learner.cc: the parts of a round but the
// moves. micro_samplers.cc: moves, gradients, sums, preconditioners. micro_random.cc: random
// numbers. micro_predictions.cc: answers. micro_io.cc: framing, codec, producers.
// micro_conversation.cc: a request in, its answer out. micro_client.cc: the other side, and rows
// from a file. micro_log.cc: commits to the disk. micro_checkpoint.cc: saving and restoring an
// engine.
//
// step/... are whole rounds of the engine: minibatch indices, gradients of all chains, the full
// preconditioner, injected noise, the sweep for the noise covariance and the retained draws. range:
// dimension, minibatch size, rows that come before each round. Where none come, the window stays
// the same and sweeps over it become rare.
#include "windhover/tools/bench/heap_column.h"
#include "windhover/tools/bench/micro_stream.h"

namespace windhover::micro_benchmarks {
namespace {

// range: dimension, minibatch size, rows that come before each round. Where none do, the window
// stays the same and sweeps over it become rare.
void step(benchmark::State& state, const char* model, const char* sampler) {
  EngineConfig config = MicroStream::config(model, argument(state, 0));
  config.sampler.name = sampler;
  config.sampler.minibatch_size = argument(state, 1);
  const auto fresh = argument(state, 2);
  MicroStream stream(config);
  const auto examples = [&] { return stream.engine().counters().get(RuntimeCounter::kExamples); };
  const std::uint64_t before = examples();
  measure(state, [&] { stream.round(fresh); });
  state.counters["examples/s"] =
      benchmark::Counter(static_cast<double>(examples() - before), benchmark::Counter::kIsRate);
}

// A new snapshot. While the clock stands still rounds publish none; poll(0) publishes one if the
// rounds have retained a draw.
void publish(benchmark::State& state) {
  constexpr int kRounds = 64;
  constexpr std::uint32_t kFresh = 16;
  ManualClock clock;
  MicroStream stream(MicroStream::config("linear", argument(state, 0)), &clock);
  const auto snapshots = [&] { return stream.engine().counters().get(RuntimeCounter::kSnapshots); };
  const std::uint64_t before = snapshots();
  measure(state, [&] {
    state.PauseTiming();
    for (int i = 0; i < kRounds; ++i) stream.round(kFresh);
    state.ResumeTiming();
    stream.engine().poll(0);
  });
  if (snapshots() - before != static_cast<std::uint64_t>(state.iterations())) {
    state.SkipWithError("not one snapshot an iteration");
  }
}

// Rows into the window, dense (nonzeros 0) or sparse.
void observe(benchmark::State& state) {
  EngineConfig config;
  config.model.features = argument(state, 0);
  config.model.max_nonzeros = argument(state, 2);
  config.window_size = 100'000;
  const OwnedEngine engine(config);
  const auto rows = static_cast<std::size_t>(state.range(1));
  const std::uint32_t nonzeros = config.model.max_nonzeros;
  const std::size_t a_row = nonzeros > 0 ? nonzeros : config.model.features;
  const std::vector<float> values(rows * a_row, 0.5F);
  const std::vector<float> targets(rows, 1.0F);
  std::vector<std::uint32_t> indices;
  std::vector<std::uint32_t> row_ends;
  ObservationBatch batch;
  batch.rows = rows;
  batch.scalar = Scalar::kFloat32;
  batch.features = reinterpret_cast<const std::byte*>(values.data());
  batch.feature_values = values.size();
  batch.targets = reinterpret_cast<const std::byte*>(targets.data());
  if (nonzeros > 0) {
    for (std::uint32_t i = 0; i < rows; ++i) {
      for (std::uint32_t k = 0; k < nonzeros; ++k) indices.push_back(k);
      row_ends.push_back(static_cast<std::uint32_t>(indices.size()));
    }
    batch.indices = reinterpret_cast<const std::byte*>(indices.data());
    batch.row_ends = reinterpret_cast<const std::byte*>(row_ends.data());
  }
  measure(state, [&] {
    if (engine->observe(batch, {}).status == Status::kWindowFull) {
      state.PauseTiming();
      engine->poll(1);
      state.ResumeTiming();
    }
  });
  state.SetItemsProcessed(static_cast<std::int64_t>(rows) * state.iterations());
}

BENCHMARK_CAPTURE(step, linear_calibrated, "linear", "calibrated")
    ->ArgsProduct({{12}, {100}, {0, 16}})
    ->ArgsProduct({{100}, {200}, {0, 16}});
BENCHMARK_CAPTURE(step, linear_sgd_d, "linear", "sgd-d")->Args({12, 100, 0})->Args({12, 100, 16});
BENCHMARK_CAPTURE(step, logistic_calibrated, "logistic", "calibrated")
    ->Args({12, 100, 0})
    ->Args({12, 100, 16});
BENCHMARK(publish)->Arg(10)->Arg(100)->Iterations(500);
BENCHMARK(observe)->Args({10, 1, 0})->Args({10, 256, 0})->Args({460, 256, 8});

}  // namespace
}  // namespace windhover::micro_benchmarks

BENCHMARK_MAIN();
