// Rows as bytes: what a follower packs is what observe_packed() puts into another window.
#include "windhover/runtime/window/row_follower.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "windhover/tests/runtime/engine_fixture.h"
#include "windhover/tests/runtime/saved_state.h"

namespace windhover::test::row_follower {
namespace {

EngineConfig followed_config(std::uint32_t max_nonzeros = 0) {
  EngineConfig config = small_config("linear", 6, 300);
  config.model.max_nonzeros = max_nonzeros;
  config.max_followers = 1;
  return config;
}

// Sparse rows of 0 to 3 numbers, dense ones of 6, some values odd ones.
void feed(Engine& engine, std::uint64_t rows, std::uint64_t seed) {
  const bool sparse = engine.config().model.max_nonzeros > 0;
  const VectorXd z = normals(seed, static_cast<Index>(7 * rows));
  for (std::uint64_t i = 0; i < rows; ++i) {
    std::vector<double> x(z.data() + 7 * i, z.data() + 7 * i + 6);
    x[2] = i % 3 == 0 ? -0.0 : x[2];
    x[3] = i % 5 == 0 ? std::numeric_limits<double>::denorm_min() : x[3];
    const double y = z[static_cast<Index>(7 * i + 6)];
    const auto end = static_cast<std::uint32_t>(i % 4);
    const std::uint32_t indices[] = {0, 2, 5};
    ObservationBatch b;
    b.rows = 1;
    b.features = reinterpret_cast<const std::byte*>(x.data());
    b.feature_values = sparse ? end : 6;
    b.targets = reinterpret_cast<const std::byte*>(&y);
    if (sparse) {
      b.indices = reinterpret_cast<const std::byte*>(indices);
      b.row_ends = reinterpret_cast<const std::byte*>(&end);
    }
    ASSERT_EQ(engine.observe(b, {}).accepted, 1u);
  }
}

std::vector<std::byte> pack(const RowFollower& follower, std::uint64_t first, std::uint64_t count) {
  std::vector<std::byte> bytes(follower.packed_bytes(first, count));
  EXPECT_EQ(follower.pack(first, count, bytes), bytes.size());
  return bytes;
}

TEST(RowFollower, PackedRowsAreTheSameRowsElsewhere) {
  for (const std::uint32_t max_nonzeros : {0U, 3U, 6U}) {
    ManualClock clock(1'000'000);  // it stands still: snapshots are published at the same moments
    TestEngine one(followed_config(max_nonzeros), &clock);
    TestEngine other(followed_config(max_nonzeros), &clock, 0xA5);
    RowFollower follower = one->follower().value();
    for (std::uint64_t frame = 0; frame < 30; ++frame) {
      const std::uint64_t before = one->head();
      feed(*one, 1 + frame, 50 + frame);
      const std::vector<std::byte> bytes = pack(follower, before, one->head() - before);
      const ObserveResult result = other->observe_packed(bytes, one->head() - before);
      ASSERT_EQ(result.status, Status::kOk);
      ASSERT_EQ(result.accepted, 1 + frame);
      follower.keep_from(one->head());
      one->poll(20);
      other->poll(20);
    }
    EXPECT_EQ(difference(save(*one), save(*other)), "") << max_nonzeros;
    EXPECT_GT(one->learner().round(), 100u);
  }
}

TEST(RowFollower, BytesAreThoseOfTheFormat) {
  TestEngine dense(followed_config());
  RowFollower follower = dense->follower().value();
  feed(*dense, 3, 1);
  std::vector<std::byte> bytes = pack(follower, 1, 2);
  ASSERT_EQ(bytes.size(), 2u * 7 * 8);
  double y;
  std::memcpy(&y, &bytes[6 * 8], 8);
  EXPECT_EQ(y, normals(1, 21)[13]);

  TestEngine sparse(followed_config(3));
  follower = sparse->follower().value();
  feed(*sparse, 3, 1);
  bytes = pack(follower, 0, 3);
  ASSERT_EQ(bytes.size(), 3u * 12 + 12 * (0 + 1 + 2));
  std::uint32_t numbers[2];
  std::memcpy(numbers, &bytes[12 + 24], 4);
  std::memcpy(numbers + 1, &bytes[bytes.size() - 4], 4);
  EXPECT_EQ(numbers[0], 2u) << "values of the third row";
  EXPECT_EQ(numbers[1], 2u) << "the index of its last one";
}

TEST(RowFollower, OnlyKeptRowsBelowTheHeadArePacked) {
  TestEngine engine(followed_config());
  RowFollower follower = engine->follower().value();
  feed(*engine, 10, 1);
  std::vector<std::byte> room(4096);
  EXPECT_EQ(follower.pack(0, 10, room), 560u);
  EXPECT_EQ(follower.pack(0, 11, room), 0u);
  EXPECT_EQ(follower.pack(10, 1, room), 0u);
  EXPECT_EQ(follower.pack(11, 0, room), 0u);
  EXPECT_EQ(follower.pack(2, ~std::uint64_t{0}, room), 0u);
  EXPECT_EQ(follower.pack(3, 2, std::span(room).first(111)), 0u);
  EXPECT_EQ(follower.pack(3, 2, std::span(room).first(112)), 112u);
  follower.keep_from(4);
  EXPECT_EQ(follower.pack(3, 2, room), 0u);
  EXPECT_EQ(follower.packed_bytes(4, 6), 336u);
}

TEST(RowFollower, HoldsTheWriterUntilRowsAreGivenUp) {
  EngineConfig config = followed_config();
  config.window_size = 100;
  config.max_frame_rows = 8;
  config.window_slack = 16;
  TestEngine engine(config);
  RowFollower follower = engine->follower().value();
  const double x[6] = {};
  std::uint64_t taken = 0;
  while (ok(engine->observe(x, 1.0)) && taken < 1000) {
    ++taken;
    engine->poll(1);
  }
  EXPECT_EQ(taken, 16u) << "it has given nothing up";
  follower.keep_from(0);
  while (ok(engine->observe(x, 1.0)) && taken < 1000) {
    ++taken;
    engine->poll(1);
  }
  EXPECT_EQ(taken, 116u);
  EXPECT_EQ(follower.packed_bytes(0, 116), 116u * 56);
  follower.keep_from(engine->head());
  EXPECT_EQ(engine->observe(x, 1.0), Status::kOk);
}

TEST(RowFollower, ThereAreNoMoreThanConfigured) {
  TestEngine engine(followed_config());
  ASSERT_TRUE(engine->follower().ok());
  EXPECT_EQ(engine->follower().status(), Status::kUnavailable);
  EngineConfig none = followed_config();
  none.max_followers = 0;
  EXPECT_EQ(TestEngine(none)->follower().status(), Status::kUnavailable);
  EngineConfig many = followed_config();
  many.max_followers = 65;
  EXPECT_EQ(Engine::footprint(many).status(), Status::kInvalidConfig);
  many.max_followers = 64;
  const std::size_t with = Engine::footprint(many).value();
  EXPECT_EQ(with - Engine::footprint(none).value(), 64u * 64);
}

// Whole batches that are not so many rows, and rows that observe() would refuse.
TEST(ObservePacked, RefusesWhatObserveRefuses) {
  TestEngine engine(followed_config());
  std::vector<double> rows(3 * 7, 0.5);
  const auto offer = [&](std::uint64_t count, std::size_t less = 0) {
    const auto bytes = std::as_bytes(std::span(rows));
    return engine->observe_packed(bytes.first(bytes.size() - less), count);
  };
  for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{4},
                                    std::uint64_t{1} << 61, ~std::uint64_t{0}}) {
    EXPECT_EQ(offer(count).status, Status::kMalformed) << count;
  }
  for (const std::size_t less : {1, 8, 55, 57}) {
    EXPECT_EQ(offer(3, less).status, Status::kMalformed) << less;
  }
  EXPECT_EQ(engine->head(), 0u);
  EXPECT_EQ(engine->observe_packed({}, 0).status, Status::kOk);
  rows[8] = std::numeric_limits<double>::quiet_NaN();
  rows[20] = 1e36;
  const ObserveResult result = offer(3);
  EXPECT_EQ(result.status, Status::kOk);
  EXPECT_EQ(result.accepted, 1u);
  EXPECT_EQ(result.refused, 2u);
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kRowsRefusedNotFinite), 2u);
  const std::vector<double> many(513 * 7, 0.5);
  EXPECT_EQ(engine->observe_packed(std::as_bytes(std::span(many)), 513).status, Status::kTooLarge);
  while (offer(3).accepted == 1) {
  }
  EXPECT_EQ(offer(3).status, Status::kWindowFull);
  EXPECT_EQ(engine->head(), 1022u) << "three rows are asked for at a time";
}

TEST(ObservePacked, RefusesLabelsAndSparseRowsThatCannotBe) {
  EngineConfig config = followed_config(2);
  config.model.name = "logistic";
  TestEngine engine(config);
  std::vector<std::byte> bytes;
  const auto row = [&](std::uint32_t count, double target, std::vector<std::uint32_t> indices) {
    const auto put = [&](const void* from, std::size_t size) {
      const auto* b = static_cast<const std::byte*>(from);
      bytes.insert(bytes.end(), b, b + size);
    };
    put(&count, 4);
    put(&target, 8);
    const std::vector<double> values(count, 0.5);
    put(values.data(), 8 * values.size());
    put(indices.data(), 4 * indices.size());
  };
  row(2, 1.0, {0, 5});
  row(3, 1.0, {0, 1, 2});
  row(1, 0.0, {6});
  row(2, 0.0, {3, 3});
  row(1, 0.5, {0});
  row(0, 1.0, {});
  const ObserveResult result = engine->observe_packed(bytes, 6);
  EXPECT_EQ(result.status, Status::kOk);
  EXPECT_EQ(result.accepted, 2u);
  EXPECT_EQ(result.refused, 4u);
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kRowsRefusedSparse), 3u);
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kRowsRefusedTarget), 1u);
  // Every length but the right one.
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_EQ(engine->observe_packed(std::span(bytes).first(size), 6).status, Status::kMalformed);
  }
  const std::uint32_t huge = 0xffffffffU;
  std::memcpy(bytes.data(), &huge, 4);
  EXPECT_EQ(engine->observe_packed(bytes, 6).status, Status::kMalformed);
  EXPECT_EQ(engine->head(), 2u);
}

// A log thread beside observe and learner: nothing it packs is torn, nothing is missing.
TEST(RowFollower, FollowsALiveStream) {
  EngineConfig config = followed_config();
  config.window_size = 400;
  config.window_slack = 1024;
  TestEngine engine(config);
  RowFollower follower = engine->follower().value();
  constexpr std::uint64_t kRows = 30'000;
  std::thread observer([&] {
    double x[6];
    for (std::uint64_t i = 0; i < kRows;) {
      std::fill_n(x, 6, static_cast<double>(i));
      if (ok(engine->observe(x, static_cast<double>(i)))) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  });
  std::uint64_t wrong = 0;
  std::thread logger([&] {
    std::vector<double> rows(7 * 256);
    for (std::uint64_t at = 0; at < kRows;) {
      const std::uint64_t count = std::min<std::uint64_t>(engine->head() - at, 256);
      const auto out = std::as_writable_bytes(std::span(rows));
      if (count == 0) {
        std::this_thread::yield();
        continue;
      }
      wrong += follower.pack(at, count, out) != count * 56;
      for (std::size_t k = 0; k < 7 * count; ++k) {
        wrong += rows[k] != static_cast<double>(at + k / 7);
      }
      at += count;
      follower.keep_from(at);
    }
  });
  while (engine->head() < kRows) engine->poll(4);
  observer.join();
  logger.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace windhover::test::row_follower
