// A whole request in memory: the bytes of a frame in, the bytes of its answer out; see
// micro_benchmarks.cc. A server adds the socket to this.
#include "windhover/tools/bench/frame_source.h"
#include "windhover/tools/bench/heap_column.h"
#include "windhover/tools/bench/micro_stream.h"
#include "windhover/tools/bench/micro_talk.h"
#include "windhover/tools/bench/question_source.h"

namespace windhover::micro_conversation {
namespace {

void talk(benchmark::State& state, const std::string& frame, std::uint32_t dimension) {
  RealClock clock;
  MicroStream stream(MicroStream::config("linear", dimension));
  Talk talk(stream.engine(), EndpointKind::kQuery, clock);
  std::size_t bytes = talk.ask(frame);
  measure(state, [&] { benchmark::DoNotOptimize(bytes = talk.ask(frame)); });
  if (bytes == 0 || talk.count(IoCounter::kQueriesRefused) > 0) state.SkipWithError("no answer");
  state.counters["answer_bytes"] = static_cast<double>(bytes);
}

void predict(benchmark::State& state) {
  const auto dimension = argument(state, 0);
  talk(state, predict_frame(dimension - 1, argument(state, 1)), dimension);
}
void posterior(benchmark::State& state) { talk(state, posterior_frame(), argument(state, 0)); }
void draws(benchmark::State& state) {
  v1::Request request;
  request.set_id(1);
  request.mutable_draws();  // the first page of the newest snapshot
  talk(state, framed(request), argument(state, 0));
}
void status(benchmark::State& state) { talk(state, status_frame(), 10); }

// Reads of up to 64 KiB of whole frames: found, decoded, checked, taken into the window, and
// acknowledged once a read. Where the window is full the learner takes the rows, which is not
// measured.
void observe(benchmark::State& state) {
  const LoadRows rows{.features = argument(state, 0),
                      .nonzeros = argument(state, 2),
                      .rows_per_frame = argument(state, 1)};
  const FrameBytes frames(rows);
  constexpr std::size_t kRead = 64 * 1024;
  const auto last = std::ranges::upper_bound(frames.ends, kRead) - 1;
  const std::string_view read = std::string_view(frames.bytes).substr(0, *last);
  EngineConfig config;
  config.model.features = rows.features;
  config.model.max_nonzeros = rows.nonzeros;
  RealClock clock;
  const OwnedEngine engine(config, &clock);
  Talk talk(*engine, EndpointKind::kObserve, clock);
  const auto messages = static_cast<std::int64_t>(last - frames.ends.begin() + 1);
  const std::uint64_t slack = engine->config().window_slack;
  const std::uint64_t a_read = static_cast<std::uint64_t>(messages) * rows.rows_per_frame;
  std::uint64_t taken = 0;
  measure(state, [&] {
    if (engine->head() + a_read > taken + slack) {
      state.PauseTiming();
      engine->poll(1);
      taken = engine->head();
      state.ResumeTiming();
    }
    benchmark::DoNotOptimize(talk.ask(read));
  });
  const auto rows_sent = static_cast<std::int64_t>(a_read) * state.iterations();
  if (engine->head() != static_cast<std::uint64_t>(rows_sent)) state.SkipWithError("rows are gone");
  state.counters["messages/s"] = benchmark::Counter(
      static_cast<double>(messages * state.iterations()), benchmark::Counter::kIsRate);
  state.SetItemsProcessed(rows_sent);
  state.SetBytesProcessed(static_cast<std::int64_t>(read.size()) * state.iterations());
}

BENCHMARK(predict)->Name("conversation/predict")->Args({10, 1})->Args({100, 1})->Args({10, 256});
BENCHMARK(posterior)->Name("conversation/posterior")->Arg(10)->Arg(100);
BENCHMARK(draws)->Name("conversation/draws")->Arg(10)->Arg(100);
BENCHMARK(status)->Name("conversation/status");
BENCHMARK(observe)
    ->Name("conversation/observe")
    ->Args({9, 1, 0})
    ->Args({9, 256, 0})
    ->Args({460, 256, 8});

}  // namespace
}  // namespace windhover::micro_conversation
