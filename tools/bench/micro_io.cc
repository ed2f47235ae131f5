// Bytes to requests and answers to bytes; see micro_benchmarks.cc. generated_parser/... is
// Protobuf's own parser on the same frames.
#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "windhover/io/codec.h"
#include "windhover/io/framing.h"
#include "windhover/io/windhover.pb.h"
#include "windhover/tools/bench/frame_source.h"
#include "windhover/tools/bench/heap_column.h"

namespace windhover {
namespace {

FrameBytes frames_of(const benchmark::State& state) {
  return FrameBytes({.features = static_cast<std::uint32_t>(state.range(0)),
                     .nonzeros = static_cast<std::uint32_t>(state.range(2)),
                     .rows_per_frame = static_cast<std::uint32_t>(state.range(1))});
}

void count_rows(benchmark::State& state, const FrameBytes& frames) {
  const auto rows = static_cast<std::int64_t>(frames.ends.size() * frames.rows_per_frame);
  state.SetItemsProcessed(rows * state.iterations());
  state.SetBytesProcessed(static_cast<std::int64_t>(frames.bytes.size()) * state.iterations());
}

// Calls f with every frame, as bytes.
template <class F>
void for_frames(const FrameBytes& frames, F&& f) {
  auto rest = std::as_bytes(std::span(frames.bytes));
  while (!rest.empty()) {
    const FrameScan scan = scan_frame(rest, UINT32_MAX);
    f(scan.frame);
    rest = rest.subspan(scan.consumed);
  }
}

// The lengths in front of the frames alone.
void framing(benchmark::State& state) {
  const FrameBytes frames = frames_of(state);
  {
    const HeapColumn heap(state);
    for (auto _ : state) {
      for_frames(frames, [](std::span<const std::byte> frame) { benchmark::DoNotOptimize(frame); });
    }
  }
  count_rows(state, frames);
}

void decode(benchmark::State& state) {
  const FrameBytes frames = frames_of(state);
  {
    const HeapColumn heap(state);
    for (auto _ : state) {
      for_frames(frames, [](std::span<const std::byte> frame) {
        RequestView request;
        benchmark::DoNotOptimize(decode_request(frame, request));
      });
    }
  }
  count_rows(state, frames);
}

// Not ours: it does call the heap.
void generated_parser(benchmark::State& state) {
  const FrameBytes frames = frames_of(state);
  v1::Request request;
  {
    const HeapColumn heap(state);
    for (auto _ : state) {
      for_frames(frames, [&](std::span<const std::byte> frame) {
        benchmark::DoNotOptimize(
            request.ParseFromArray(frame.data(), static_cast<int>(frame.size())));
      });
    }
  }
  count_rows(state, frames);
}

void encode_prediction(benchmark::State& state) {
  const Provenance provenance;
  const std::vector<PredictiveSummary> summaries(static_cast<std::size_t>(state.range(0)));
  std::vector<std::byte> out(predict_reply_bound(summaries.size(), 0, 0, 0));
  const HeapColumn heap(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        encode(1, PredictReply{.provenance = &provenance, .summaries = summaries}, out));
  }
}

void encode_status(benchmark::State& state) {
  const Provenance provenance;
  std::array<CounterValue, 40> counters;
  counters.fill({"rows_accepted", 1'000'000});
  StatusReply reply;
  reply.provenance = &provenance;
  reply.runtime_counters = counters;
  std::array<std::byte, kStatusReplyBound> out;
  const HeapColumn heap(state);
  for (auto _ : state) benchmark::DoNotOptimize(encode(1, reply, out));
}

void encode_acknowledgement(benchmark::State& state) {
  ObserveAckReply reply;
  reply.frames = 1;
  reply.accepted = 256;
  std::array<std::byte, kSmallReplyBound> out;
  const HeapColumn heap(state);
  for (auto _ : state) benchmark::DoNotOptimize(encode(reply, out));
}

BENCHMARK(framing)->Args({9, 1, 0})->Args({9, 256, 0});
BENCHMARK(decode)->Args({9, 1, 0})->Args({9, 256, 0})->Args({460, 256, 8});
BENCHMARK(generated_parser)->Args({9, 1, 0})->Args({9, 256, 0})->Args({460, 256, 8});
BENCHMARK(encode_prediction)->Arg(1)->Arg(256);
BENCHMARK(encode_status);
BENCHMARK(encode_acknowledgement);

}  // namespace
}  // namespace windhover
