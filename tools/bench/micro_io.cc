// Bytes to requests and answers to bytes; see micro_benchmarks.cc. generated_parser/... is
// Protobuf's own parser on the same frames.
#include <array>
#include <span>

#include "windhover/io/codec.h"
#include "windhover/io/framing.h"
#include "windhover/io/producer_table.h"
#include "windhover/io/server_config.h"
#include "windhover/io/windhover.pb.h"
#include "windhover/tools/bench/frame_source.h"
#include "windhover/tools/bench/heap_column.h"
#include "windhover/tools/bench/micro_stream.h"
#include "windhover/tools/placed.h"

namespace windhover::micro_io {
namespace {

FrameBytes frames_of(const benchmark::State& state) {
  return FrameBytes({.features = argument(state, 0),
                     .nonzeros = argument(state, 2),
                     .rows_per_frame = argument(state, 1)});
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

// Only the lengths in front of the frames.
void framing(benchmark::State& state) {
  const FrameBytes frames = frames_of(state);
  measure(state, [&] {
    for_frames(frames, [](std::span<const std::byte> frame) { benchmark::DoNotOptimize(frame); });
  });
  count_rows(state, frames);
}

void decode(benchmark::State& state) {
  const FrameBytes frames = frames_of(state);
  measure(state, [&] {
    for_frames(frames, [](std::span<const std::byte> frame) {
      RequestView request;
      benchmark::DoNotOptimize(decode_request(frame, request));
    });
  });
  count_rows(state, frames);
}

// Protobuf's generated parser, for comparison: it does call the heap.
void generated_parser(benchmark::State& state) {
  const FrameBytes frames = frames_of(state);
  v1::Request request;
  measure(state, [&] {
    for_frames(frames, [&](std::span<const std::byte> frame) {
      benchmark::DoNotOptimize(
          request.ParseFromArray(frame.data(), static_cast<int>(frame.size())));
    });
  });
  count_rows(state, frames);
}

// Measures encode(out), which returns the bytes written.
template <class Encode>
void encode_again(benchmark::State& state, std::span<std::byte> out, Encode&& encode) {
  std::size_t bytes = 0;
  measure(state, [&] { benchmark::DoNotOptimize(bytes = encode(out)); });
  if (bytes == 0) state.SkipWithError("nothing was written");
  state.counters["answer_bytes"] = static_cast<double>(bytes);
}

// The answers of a posterior, so that they have every field that a client gets: fields that are 0
// are left out on the wire.
void encode_prediction(benchmark::State& state) {
  MicroStream stream(MicroStream::config("linear", 10));
  Reader reader = stream.engine().reader().value();
  const auto rows = static_cast<std::size_t>(state.range(0));
  PredictRequest request;
  request.rows = rows;
  request.features = std::span(stream.rows().values()).first(rows * stream.rows().a_row());
  request.thompson_id = 1;
  Provenance provenance;
  std::vector<PredictiveSummary> summaries(rows);
  if (!ok(reader.predict(request, summaries, provenance))) state.SkipWithError("no answer");
  std::vector<std::byte> out(predict_reply_bound(rows, 0, 0, 0));
  encode_again(state, out, [&](std::span<std::byte> to) {
    return encode(1, PredictReply{.provenance = &provenance, .summaries = summaries}, to);
  });
}

void encode_posterior(benchmark::State& state) {
  MicroStream stream(MicroStream::config("linear", argument(state, 0)));
  Reader reader = stream.engine().reader().value();
  Provenance provenance;
  std::vector<ParameterSummary> parameters(stream.engine().dimension());
  if (!ok(reader.posterior(parameters, provenance))) state.SkipWithError("no answer");
  std::vector<std::byte> out(posterior_reply_bound(parameters.size()));
  encode_again(state, out, [&](std::span<std::byte> to) {
    return encode(1, PosteriorReply{&provenance, parameters}, to);
  });
}

void encode_draws(benchmark::State& state) {
  MicroStream stream(MicroStream::config("linear", argument(state, 0)));
  Reader reader = stream.engine().reader().value();
  const std::uint32_t dimension = stream.engine().dimension();
  const std::uint32_t draws = stream.engine().config().retained_draws;
  Provenance provenance;
  std::vector<double> theta(std::size_t{draws} * dimension);
  if (!ok(reader.draws(0, 0, draws, theta, provenance))) state.SkipWithError("no answer");
  std::vector<std::byte> out(draws_reply_bound(dimension, draws));
  encode_again(state, out, [&](std::span<std::byte> to) {
    return encode(1, DrawsReply{&provenance, dimension, 0, theta}, to);
  });
}

void encode_status(benchmark::State& state) {
  MicroStream stream(MicroStream::config("linear", 10));
  Reader reader = stream.engine().reader().value();
  Provenance provenance;
  std::vector<ParameterSummary> parameters(stream.engine().dimension());
  if (!ok(reader.posterior(parameters, provenance))) state.SkipWithError("no answer");
  const LatencyReply latency{1'000'000, 5'000, 20'000, 60'000, 300'000};
  std::array<CounterValue, 20> counters;
  counters.fill({"rows_accepted", 1'000'000});
  StatusReply reply;
  reply.provenance = &provenance;
  reply.head = 1'000'000;
  reply.uptime_ns = 3'600'000'000'000;
  reply.observe_sessions = 32;
  reply.query_sessions = 1;
  reply.footprint_bytes = reply.resident_bytes = 64 << 20;
  reply.runtime_counters = reply.io_counters = counters;
  reply.observe_latency = reply.query_latency = latency;
  std::array<std::byte, kStatusReplyBound> out;
  encode_again(state, out, [&](std::span<std::byte> to) { return encode(1, reply, to); });
}

void encode_acknowledgement(benchmark::State& state) {
  ObserveAckReply reply;
  reply.id = 1'000'000;
  reply.producer_next = reply.head = 1'000'000'000;
  reply.frames = 1;
  reply.accepted = 256;
  std::array<std::byte, kSmallReplyBound> out;
  encode_again(state, out, [&](std::span<std::byte> to) { return encode(reply, to); });
}

// Frames of `producers` connections, each a producer that the table knows.
void claim_producer(benchmark::State& state) {
  const auto producers = static_cast<std::uint64_t>(state.range(0));
  Placed<ProducerTable> table(static_cast<std::size_t>(ServerConfig{}.max_producers));
  table->reset();
  std::vector<ProducerClaims> owners(producers);
  const auto claim = [&](std::uint64_t i) {
    constexpr std::uint64_t kFirst = 0x9e3779b97f4a7c15;  // names as clients choose them: any
    const std::uint64_t name = kFirst * (i + 1);
    ProducerEntry& entry = table->at(name);
    const Refusal refusal = table->may_speak(entry, name, owners[i], 1);
    if (refusal == Refusal::kNone) table->judged(entry, name, owners[i], 1).entry.next = i;
    return refusal;
  };
  bool all = true;
  for (std::uint64_t i = 0; i < producers; ++i) all = claim(i) == Refusal::kNone && all;
  std::uint64_t i = 0;
  measure(state, [&] {
    benchmark::DoNotOptimize(claim(i));
    if (++i == producers) i = 0;
  });
  if (!all) state.SkipWithError("a producer was refused");
}

BENCHMARK(framing)->Args({9, 1, 0})->Args({9, 256, 0});
BENCHMARK(decode)->Args({9, 1, 0})->Args({9, 256, 0})->Args({460, 256, 8});
BENCHMARK(generated_parser)->Args({9, 1, 0})->Args({9, 256, 0})->Args({460, 256, 8});
BENCHMARK(encode_prediction)->Arg(1)->Arg(256);
BENCHMARK(encode_posterior)->Arg(10)->Arg(100);
BENCHMARK(encode_draws)->Arg(10)->Arg(100);
BENCHMARK(encode_status);
BENCHMARK(encode_acknowledgement);
BENCHMARK(claim_producer)->Arg(1)->Arg(32)->Arg(1024);

}  // namespace
}  // namespace windhover::micro_io
