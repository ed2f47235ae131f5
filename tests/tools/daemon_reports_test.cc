// What the daemon's watcher makes of counters and heartbeats: lines of a log.
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "windhover/tests/tools/recorded_log.h"
#include "windhover/tools/daemon/count_report.h"
#include "windhover/tools/daemon/keeping_report.h"
#include "windhover/tools/daemon/rate_limit.h"
#include "windhover/tools/daemon/stalls.h"
#include "windhover/tools/daemon/status_report.h"
#include "windhover/tools/heap/heap_counter.h"

namespace windhover::daemon_reports_test {

using namespace std::chrono_literals;

using testing::kSecond;
using testing::RecordedLog;
using Lines = std::vector<std::string>;

TEST(RateLimit, LetsABurstThroughAndThenOneAPeriod) {
  RateLimit limit(3, 10s);
  EXPECT_TRUE(limit.allow(5));
  EXPECT_TRUE(limit.allow(6));
  EXPECT_TRUE(limit.allow(7));
  EXPECT_FALSE(limit.allow(8));
  EXPECT_FALSE(limit.allow(9 * kSecond));
  EXPECT_TRUE(limit.allow(10 * kSecond + 10));
  EXPECT_FALSE(limit.allow(10 * kSecond + 11));
  // No more is saved than the burst, however long nobody came.
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limit.allow(1000 * kSecond));
  EXPECT_FALSE(limit.allow(1000 * kSecond));
}

struct CountedServer {
  Counters<RuntimeCounter> runtime;
  Counters<IoCounter> io;
};

TEST(CountReport, SaysHowManyOfEachKindAndNotByRow) {
  CountedServer server;
  server.io.add(IoCounter::kRowsRefused, 100);  // before anybody looked
  RecordedLog recorded("counts.log");
  CountReport report(server.io, recorded.log());
  CountReport of_model("price", server.runtime, recorded.log());
  report.look(kSecond);
  of_model.look(kSecond);
  EXPECT_EQ(recorded.lines(), Lines{});
  server.io.add(IoCounter::kRowsRefused, 7);
  server.runtime.add(RuntimeCounter::kRowsRefusedTarget, 4);
  server.runtime.add(RuntimeCounter::kRowsRefusedNotFinite, 3);
  server.io.add(IoCounter::kConnectionsRefused, 2);
  report.look(2 * kSecond);
  of_model.look(2 * kSecond);
  EXPECT_EQ(recorded.lines(),
            (Lines{"warning rows_refused rows=7", "warning connections_refused no_session_free=2",
                   "warning rows_refused model=price not_finite=3 target=4"}));
}

TEST(CountReport, KeepsForALaterLineWhatComesSoonAfterOne) {
  CountedServer server;
  RecordedLog recorded("kept_counts.log");
  CountReport report(server.io, recorded.log());
  server.io.add(IoCounter::kMalformedFrames);
  report.look(kSecond);
  EXPECT_EQ(recorded.lines(), Lines{"warning requests_refused malformed=1"});
  for (int second = 2; second <= 10; ++second) {
    server.io.add(IoCounter::kMalformedFrames, 1000);
    report.look(second * kSecond);
  }
  EXPECT_EQ(recorded.lines(), Lines{});
  report.look(11 * kSecond);
  EXPECT_EQ(recorded.lines(), Lines{"warning requests_refused malformed=9000"});
  server.io.add(IoCounter::kMalformedFrames, 5);
  report.look(12 * kSecond);
  report.finish();
  EXPECT_EQ(recorded.lines(), Lines{"warning requests_refused malformed=5"});
}

TEST(CountReport, SaysWhatHttpRefuses) {
  Counters<HttpCounter> http;
  http.add(HttpCounter::kMalformed, 9);  // before anybody looked
  RecordedLog recorded("http_counts.log");
  CountReport report(http, recorded.log());
  http.add(HttpCounter::kMalformed, 2);
  http.add(HttpCounter::kTimeouts, 3);
  http.add(HttpCounter::kOverLimits, 4);
  http.add(HttpCounter::kAnswersOk, 5);
  report.look(kSecond);
  EXPECT_EQ(recorded.lines(), (Lines{"warning requests_refused endpoint=http malformed=2",
                                     "warning connections_refused endpoint=http timeouts=3",
                                     "info limits_hit endpoint=http over_limits=4"}));
}

// The counters of all kinds at their largest.
TEST(CountReport, HasRoomForEveryKindAtOnce) {
  CountedServer server;
  RecordedLog recorded("all_counts.log");
  CountReport report(server.io, recorded.log());
  CountReport of_model("price", server.runtime, recorded.log());
  for (std::size_t i = 0; i < server.io.size(); ++i) {
    server.io.add(static_cast<IoCounter>(i), 1'000'000'000'000);
  }
  for (std::size_t i = 0; i < server.runtime.size(); ++i) {
    server.runtime.add(static_cast<RuntimeCounter>(i), 1'000'000'000'000);
  }
  report.look(kSecond);
  of_model.look(kSecond);
  const Lines lines = recorded.lines();
  // Refused rows, limits and faults are the server's and the model's.
  ASSERT_EQ(lines.size(), 8U);
  for (const std::string& line : lines)
    EXPECT_EQ(line.find("truncated"), std::string::npos) << line;
}

TEST(Stalls, SaysWhoStandsStillAndWhoGoesOn) {
  RecordedLog recorded("stalls.log");
  Stalls stalls(recorded.log(), 3s, {1, 1, 1, -1});
  std::int64_t turn = 1;
  for (int second = 0; second < 10; ++second) {
    ++turn;
    stalls.look({turn, turn, turn, -1}, 1s);
  }
  EXPECT_TRUE(stalls.first().empty());
  const std::int64_t stuck = turn;
  for (int second = 0; second < 2; ++second) stalls.look({++turn, stuck, turn, -1}, 1s);
  EXPECT_TRUE(stalls.first().empty());
  for (int second = 0; second < 3; ++second) stalls.look({++turn, stuck, turn, -1}, 1s);
  EXPECT_EQ(stalls.first(), "observe");
  ++turn;
  stalls.look({turn, turn, turn, -1}, 1s);
  EXPECT_TRUE(stalls.first().empty());
  EXPECT_EQ(recorded.lines(), (Lines{"error thread_stands_still thread=observe ms=3000",
                                     "warning thread_goes_on thread=observe ms=5000"}));
}

TEST(Stalls, SeesEachThread) {
  RecordedLog recorded("each_stall.log");
  for (std::size_t i = 0; i < Stalls::kThreads; ++i) {
    Stalls stalls(recorded.log(), 2s, {});
    Stalls::Beats beats = {1, 1, 1, 1};
    stalls.look(beats, 1s);
    for (int second = 2; second < 5; ++second) {
      for (std::size_t j = 0; j < Stalls::kThreads; ++j) {
        if (j != i) beats[j] = second;
      }
      stalls.look(beats, 1s);
    }
    EXPECT_EQ(stalls.first(), Stalls::kNames[i]);
  }
}

// The reports have nothing to say, and then a good deal.
TEST(Reports, MakeNoHeapCall) {
  CountedServer server;
  LogProgress log;
  CheckpointProgress checkpoints;
  RecordedLog recorded("heap_reports.log");
  CountReport counts(server.io, recorded.log());
  CountReport of_model("default", server.runtime, recorded.log());
  StatusReport status("default", recorded.log());
  KeepingReport keeping("default", log, checkpoints, recorded.log());
  Stalls stalls(recorded.log(), 3s, {1, 1, 1, -1});
  const auto before = heap_calls();
  for (int second = 0; second < 1000; ++second) {
    const bool busy = second >= 500;
    if (busy) {
      server.io.add(IoCounter::kRowsRefused, 3);
      log.failures += 1;
      log.error_number = ENOSPC;
      checkpoints.failures += 1;
      checkpoints.error_number = EIO;
    }
    const bool good = !busy || second % 2 == 0;
    counts.look(second * kSecond);
    of_model.look(second * kSecond);
    status.look(good ? testing::provenance_with(PosteriorStatus::kOk, StatusReason::kNone)
                     : testing::provenance_with(PosteriorStatus::kDegraded, StatusReason::kDrift),
                second * kSecond);
    keeping.look(second * kSecond);
    stalls.look({1, 1, 1, 1}, busy ? 1s : 0s);
    if (second % 20 == 0) recorded.log().drain();
  }
  recorded.log().drain();
  const auto after = heap_calls();
  if (before) {
    EXPECT_EQ(*after - *before, 0U);
  }
  EXPECT_GT(recorded.lines().size(), 100U);
}

}  // namespace windhover::daemon_reports_test
