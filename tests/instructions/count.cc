// What tests/instructions/check counts the instructions of, under callgrind.
//
//   instruction_count CASE     runs it; prints how many steps or messages were counted
//   instruction_count          lists the cases
//
// Only what runs inside counted() is collected (--toggle-collect). Everything is seeded and the
// clock is turned by hand, so two runs of one build execute the same instructions.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "windhover/io/codec.h"
#include "windhover/io/framing.h"
#include "windhover/platform/clock.h"
#include "windhover/tools/bench/frame_source.h"
#include "windhover/tools/bench/learning_engine.h"
#include "windhover/tools/bench/sampler_rig.h"

// A C name, which callgrind can be told.
extern "C" [[gnu::noipa]] void counted(const std::function<void()>& work, int times) {
  for (int i = 0; i < times; ++i) work();
}

namespace windhover {
namespace {

// One move of one chain: indices, gradient, noise, preconditioner.
template <std::uint32_t kDimension>
int move(const char* sampler) {
  SamplerRig rig({.sampler = sampler, .dimension = kDimension, .rows = 1000});
  rig.move();
  counted([&] { rig.move(); }, 100);
  return 100;
}

// One round of the engine: sixteen moves, the sweep, the tail, refreshes, retained draws. A round
// takes 10 us by the engine's clock, so that it publishes, once a millisecond, in every hundredth.
int round(const char* model) {
  ManualClock clock;
  LearningEngine learning(model, "calibrated", 12, 100, LearningEngine::kRows, 1, &clock);
  counted(
      [&] {
        clock.advance_ns(10'000);
        learning.engine().poll(1);
      },
      200);
  return 200;
}

int predict(const char* model) {
  ManualClock clock;
  LearningEngine learning(model, "calibrated", 12, 100, LearningEngine::kRows, 1, &clock);
  Reader reader = learning.engine().reader().value();
  const std::vector<double> x(learning.engine().config().model.features, 0.1);
  std::array<PredictiveSummary, 1> summaries;
  Provenance provenance;
  PredictRequest request;
  request.rows = 1;
  request.features = x;
  counted([&] { (void)reader.predict(request, summaries, provenance); }, 100);
  return 100;
}

// One Observe found in the stream, read, and taken into the window.
int message(const LoadRows& rows) {
  const FrameBytes frames(rows);
  EngineConfig config;
  config.model.features = rows.features;
  config.model.max_nonzeros = rows.nonzeros;
  MappedBlock block(Engine::footprint(config).value());
  ManualClock clock;
  Engine* engine = Engine::create(config, block.bytes(), clock).value();
  auto rest = std::as_bytes(std::span(frames.bytes));
  counted(
      [&] {
        const FrameScan scan = scan_frame(rest, UINT32_MAX);
        RequestView request;
        if (ok(decode_request(scan.frame, request))) {
          (void)engine->observe(request.observe.batch, {});
        }
        rest = rest.subspan(scan.consumed);
      },
      20);
  return engine->head() == std::uint64_t{20} * rows.rows_per_frame ? 20 : 0;
}

struct Case {
  std::string_view name;
  int (*run)();
};

constexpr std::array kCases = {
    Case{"move-calibrated-12", [] { return move<12>("calibrated"); }},
    Case{"move-calibrated-100", [] { return move<100>("calibrated"); }},
    Case{"move-sgfs-f-100", [] { return move<100>("sgfs-f"); }},
    Case{"round-linear-12", [] { return round("linear"); }},
    Case{"round-logistic-12", [] { return round("logistic"); }},
    Case{"predict-linear-12", [] { return predict("linear"); }},
    Case{"message-dense-9x1",
         [] {
           return message({9, 0, 1});
         }},
    Case{"message-dense-9x256",
         [] {
           return message({9, 0, 256});
         }},
    Case{"message-sparse-8x256",
         [] {
           return message({460, 8, 256});
         }},
};

}  // namespace
}  // namespace windhover

int main(int argc, char** argv) {
  for (const windhover::Case& c : windhover::kCases) {
    if (argc < 2) {
      std::printf("%s\n", c.name.data());
    } else if (c.name == argv[1]) {
      const int times = c.run();
      std::printf("%d\n", times);
      return times > 0 ? 0 : 1;
    }
  }
  return argc < 2 ? 0 : 2;
}
