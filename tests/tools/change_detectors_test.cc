#include "windhover/tools/reproduce/change_detectors.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "windhover/platform/random.h"

namespace windhover::change_detectors_test {
namespace {

using reproduce::Adwin;
using reproduce::PageHinkley;

std::vector<double> uniforms(std::size_t count, std::uint64_t seed) {
  std::vector<double> numbers(count);
  Rng rng(seed);
  rng.fill_uniforms(numbers);
  return numbers;
}

// Numbers of mean 0.3 and, from `change` on, of mean 0.7. The first alarm.
template <class Detector>
std::optional<std::size_t> first_alarm(Detector detector, std::size_t change, std::size_t count) {
  const std::vector<double> u = uniforms(count, 5);
  for (std::size_t i = 0; i < count; ++i) {
    if (detector.add(0.6 * u[i] + (i < change ? 0.0 : 0.4))) return i;
  }
  return std::nullopt;
}

// ADWIN's bound with delta = 0.002 tells parts of 1,000 and m numbers with variance 0.03, 0.4
// apart, from one another from m = 25 on, and it looks every 32 numbers.
TEST(ChangeDetectors, AdwinTellsAJumpAtItsNextLook) {
  const auto alarm = first_alarm(Adwin(), 1000, 2000);
  ASSERT_TRUE(alarm);
  EXPECT_GE(*alarm, 1000U);
  EXPECT_LE(*alarm, 1000U + 25 + 32);
}

// 0.2 above the mean of then, which follows, less 0.005: some 50 / 0.4 numbers, and a few more.
TEST(ChangeDetectors, PageHinkleyTellsAJumpWhenItsSumIsDue) {
  const auto alarm = first_alarm(PageHinkley(), 1000, 2000);
  ASSERT_TRUE(alarm);
  EXPECT_GE(*alarm, 1000U + 100);
  EXPECT_LE(*alarm, 1000U + 200);
}

TEST(ChangeDetectors, NeitherTellsOfNumbersThatStayAsTheyAre) {
  Adwin adwin;
  PageHinkley page_hinkley(0.005, 100);
  int alarms = 0;
  for (const double u : uniforms(20'000, 7)) alarms += adwin.add(u) + page_hinkley.add(u);
  EXPECT_EQ(alarms, 0);
}

// After an alarm the older law is forgotten: the way back is told again.
TEST(ChangeDetectors, TellTheWayBackToo) {
  Adwin adwin;
  PageHinkley page_hinkley;
  int by_adwin = 0;
  int by_sums = 0;
  const std::vector<double> u = uniforms(3000, 9);
  for (std::size_t i = 0; i < u.size(); ++i) {
    const double number = 0.6 * u[i] + (i / 1000 == 1 ? 0.4 : 0.0);
    const bool back = i >= 2000;
    by_adwin += adwin.add(number) && back;
    by_sums += page_hinkley.add(number) && back;
  }
  EXPECT_GE(by_adwin, 1);
  EXPECT_GE(by_sums, 1);
}

}  // namespace
}  // namespace windhover::change_detectors_test
