#include "windhover/samplers/estimates/dyadic_batches.h"

#include <gtest/gtest.h>

#include "windhover/tests/samplers/support.h"

namespace windhover::dyadic_batches_test {
namespace {

// All chains one below the other, one column a series.
DyadicBatches& fill(Memory& memory, const std::vector<Matrix>& series) {
  const Index rows = series[0].rows();
  const Index chains = series[0].cols();
  auto* batches =
      memory.arena().make<DyadicBatches>(memory.arena(), static_cast<std::uint32_t>(chains),
                                         static_cast<std::uint32_t>(series.size()));
  batches->reset();
  Matrix values(static_cast<Index>(series.size()), chains);
  for (Index t = 0; t < rows; ++t) {
    for (std::size_t j = 0; j < series.size(); ++j) {
      values.row(static_cast<Index>(j)) = series[j].row(t);
    }
    batches->add(values.data());
  }
  return *batches;
}

TEST(DyadicBatches, batches_of_every_length_agree_with_stored_ones) {
  constexpr Index kRows = 1000;
  constexpr Index kChains = 3;
  const std::vector<Matrix> series = {normals(1, kRows, kChains), 0.1 * normals(2, kRows, kChains)};
  Memory memory;
  const DyadicBatches& batches = fill(memory, series);
  EXPECT_EQ(batches.count(), 1000U);
  for (std::uint32_t level = 0; level < 8; ++level) {
    const Index length = Index{1} << level;
    const Index count = kRows / length;
    ASSERT_EQ(batches.batches(level), static_cast<std::uint64_t>(count));
    for (std::uint32_t j = 0; j < 2; ++j) {
      Matrix sums(count, kChains);
      for (Index b = 0; b < count; ++b) {
        sums.row(b) = series[j].middleRows(b * length, length).colwise().sum();
      }
      const double mean = sums.mean();
      const double own = sums.array().square().mean() - mean * mean;
      const double lagged =
          (sums.topRows(count - 1).array() * sums.bottomRows(count - 1).array()).mean() -
          mean * mean;
      const auto found = batches.at(level, j);
      EXPECT_NEAR(found.own, own / static_cast<double>(length), 1e-10);
      EXPECT_NEAR(found.lagged, lagged / static_cast<double>(length), 1e-10);
    }
  }
  EXPECT_NEAR(batches.mean(1), series[1].mean(), 1e-12);
}

TEST(DyadicBatches, reset_forgets) {
  const std::vector<Matrix> series = {normals(3, 500, 2)};
  Memory memory;
  DyadicBatches& batches = fill(memory, series);
  const double before = batches.at(3, 0).long_run();
  batches.reset();
  for (Index t = 0; t < 500; ++t) {
    const Vector row = series[0].row(t);
    batches.add(row.data());
  }
  EXPECT_EQ(batches.at(3, 0).long_run(), before);
}

}  // namespace
}  // namespace windhover::dyadic_batches_test
