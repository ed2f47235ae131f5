// How soon a change of the stream is told, beside ADWIN and Page and Hinkley's test on the same
// rows.
//   WINDHOVER_LONG=1 runtime_test --gtest_filter='*LongDriftDetection*'     prints the table
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numbers>
#include <vector>

#include "windhover/tests/runtime/drift_detectors.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::drift_detection_test {
namespace {

constexpr Index kFrame = 50, kWindow = 2000, kChange = 10'000;

enum class Change : std::uint8_t { kNone, kIntercept, kSlope, kRamp, kNoise };

const char* name_of(Change change) {
  constexpr std::array<const char*, 5> kNames = {"nothing changes", "intercept by 1 sd",
                                                 "a slope by 1", "a slope by 1, within 2,000 rows",
                                                 "noise sd by a half"};
  return kNames[static_cast<std::size_t>(change)];
}

Data stream(Change change, Index rows, std::uint64_t seed) {
  Data data = linear_data(rows, 5, 1.0, seed);
  for (Index i = kChange; i < rows; ++i) {
    const double since = static_cast<double>(i - kChange);
    switch (change) {
      case Change::kNone:
        break;
      case Change::kIntercept:
        data.y[i] += 1;
        break;
      case Change::kSlope:
        data.y[i] += data.x(i, 2);
        break;
      case Change::kRamp:
        data.y[i] += std::min(since / 2000, 1.0) * data.x(i, 2);
        break;
      case Change::kNoise:
        data.y[i] += 0.5 * (data.y[i] - data.x.row(i).dot(data.truth.head(5)) - data.truth[5]);
        break;
    }
  }
  return data;
}

// Detectors of one run: the engine's own two, and those on how far each outcome was from the median
// that was predicted, as a probability: uniform while predictions are right.
enum Detector : std::size_t { kDrifting, kAnyStatus, kAdwin, kPageHinkley, kDetectors };

struct Told {
  std::array<Index, kDetectors> first;   // rows after the change; -1: never
  std::array<int, kDetectors> before{};  // alarms before it, each that begins
};

Told run(Change change, Index rows, std::uint64_t seed) {
  const Data data = stream(change, rows, seed);
  EngineConfig config = small_config("linear", 5, kWindow);
  config.score_predictions = true;
  config.max_query_rows = kFrame;
  ManualClock clock(1'000'000);
  TestEngine engine(config, &clock);
  Adwin adwin(0.002);
  PageHinkley page_hinkley(50, 0.005);
  Told told;
  told.first.fill(-1);
  std::array<bool, kDetectors> on{};
  for (Index row = 0; row < rows; row += kFrame) {
    const bool learned = row >= kWindow;
    std::array<bool, kDetectors> now{};
    if (learned) {
      const std::span<const double> x(data.x.row(row).data(), kFrame * 5);
      const auto answers = engine.answers(question(kFrame, x));
      for (Index i = 0; i < kFrame; ++i) {
        const PredictiveSummary& a = answers[static_cast<std::size_t>(i)];
        const double z = (data.y[row + i] - a.mean) / a.sd;
        const double far = std::erf(std::abs(z) / std::numbers::sqrt2);
        now[kAdwin] |= adwin.add(far);
        now[kPageHinkley] |= page_hinkley.add(far);
      }
    }
    engine.feed(data, row, row + kFrame);
    engine.poll_until_idle();
    const Provenance p = engine.provenance();
    now[kDrifting] = learned && p.status == PosteriorStatus::kDrifting;
    now[kAnyStatus] = learned && p.status != PosteriorStatus::kOk;
    for (std::size_t d = 0; d < kDetectors; ++d) {
      if (row < kChange) told.before[d] += now[d] && !on[d];
      if (row >= kChange && now[d] && told.first[d] < 0) told.first[d] = row + kFrame - kChange;
    }
    on = now;
  }
  return told;
}

// A change of one noise sd moves a parameter by 30 posterior sd: the newest tenth is told from the
// rest when a fifth of it has come at the latest, in every stream, and nothing before.
TEST(DriftDetection, JumpsAreToldWithinAFifthOfAWindow) {
  for (const Change change : {Change::kIntercept, Change::kSlope}) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      const Told told = run(change, kChange + 1000, seed);
      EXPECT_EQ(told.before[kDrifting], 0) << name_of(change);
      EXPECT_GT(told.first[kDrifting], 0) << name_of(change);
      EXPECT_LE(told.first[kDrifting], kWindow / 5) << name_of(change);
    }
  }
}

TEST(LongDriftDetection, BesideAdwinAndPageHinkley) {
  WINDHOVER_SKIP_UNLESS_LONG();
  constexpr std::uint64_t kStreams = 20;
  std::printf("%-34s %12s %12s %12s %12s\n", "rows until told, median (told of 20)", "drifting",
              "any status", "ADWIN", "Page-Hinkley");
  std::array<int, kDetectors> before{};
  for (const Change change :
       {Change::kNone, Change::kIntercept, Change::kSlope, Change::kRamp, Change::kNoise}) {
    std::array<std::vector<Index>, kDetectors> first;
    for (std::uint64_t seed = 1; seed <= kStreams; ++seed) {
      const Told told = run(change, kChange + 4000, 100 + seed);
      for (std::size_t d = 0; d < kDetectors; ++d) {
        before[d] += told.before[d];
        if (told.first[d] > 0) first[d].push_back(told.first[d]);
      }
    }
    std::printf("%-36s", name_of(change));
    for (auto& rows : first) {
      std::ranges::sort(rows);
      if (rows.empty()) {
        std::printf("%12s", "never");
      } else {
        std::printf("%7ld (%2zu)", static_cast<long>(rows[rows.size() / 2]), rows.size());
      }
    }
    std::printf("\n");
  }
  std::printf("%-36s", "alarms before it, in 800,000 rows");
  for (const int alarms : before) std::printf("%12d", alarms);
  std::printf("\n");
  EXPECT_EQ(before[kDrifting], 0);
}

}  // namespace
}  // namespace windhover::test::drift_detection_test
