// What `windhover bench` is made of: limits, rigs, load.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/io/framing.h"
#include "windhover/io/windhover.pb.h"
#include "windhover/platform/memory.h"
#include "windhover/tools/bench/frame_source.h"
#include "windhover/tools/bench/limit_kernels.h"
#include "windhover/tools/bench/load.h"
#include "windhover/tools/bench/micro_stream.h"
#include "windhover/tools/bench/question_source.h"
#include "windhover/tools/bench/sampler_rig.h"

namespace windhover {
namespace {

TEST(BenchPercentiles, AreGivenFromTenValuesAboveOn) {
  Histogram h;
  for (int i = 1; i < 100'000; ++i) h.record(1000);
  EXPECT_TRUE(percentiles(h)["p9999_us"].is_null());
  EXPECT_TRUE(percentiles(h)["p999_us"].is_number());
  h.record(1000);
  EXPECT_EQ(percentiles(h)["count"], 100'000);
  EXPECT_EQ(percentiles(h)["p9999_us"], 1.0);
}

// Nothing else looks at what the limits compute; they are limits only if they compute it.
TEST(LimitKernels, AreTheProductsTheyClaimToBe) {
  constexpr std::size_t kRows = 100;
  for (const std::size_t columns : {1U, 10U, 37U}) {
    MappedBlock memory(8 * (104 * columns + columns + 104));
    auto* a = reinterpret_cast<double*>(memory.bytes().data());
    std::fill_n(a, 104 * columns, 2.0);
    double* y = a + 104 * columns;
    double* x = y + 104;
    for (std::size_t j = 0; j < columns; ++j) x[j] = static_cast<double>(j + 1);
    limit_kernels().gemv(a, kRows, columns, x, y);
    for (std::size_t i = 0; i < kRows; ++i) {
      EXPECT_EQ(y[i], static_cast<double>(columns * (columns + 1))) << i;
    }
  }
  for (std::size_t columns = 1; columns <= 41; ++columns) {
    for (const std::size_t rows : {1U, 7U, 100U, 300U}) {
      const std::size_t width = (columns + 7) / 8 * 8;
      MappedBlock memory(8 * (rows * width + width * width));
      auto* x = reinterpret_cast<double*>(memory.bytes().data());
      for (std::size_t i = 0; i < rows * width; ++i) x[i] = static_cast<double>(i % width + 1);
      double* c = x + rows * width;
      limit_kernels().syrk(x, rows, columns, width, c);
      for (std::size_t j = 0; j < columns; ++j) {
        for (std::size_t i = j; i < columns; ++i) {
          EXPECT_EQ(c[j * width + i], static_cast<double>(rows * (i + 1) * (j + 1))) << columns;
        }
      }
    }
  }
}

// A rig that promised noise had drawn none.
TEST(SamplerRig, InjectsNormalsWhereMinibatchesMakeTooLittleNoise) {
  SamplerRig enough({.dimension = 5, .rows = 100});
  EXPECT_FALSE(enough.injects_noise());
  SamplerRig little({.dimension = 5, .rows = 100, .gradient_noise = 1e-3});
  EXPECT_TRUE(little.injects_noise());
  for (SamplerRig* rig : {&enough, &little}) {
    for (int i = 0; i < 20; ++i) rig->move();
  }
}

TEST(LearningEngine, TakesInTheRowsOfAStream) {
  LearningEngine learning({.dimension = 5, .rows = 1000, .draws_per_observation = 4});
  const std::uint64_t before = learning.engine().head();
  const std::uint64_t examples = learning.examples();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(learning.stream(25), 25U);
    learning.engine().poll(1);
  }
  EXPECT_EQ(learning.engine().head() - before, 2500U);
  EXPECT_EQ(learning.examples() - examples, 100U * 16 * 100);
  EXPECT_GT(learning.count(RuntimeCounter::kPasses), 0U);
}

// The rows are like a client's: a server recognises those that it has judged already.
TEST(FrameSource, SendsEachConnectionsRowsAsAProducerOfItsOwn) {
  ServedEngine served(served_config({}, 5));
  const FrameSource source(served.observe_address(),
                           {.features = 4, .rows_per_frame = 3, .sequenced = true},
                           {.rate = 30'000, .connections = 3});
  for (int i = 0; i < 500 && served.engine().head() < 20'000; ++i) sleep_for(0.01);
  source.check();
  EXPECT_GE(served.engine().head(), 20'000U);
  const Counters<IoCounter>& counters = served.server().counters();
  for (const IoCounter none : {IoCounter::kRowsDuplicate, IoCounter::kFramesRefusedProducer,
                               IoCounter::kFramesRefusedGap}) {
    EXPECT_EQ(counters.get(none), 0U);
  }
}

TEST(FrameBytes, HoldTheProducerAndTheSequenceTheyAreGiven) {
  FrameBytes frames({.features = 4, .rows_per_frame = 3, .sequenced = true});
  for (const std::size_t frame : {std::size_t{0}, std::size_t{200}}) {
    frames.set_sequence(frame, 7, 123'456 + frame);
    const auto rest = std::as_bytes(std::span(frames.bytes)).subspan(frames.begin(frame));
    const FrameScan scan = scan_frame(rest, UINT32_MAX);
    v1::Request request;
    ASSERT_TRUE(request.ParseFromArray(scan.frame.data(), static_cast<int>(scan.frame.size())));
    EXPECT_EQ(request.observe().producer(), 7U);
    EXPECT_EQ(request.observe().first_sequence(), 123'456 + frame);
    EXPECT_EQ(request.observe().features_f64_size(), 12);
  }
}

TEST(FrameBytes, AreWholeFramesOfTheShapeAskedFor) {
  const FrameBytes sparse({.features = 460, .nonzeros = 8, .rows_per_frame = 16});
  EXPECT_EQ(sparse.ends.back(), sparse.bytes.size());
  EXPECT_GE(sparse.bytes_per_row(), 8 * 8 + 8 * 4 + 8 + 4);
  EXPECT_LT(sparse.bytes_per_row(), 8 * 8 + 8 * 4 + 8 + 4 + 4);
}

}  // namespace
}  // namespace windhover
