// Rows drawn by their age, against what each counts for.
#include "windhover/runtime/window/age_draws.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "windhover/tests/runtime/forgetting_fixture.h"

namespace windhover::test::age_draws_test {
namespace {

using forgetting_test::ages;
using forgetting_test::forgetting;

AgeWeights ages_of(std::uint64_t size) {
  return AgeWeights(forgetting(small_config("linear", 3, size)));
}

// How often each row was drawn: chi-square over all of them, its mean their number and its variance
// twice that; 5 sd.
TEST(AgeDraws, RowsAreDrawnAsOftenAsTheyCount) {
  for (const Index size : {20, 63, 100, 500}) {
    for (const Index rows : {1, 2, 7, static_cast<int>(size), 2 * static_cast<int>(size)}) {
      const Index first = 12'345;
      const AgeWeights ages_of_size = ages_of(static_cast<std::uint64_t>(size));
      constexpr std::size_t kDraws = 1'000'000;
      std::vector<std::uint32_t> drawn(kDraws);
      AgeDraws draws;
      draws.prepare(ages_of_size, static_cast<std::uint64_t>(first),
                    static_cast<std::uint64_t>(first + rows));
      draws.draw(9, {3, 1, Purpose::kMinibatch}, drawn);
      VectorXd counts = VectorXd::Zero(rows);
      for (const std::uint32_t row : drawn) {
        ASSERT_LT(row, rows);
        counts[row] += 1;
      }
      const VectorXd r = ages(first, rows, size);
      const VectorXd expected = r * (static_cast<double>(kDraws) / r.sum());
      const double chi_square = ((counts - expected).array().square() / expected.array()).sum();
      const double freedom = static_cast<double>(rows - 1);
      EXPECT_LE(std::abs(chi_square - freedom), 5 * std::sqrt(2 * freedom)) << size << " " << rows;
    }
  }
}

TEST(AgeDraws, AShorterDrawIsABeginningOfALongerOne) {
  AgeDraws draws;
  draws.prepare(ages_of(300), 10, 600);
  std::vector<std::uint32_t> few(70);
  std::vector<std::uint32_t> many(300);
  draws.draw(9, {3, 1, Purpose::kMinibatch}, few);
  draws.draw(9, {3, 1, Purpose::kMinibatch}, many);
  for (std::size_t i = 0; i < few.size(); ++i) EXPECT_EQ(few[i], many[i]);
}

// Another range of rows, and back: what was prepared before leaves nothing.
TEST(AgeDraws, HangOnTheRowsAlone) {
  const AgeWeights weights = ages_of(300);
  AgeDraws used, fresh;
  used.prepare(weights, 0, 40);
  used.prepare(weights, 10, 600);
  fresh.prepare(weights, 10, 600);
  std::vector<std::uint32_t> one(500), other(500);
  used.draw(1, {4, 2, Purpose::kMinibatch}, one);
  fresh.draw(1, {4, 2, Purpose::kMinibatch}, other);
  EXPECT_EQ(one, other);
}

}  // namespace
}  // namespace windhover::test::age_draws_test
