#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "windhover/runtime/window/repeated_rows.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::engine_memory_test {
namespace {

struct Shape {
  const char* model;
  std::uint32_t features;
  std::uint32_t max_nonzeros;
  std::uint64_t window;
  std::uint32_t chains;
  std::uint32_t retained;
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {"linear", 1, 0, 4, 1, 2},        {"linear", 10, 0, 1000, 8, 64},
      {"logistic", 3, 0, 5000, 3, 17},  {"linear", 33, 0, 512, 2, 64},
      {"logistic", 200, 5, 700, 2, 32}, {"linear", 50, 50, 300, 1, 8},
  };
  return all;
}

EngineConfig config_of(const Shape& shape) {
  EngineConfig c = small_config(shape.model, shape.features, shape.window);
  c.model.max_nonzeros = shape.max_nonzeros;
  c.sampler.chains = shape.chains;
  c.retained_draws = shape.retained;
  return c;
}

// One row at a time through the batch interface, sparse where the model is.
void feed_rows(Engine& engine, int rows, std::uint64_t seed) {
  const ModelConfig& model = engine.config().model;
  const bool sparse = model.max_nonzeros > 0;
  const Index width = sparse ? std::min<Index>(3, model.max_nonzeros) : model.features;
  for (int i = 0; i < rows; ++i) {
    const VectorXd z = normals(seed + static_cast<std::uint64_t>(i), width + 1);
    const double target = z[width] > 0 ? 1.0 : 0.0;
    std::vector<std::uint32_t> indices;
    for (Index k = 0; k < width; ++k) {
      indices.push_back(static_cast<std::uint32_t>((i % 7) + 11 * k) % model.features);
    }
    std::sort(indices.begin(), indices.end());
    const auto end =
        static_cast<std::uint32_t>(std::unique(indices.begin(), indices.end()) - indices.begin());
    ObservationBatch b;
    b.rows = 1;
    b.features = reinterpret_cast<const std::byte*>(z.data());
    b.targets = reinterpret_cast<const std::byte*>(&target);
    b.feature_values = sparse ? end : static_cast<std::size_t>(width);
    if (sparse) {
      b.indices = reinterpret_cast<const std::byte*>(indices.data());
      b.row_ends = reinterpret_cast<const std::byte*>(&end);
    }
    ObserveResult result;
    do {
      result = engine.observe(b, {});
      if (result.status == Status::kWindowFull) engine.poll(1);
    } while (result.status == Status::kWindowFull);
    ASSERT_EQ(result.accepted, 1u);
  }
}

TEST(EngineMemory, ExactlyTheFootprintIsEnoughAndOneByteLessIsRefused) {
  RealClock clock;
  for (const Shape& shape : shapes()) {
    const EngineConfig config = config_of(shape);
    const std::size_t bytes = Engine::footprint(config).value();
    const MappedBlock block(bytes);
    EXPECT_TRUE(Engine::create(config, block.bytes(), clock).ok());
    const auto refused = Engine::create(config, block.bytes().first(bytes - 1), clock);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.status(), Status::kArenaTooSmall);
    EXPECT_EQ(refused.error().number, static_cast<double>(bytes));
  }
}

TEST(EngineMemory, UnalignedBlockIsRefused) {
  RealClock clock;
  const EngineConfig config = config_of(shapes()[1]);
  const std::size_t bytes = Engine::footprint(config).value();
  const MappedBlock block(bytes + 64);
  for (const std::size_t offset : {1u, 8u, 32u, 63u}) {
    const auto refused = Engine::create(config, block.bytes().subspan(offset, bytes), clock);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.status(), Status::kInvalidArgument);
    EXPECT_EQ(refused.error().number, 64.0);
  }
}

TEST(EngineMemory, PlanRegionsAddUpToTheFootprint) {
  for (const Shape& shape : shapes()) {
    const EngineConfig config = config_of(shape);
    Arena arena = Arena::measuring();
    ASSERT_TRUE(Engine::plan(config, arena).ok());
    std::size_t total = 0;
    bool has_window = false;
    for (const Arena::Region& region : arena.regions()) {
      total += region.bytes;
      has_window |= std::string(region.name) == "window";
    }
    EXPECT_TRUE(has_window);
    EXPECT_EQ(total, Engine::footprint(config).value());
  }
}

TEST(EngineMemory, WindowGrowsWithItsRowsAndNothingElse) {
  EngineConfig config = config_of(shapes()[1]);
  config.window_size = RepeatedRows::kMostKept;  // the table of repeats is then as large as it gets
  const std::size_t before = Engine::footprint(config).value();
  config.window_size += 1000;
  const std::size_t stride = RowLayout(config.model).stride() * sizeof(double);
  EXPECT_EQ(Engine::footprint(config).value() - before, 1000 * stride);
  // Rows that count by their age are twice as many.
  config.horizon = Horizon::kForgetting;
  const std::size_t forgetting = Engine::footprint(config).value();
  config.window_size += 1000;
  EXPECT_EQ(Engine::footprint(config).value() - forgetting, 2000 * stride);
}

TEST(EngineMemory, NothingIsWrittenOutsideTheBlock) {
  constexpr std::size_t kGuard = 4096;
  constexpr std::byte kPattern{0xA5};
  for (const Shape& shape : shapes()) {
    const EngineConfig config = config_of(shape);
    const std::size_t bytes = Engine::footprint(config).value();
    const MappedBlock block(bytes + 2 * kGuard);
    const std::span<std::byte> all = block.bytes();
    std::fill(all.begin(), all.end(), kPattern);
    RealClock clock;
    const auto created = Engine::create(config, all.subspan(kGuard, bytes), clock);
    ASSERT_TRUE(created.ok());
    Engine& engine = *created.value();
    feed_rows(engine, static_cast<int>(2 * shape.window), 1);
    for (int i = 0; i < 400; ++i) engine.poll(8);
    Reader reader = engine.reader().value();
    std::vector<ParameterSummary> parameters(engine.dimension());
    std::vector<double> draws(std::size_t{engine.dimension()} * shape.retained);
    Provenance provenance;
    EXPECT_EQ(reader.posterior(parameters, provenance), Status::kOk);
    EXPECT_EQ(reader.draws(0, 0, shape.retained, draws, provenance), Status::kOk);
    if (shape.max_nonzeros == 0) {
      const std::vector<double> x(std::size_t{shape.features} * config.max_query_rows, 0.5);
      std::vector<PredictiveSummary> answers(config.max_query_rows);
      PredictRequest request;
      request.rows = config.max_query_rows;
      request.features = x;
      request.thompson_id = 5;
      EXPECT_EQ(reader.predict(request, answers, provenance), Status::kOk);
    }
    const auto untouched = [](std::byte b) { return b == kPattern; };
    EXPECT_TRUE(std::all_of(all.begin(), all.begin() + kGuard, untouched)) << shape.model;
    EXPECT_TRUE(std::all_of(all.end() - kGuard, all.end(), untouched)) << shape.model;
  }
}

TEST(EngineMemory, ConfigurationDoesNotHoldTheCallersText) {
  std::string name = "logistic";
  std::vector<double> shift = {1, 2};
  std::vector<double> scale = {2, 4};
  EngineConfig config = small_config("logistic", 2, 100);
  config.model.name = name;
  config.standardize = Standardize::kGiven;
  config.feature_shift = shift;
  config.feature_scale = scale;
  TestEngine engine(config);
  name = "????????";
  shift = {9, 9};
  scale = {9, 9};
  EXPECT_EQ(engine->config().model.name, "logistic");
  EXPECT_EQ(engine->config().feature_shift[1], 2.0);
  EXPECT_EQ(engine->config().feature_scale[1], 4.0);
}

TEST(Engine, FingerprintFollowsTheMeaningOfARow) {
  const EngineConfig config = small_config("linear", 3, 100);
  const std::uint64_t fingerprint = TestEngine(config)->fingerprint();
  EngineConfig other = config;
  other.seed = 99;
  other.window_size = 200;
  EXPECT_EQ(TestEngine(other)->fingerprint(), fingerprint);
  other = config;
  other.model.name = "logistic";
  EXPECT_NE(TestEngine(other)->fingerprint(), fingerprint);
  other = config;
  other.model.features = 4;
  EXPECT_NE(TestEngine(other)->fingerprint(), fingerprint);
  other = config;
  other.model.intercept = false;
  EXPECT_NE(TestEngine(other)->fingerprint(), fingerprint);
  other = config;
  other.schema_fingerprint = 1;
  EXPECT_NE(TestEngine(other)->fingerprint(), fingerprint);
}

}  // namespace
}  // namespace windhover::test::engine_memory_test
