#include "windhover/runtime/scoring/kept_answers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "windhover/platform/memory.h"

namespace windhover::test::kept_answers_test {
namespace {

constexpr std::size_t kNumbers = 3;

struct Kept {
  explicit Kept(std::size_t numbers = kNumbers)
      : block(1 << 20), arena(block.bytes()), answers(arena, 8, numbers) {
    answers.reset();
  }
  MappedBlock block;
  Arena arena;
  KeptAnswers answers;
};

struct Asked {
  explicit Asked(double first, std::uint64_t n_seen = 100, std::uint64_t n_eff = 8)
      : numbers{first, first + 1, first + 2} {
    answer.numbers = numbers;
    answer.n_seen = n_seen;
    answer.n_eff = n_eff;
    for (std::size_t i = 0; i < answer.served.size(); ++i) {
      answer.served[i] = {first + 0.1 * static_cast<double>(i),
                          first + 0.2 * static_cast<double>(i)};
    }
  }
  std::array<double, kNumbers> numbers;
  GivenAnswer answer;
};

std::vector<double> numbers(const GivenAnswer& answer) {
  return {answer.numbers.begin(), answer.numbers.end()};
}

TEST(KeptAnswers, ReadsWhatWasWritten) {
  Kept kept;
  const Asked a(10);
  const Asked b(20);
  kept.answers.write(0, &a.answer, false);
  kept.answers.write(1, &b.answer, false);
  for (const auto& [place, asked] : {std::pair{0U, &a}, std::pair{1U, &b}}) {
    ASSERT_TRUE(kept.answers.has(place));
    const GivenAnswer read = kept.answers.read(place);
    EXPECT_EQ(numbers(read), numbers(asked->answer));
    EXPECT_EQ(read.use, OutcomeUse::kCheck);
    for (std::size_t i = 0; i < kScoredIntervals.size(); ++i) {
      EXPECT_EQ(read.served[i].lower, asked->answer.served[i].lower) << i;
      EXPECT_EQ(read.served[i].upper, asked->answer.served[i].upper) << i;
    }
  }
}

TEST(KeptAnswers, HasNoneWhereNoneWasGivenOrNobodyScores) {
  Kept kept;
  const Asked a(10);
  kept.answers.write(0, &a.answer, false);
  kept.answers.write(0, nullptr, false);
  EXPECT_FALSE(kept.answers.has(0));
  Kept unscored(0);
  std::ranges::fill(unscored.block.bytes(), std::byte{0xA5});
  unscored.answers.write(0, &a.answer, false);
  EXPECT_FALSE(unscored.answers.has(0));
  EXPECT_EQ(std::ranges::count(unscored.block.bytes(), std::byte{0xA5}), 1 << 20);
}

// A posterior that stands on 8 rows is judged by two.
TEST(KeptAnswers, CheckAsManyAsMayJudgeThePosterior) {
  Kept kept;
  const Asked a(10);
  std::vector<OutcomeUse> uses;
  for (std::uint32_t place = 0; place < 4; ++place) {
    kept.answers.write(place, &a.answer, false);
    uses.push_back(kept.answers.read(place).use);
  }
  EXPECT_EQ(uses, (std::vector{OutcomeUse::kCheck, OutcomeUse::kCheck, OutcomeUse::kConformal,
                               OutcomeUse::kConformal}));
  const Asked newer(10, 101);
  kept.answers.write(4, &newer.answer, false);
  EXPECT_EQ(kept.answers.read(4).use, OutcomeUse::kCheck);
  kept.answers.reset();
  kept.answers.write(0, &a.answer, false);
  EXPECT_EQ(kept.answers.read(0).use, OutcomeUse::kCheck) << "nothing has been judged";
}

TEST(KeptAnswers, StaysWithWhatWasDecidedForWhoAsksAgain) {
  Kept kept;
  const Asked a(10);
  for (int i = 0; i < 5; ++i) kept.answers.write(0, &a.answer, i > 0);
  EXPECT_EQ(kept.answers.read(0).use, OutcomeUse::kCheck);
  kept.answers.write(1, &a.answer, false);
  EXPECT_EQ(kept.answers.read(1).use, OutcomeUse::kCheck) << "the one above counted once";
  kept.answers.write(2, &a.answer, false);
  kept.answers.write(2, &a.answer, true);
  EXPECT_EQ(kept.answers.read(2).use, OutcomeUse::kConformal);
  // An answer from another posterior is decided anew.
  const Asked newer(30, 101);
  kept.answers.write(2, &newer.answer, true);
  EXPECT_EQ(kept.answers.read(2).use, OutcomeUse::kCheck);
  EXPECT_EQ(numbers(kept.answers.read(2)), numbers(newer.answer));
}

TEST(KeptAnswers, AreDecidedAnewWhereNoneWasGivenBetween) {
  Kept kept;
  const Asked a(10);
  kept.answers.write(0, &a.answer, false);
  kept.answers.write(0, nullptr, true);
  kept.answers.write(0, &a.answer, true);
  kept.answers.write(1, &a.answer, false);
  EXPECT_EQ(kept.answers.read(1).use, OutcomeUse::kConformal) << "two count before it";
}

TEST(KeptAnswers, ThatSayLessAreForLess) {
  Kept kept;
  Asked a(10);
  kept.answers.write(0, &a.answer, false);
  a.answer.use = OutcomeUse::kScores;
  kept.answers.write(0, &a.answer, true);
  EXPECT_EQ(kept.answers.read(0).use, OutcomeUse::kScores);
}

}  // namespace
}  // namespace windhover::test::kept_answers_test
