// A whole request: the bytes of a frame in, the bytes of its answer out, in memory; see
// micro_benchmarks.cc. What a server adds is the socket.
#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "windhover/io/codec.h"
#include "windhover/io/conversation.h"
#include "windhover/io/framing.h"
#include "windhover/io/windhover.pb.h"
#include "windhover/tools/bench/heap_column.h"
#include "windhover/tools/bench/learning_engine.h"
#include "windhover/tools/bench/question_source.h"

namespace windhover {
namespace {

// A welcomed connection of the query endpoint to an engine that has learned.
class Talk {
 public:
  explicit Talk(std::uint32_t dimension)
      : learning_("linear", "calibrated", dimension, 64),
        limits_(limits_of(ServerConfig{}, learning_.engine().config())),
        block_([this] {
          Arena measuring = Arena::measuring();
          (void)QueryHandler(measuring, limits_);
          return measuring.used();
        }()),
        arena_(block_.bytes()),
        queries_(arena_, limits_),
        reply_block_(limits_.reply_buffer),
        replies_(reply_block_.bytes()),
        context_{&state_, &queries_, nullptr},
        conversation_(context_) {
    Engine& engine = learning_.engine();
    state_.limits = limits_;
    state_.engine = &engine;
    state_.clock = &clock_;
    queries_.bind(state_, EndpointKind::kQuery, engine.reader().value(), engine.reader().value());
    conversation_.begin();
    v1::Request hello;
    hello.mutable_hello()->set_version_min(1);
    hello.mutable_hello()->set_version_max(1);
    const std::string body = hello.SerializeAsString();
    std::array<std::byte, kMaxFrameHeader> header{};
    const std::size_t size =
        write_frame_header(static_cast<std::uint32_t>(body.size()), header.data());
    (void)ask(std::string(reinterpret_cast<const char*>(header.data()), size) + body);
  }

  // Bytes of the answer; 0 when there is none, or the conversation ends.
  std::size_t ask(std::string_view frame) {
    replies_.clear();
    const Conversation::Turn turn = conversation_.handle(std::as_bytes(std::span(frame)), replies_);
    return turn.end == TurnEnd::kClose ? 0 : replies_.pending().size();
  }
  std::uint64_t refused() { return state_.counters.get(IoCounter::kQueriesRefused); }

 private:
  LearningEngine learning_;
  RealClock clock_;
  Limits limits_;
  MappedBlock block_;
  Arena arena_;
  QueryHandler queries_;
  MappedBlock reply_block_;
  ReplyBuffer replies_;
  ServerState state_;
  ConversationContext context_;
  Conversation conversation_;
};

void talk(benchmark::State& state, const std::string& frame, std::uint32_t dimension) {
  Talk talk(dimension);
  std::size_t bytes = talk.ask(frame);
  {
    const HeapColumn heap(state);
    for (auto _ : state) benchmark::DoNotOptimize(bytes = talk.ask(frame));
  }
  if (bytes == 0 || talk.refused() > 0) state.SkipWithError("no answer");
  state.counters["answer_bytes"] = static_cast<double>(bytes);
}

void predict(benchmark::State& state) {
  const auto dimension = static_cast<std::uint32_t>(state.range(0));
  talk(state, predict_frame(dimension - 1, static_cast<std::uint32_t>(state.range(1))), dimension);
}
void posterior(benchmark::State& state) {
  talk(state, posterior_frame(), static_cast<std::uint32_t>(state.range(0)));
}
void status(benchmark::State& state) { talk(state, status_frame(), 10); }

BENCHMARK(predict)->Name("conversation/predict")->Args({10, 1})->Args({100, 1})->Args({10, 256});
BENCHMARK(posterior)->Name("conversation/posterior")->Arg(10)->Arg(100);
BENCHMARK(status)->Name("conversation/status");

}  // namespace
}  // namespace windhover
