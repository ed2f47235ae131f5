// What saving costs an engine at work: how long the learner stands still for the copy, and the
// rest, which another thread does.
#include <cstring>

#include "windhover/platform/random.h"
#include "windhover/runtime/window/ingest.h"
#include "windhover/tools/bench/heap_column.h"
#include "windhover/tools/bench/micro_stream.h"
#include "windhover/tools/error.h"

namespace windhover::micro_checkpoint {
namespace {

class CountingSink final : public Sink {
 public:
  Status write(std::span<const std::byte> bytes) noexcept override {
    bytes_ += bytes.size();
    return Status::kOk;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

class KeepingSink final : public Sink {
 public:
  Status write(std::span<const std::byte> more) noexcept override {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return Status::kOk;
  }
  std::vector<std::byte> bytes;
};

class BytesSource final : public Source {
 public:
  explicit BytesSource(std::span<const std::byte> bytes) : left_(bytes) {}
  Status read(std::span<std::byte> out) noexcept override {
    if (out.size() > left_.size()) return Status::kClosed;
    if (!out.empty()) std::memcpy(out.data(), left_.data(), out.size());
    left_ = left_.subspan(out.size());
    return Status::kOk;
  }

 private:
  std::span<const std::byte> left_;
};

EngineConfig config_of(const benchmark::State& state) {
  return MicroStream::kept_config(argument(state, 0));
}

void succeed(Status status) {
  if (!ok(status)) throw RunError(to_string(status));
}

// The learner's part: for so long the chains stand still, while rows come and answers go.
void capture(benchmark::State& state) {
  MicroStream stream(config_of(state));
  Engine& engine = stream.engine();
  measure(state, [&] {
    succeed(engine.state().request_capture());
    engine.poll(0);
    engine.state().release_capture();
  });
  succeed(engine.state().request_capture());
  engine.poll(0);
  CountingSink sink;
  succeed(engine.state().save_captured(sink, engine.state().captured_head()));
  engine.state().release_capture();
  const std::size_t rows =
      std::size_t{MicroStream::kWindow} * 8 * static_cast<std::size_t>(state.range(0));
  state.counters["state_bytes"] = static_cast<double>(sink.bytes() - rows);
  EngineConfig without = config_of(state);
  without.checkpoints = false;
  state.counters["memory_bytes"] =
      static_cast<double>(value_or_throw(Engine::footprint(config_of(state))) -
                          value_or_throw(Engine::footprint(without)));
}

// Packing the rows and checksums: everything but the disk.
void write(benchmark::State& state) {
  MicroStream stream(config_of(state));
  CountingSink sink;
  measure(state, [&] { succeed(stream.engine().state().save(sink)); });
  state.SetBytesProcessed(static_cast<std::int64_t>(sink.bytes()));
}

void restore(benchmark::State& state) {
  MicroStream stream(config_of(state));
  KeepingSink sink;
  succeed(stream.engine().state().save(sink));
  measure(state, [&] {
    BytesSource source(sink.bytes);
    (void)value_or_throw(stream.engine().state().restore(source));
  });
  state.SetBytesProcessed(static_cast<std::int64_t>(sink.bytes.size()) * state.iterations());
}

// A frame of rows as recovery takes it in, with a learner that keeps up.
void observe_packed(benchmark::State& state) {
  constexpr std::uint64_t kFrame = 256;
  const EngineConfig config = with_defaults(config_of(state));
  const RowLayout layout(config.model);
  MappedBlock block(std::size_t{1} << 25);
  Arena arena(block.bytes());
  Window window(arena, layout, MicroStream::kWindow, 2 * kFrame);
  window.reset();
  Model* model = find_model(config.model.name)->make(arena, config.model);
  find_model(config.model.name)->reset(*model);
  Counters<RuntimeCounter> counters;
  Ingest ingest(window, model, kFrame, MissingFeatures({}), counters);
  const PackedRows packed(layout);
  std::vector<double> row(layout.stride());
  std::vector<std::byte> frame(kFrame * packed.largest());
  for (std::uint64_t i = 0; i < kFrame; ++i) {
    fill_normals(1, {i}, row);
    packed.pack(row.data(), &frame[i * packed.largest()]);
  }
  measure(state, [&] {
    succeed(ingest.observe_packed(frame, kFrame).status);
    window.advance_lease(window.head());
  });
  state.SetItemsProcessed(static_cast<std::int64_t>(kFrame) * state.iterations());
}

BENCHMARK(capture)->Name("checkpoint/capture")->Arg(10)->Arg(100)->Arg(500)->Arg(1000);
BENCHMARK(write)->Name("checkpoint/write")->Arg(10)->Arg(100)->Arg(1000);
BENCHMARK(restore)->Name("checkpoint/restore")->Arg(10)->Arg(100)->Arg(1000);
BENCHMARK(observe_packed)->Name("checkpoint/observe_packed")->Arg(10)->Arg(100);

}  // namespace
}  // namespace windhover::micro_checkpoint
