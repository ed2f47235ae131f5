// Whatever is read as a checkpoint is refused with the engine as it was created, or taken and saved
// again as the same bytes. An input that begins with an odd byte is signed anew first, so that what
// lies behind the checksums of header, configuration and rows is reached too; what the learner
// reads it has to take as it comes, so its sections have to be genuine there.
#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/platform/checksum.h"
#include "windhover/platform/clock.h"
#include "windhover/platform/memory.h"
#include "windhover/runtime/checkpoint/format.h"
#include "windhover/runtime/engine.h"
#include "windhover/tests/fuzz/driver.h"

namespace windhover::testing {
namespace {

using Bytes = std::vector<std::byte>;

EngineConfig engine_config() {
  EngineConfig config;
  config.model.features = 6;
  config.model.max_nonzeros = 3;
  config.window_size = 60;
  config.max_frame_rows = 32;
  config.window_slack = 64;
  config.retained_draws = 2;
  config.sampler.chains = 1;
  config.sampler.minibatch_size = 8;
  config.max_readers = 1;
  config.checkpoints = true;
  config.score_predictions = true;
  config.labels.pending = 8;
  config.labels.timeout_seconds = 30;
  return config;
}

struct World {
  World()
      : block(Engine::footprint(engine_config()).value()),
        engine(*Engine::create(engine_config(), block.bytes(), clock).value()) {}
  ManualClock clock{0};
  MappedBlock block;
  Engine& engine;
};

struct MemorySink final : Sink {
  Status write(std::span<const std::byte> more) noexcept override {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return Status::kOk;
  }
  Bytes bytes;
};

struct MemorySource final : Source {
  explicit MemorySource(std::span<const std::byte> bytes) : left(bytes) {}
  Status read(std::span<std::byte> out) noexcept override {
    if (out.size() > left.size()) return Status::kClosed;
    if (!out.empty()) std::memcpy(out.data(), left.data(), out.size());
    left = left.subspan(out.size());
    return Status::kOk;
  }
  std::span<const std::byte> left;
};

Bytes saved(Engine& engine) {
  MemorySink sink;
  require(ok(engine.state().save(sink)));
  return sink.bytes;
}

void observe(Engine& engine, std::mt19937_64& random) {
  const double values[] = {1.5, -2.0, 0.25};
  const std::uint32_t indices[] = {static_cast<std::uint32_t>(random() % 2), 3, 5};
  const auto end = static_cast<std::uint32_t>(random() % 4);
  const auto y = static_cast<double>(random() % 7);
  ObservationBatch batch;
  batch.rows = 1;
  batch.features = reinterpret_cast<const std::byte*>(values);
  batch.feature_values = end;
  batch.indices = reinterpret_cast<const std::byte*>(indices);
  batch.row_ends = reinterpret_cast<const std::byte*>(&end);
  batch.targets = reinterpret_cast<const std::byte*>(&y);
  (void)engine.observe(batch, {});
}

// Asks with a key, and tells the outcome of one that may be pending, settled or unknown.
void ask_and_tell(World& world, Reader& reader, std::mt19937_64& random) {
  const double values[] = {1.5, -2.0, 0.25};
  const std::uint32_t indices[] = {static_cast<std::uint32_t>(random() % 2), 3, 5};
  const std::uint32_t end = static_cast<std::uint32_t>(random() % 4);
  const std::string name(1 + random() % 5, static_cast<char>('a' + random() % 3));
  const std::string_view key = name;
  PredictRequest request;
  request.rows = 1;
  request.features = std::span(values).first(end);
  request.indices = std::span(indices).first(end);
  request.row_ends = {&end, 1};
  request.keys = {&key, 1};
  PredictiveSummary summary;
  Provenance provenance;
  (void)reader.predict(request, {&summary, 1}, provenance);
  const std::string other(1 + random() % 5, static_cast<char>('a' + random() % 3));
  const std::string_view told = other;
  const double y = 1.5;
  (void)world.engine.labels().observe({{&told, 1}, {&y, 1}}, {});
  world.clock.advance_ns(1'000'000'000);
  (void)world.engine.labels().settle(9);
}

// Checkpoints of one engine as it grows up: before its first row, in the cold start, at work.
const std::vector<Bytes>& genuine() {
  static const std::vector<Bytes> all = [] {
    std::mt19937_64 random(5);
    World world;
    Reader reader = world.engine.reader().value();
    std::vector<Bytes> checkpoints;
    for (int rows = 0; rows < 240; ++rows) {
      if (rows % 24 == 0) checkpoints.push_back(saved(world.engine));
      observe(world.engine, random);
      ask_and_tell(world, reader, random);
      if (rows % 3 > 0) world.engine.poll(3);
    }
    return checkpoints;
  }();
  return all;
}

bool is_learners(const checkpoint::SectionHeader& header) {
  return !header.is(checkpoint::kConfiguration) && !header.is(checkpoint::kRows) &&
         !header.is(checkpoint::kKeys) && !header.is(checkpoint::kEnd);
}

// The bytes before the keys, which follow all else: the table of an engine that begins anew has a
// random number.
std::span<const std::byte> before_keys(std::span<const std::byte> bytes) {
  std::size_t at = sizeof(checkpoint::Header);
  for (;;) {
    const auto header = checkpoint::load<checkpoint::SectionHeader>(&bytes[at]);
    if (header.is(checkpoint::kKeys)) return bytes.first(at);
    at += sizeof(header) + header.length + sizeof(std::uint64_t);
  }
}

// The checksum of all sections of the learner, in their order.
std::uint64_t sum_of_learner(std::span<const std::byte> bytes) {
  Checksum sum;
  bytes = bytes.subspan(std::min(bytes.size(), sizeof(checkpoint::Header)));
  while (bytes.size() >= sizeof(checkpoint::SectionHeader)) {
    const auto header = checkpoint::load<checkpoint::SectionHeader>(bytes.data());
    bytes = bytes.subspan(sizeof(header));
    if (header.length > bytes.size()) break;
    if (is_learners(header)) {
      sum.update(checkpoint::bytes_of(header));
      sum.update(bytes.first(header.length));
    }
    bytes = bytes.subspan(std::min(bytes.size(), header.length + sizeof(std::uint64_t)));
  }
  return sum.value();
}

bool learner_is_genuine(std::span<const std::byte> bytes) {
  static const std::vector<std::uint64_t> sums = [] {
    std::vector<std::uint64_t> all;
    for (const Bytes& one : genuine()) all.push_back(sum_of_learner(one));
    return all;
  }();
  const std::uint64_t sum = sum_of_learner(bytes);
  return std::find(sums.begin(), sums.end(), sum) != sums.end();
}

// Checksums that fit, as far as there are sections.
void sign(Bytes& bytes) {
  if (bytes.size() < sizeof(checkpoint::Header)) return;
  constexpr std::size_t kSigned = offsetof(checkpoint::Header, checksum);
  std::uint64_t sum = checksum(std::span(bytes).first(kSigned));
  std::memcpy(&bytes[kSigned], &sum, sizeof(sum));
  for (std::size_t at = sizeof(checkpoint::Header);
       bytes.size() - at >= sizeof(checkpoint::SectionHeader);) {
    const auto header = checkpoint::load<checkpoint::SectionHeader>(&bytes[at]);
    const std::size_t left = bytes.size() - at - sizeof(header);
    if (header.length > left || left - header.length < sizeof(sum)) return;
    sum = checksum(std::span(bytes).subspan(at, sizeof(header) + header.length), sum);
    at += sizeof(header) + header.length;
    std::memcpy(&bytes[at], &sum, sizeof(sum));
    at += sizeof(sum);
  }
}

}  // namespace

std::string make_case(std::mt19937_64& random) {
  const Bytes& one = genuine()[random() % genuine().size()];
  std::string bytes(1, static_cast<char>(random()));
  bytes.append(reinterpret_cast<const char*>(one.data()), one.size());
  // The driver damages any byte alike; header and rows are few among those of the learner.
  if (random() % 2 == 0) {
    const std::size_t at = 1 + random() % std::min<std::size_t>(one.size(), 4000);
    bytes[at] = static_cast<char>(random());
  }
  return bytes;
}

}  // namespace windhover::testing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace windhover;
  using namespace windhover::testing;
  static const auto world = std::make_unique<World>();
  static const Bytes fresh = saved(world->engine);
  if (size == 0) return 0;
  const auto input = std::as_bytes(std::span(data, size));
  Bytes bytes(input.begin() + 1, input.end());
  const bool anew = data[0] % 2 != 0;
  if (anew && learner_is_genuine(bytes)) sign(bytes);
  MemorySource source(bytes);
  Engine& engine = world->engine;
  const Result<bool> restored = engine.state().restore(source);
  if (restored.ok()) {
    const Bytes again = saved(engine);
    // Rows may have been cut into sections elsewhere; what is saved then is taken as well.
    if (!anew)
      require(again.size() <= bytes.size() &&
              std::equal(again.begin(), again.end(), bytes.begin()));
    MemorySource second(again);
    require(engine.state().restore(second).ok() && saved(engine) == again);
    MemorySource nothing({});
    require(!engine.state().restore(nothing).ok());
  } else {
    require(restored.error().sentence[0] != '\0');
  }
  const Bytes now = saved(engine);
  require(engine.head() == 0 && std::ranges::equal(before_keys(now), before_keys(fresh)));
  return 0;
}
