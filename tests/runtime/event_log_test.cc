// What an engine lists of what has happened to it.
#include "windhover/runtime/diagnostics/event_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "windhover/runtime/window/row_times.h"
#include "windhover/tests/runtime/engine_fixture.h"
#include "windhover/tests/runtime/memory_stream.h"

namespace windhover::test::event_log_test {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

Provenance answer(PosteriorStatus status, StatusReason reason, std::uint64_t rows) {
  Provenance p;
  p.status = status;
  p.reason = reason;
  p.n_seen = rows;
  p.ou_ratio = 2.5;
  p.drift_score = 7;
  return p;
}

const Provenance kFine = answer(PosteriorStatus::kOk, StatusReason::kNone, 10);
const Provenance kSpread = answer(PosteriorStatus::kDegraded, StatusReason::kSpread, 20);

std::vector<EventKind> kinds(const EventLog& log) {
  std::vector<EventKind> kinds;
  for (const Event& event : log.list().all()) kinds.push_back(event.kind);
  return kinds;
}

TEST(EventLog, TellsAChangeOfStatusOnceWithItsNumber) {
  EventLog log;
  EXPECT_TRUE(log.look({.answer = kFine}, 1));
  EXPECT_TRUE(log.look({.answer = kSpread}, 2));
  EXPECT_FALSE(log.look({.answer = kSpread}, 3));
  ASSERT_EQ(log.list().count, 2U);
  const Event& event = log.list().events[1];
  EXPECT_EQ(event.id, 2U);
  EXPECT_EQ(event.kind, EventKind::kStatus);
  EXPECT_EQ(event.from, PosteriorStatus::kOk);
  EXPECT_EQ(event.status, PosteriorStatus::kDegraded);
  EXPECT_EQ(event.reason, StatusReason::kSpread);
  EXPECT_EQ(event.number, 2.5);
  EXPECT_EQ(event.row, 20U);
  EXPECT_EQ(event.time_ns, 2);
}

TEST(EventLog, AStatusThatComesAndGoesTakesTwoPlaces) {
  EventLog log;
  log.look({.answer = kFine}, 1);
  for (int i = 0; i < 1000; ++i) {
    log.look({.answer = kSpread}, 10 + 2 * i);
    log.look({.answer = kFine}, 11 + 2 * i);
  }
  ASSERT_EQ(log.list().count, 3U);
  const Event& there = log.list().events[1];
  EXPECT_EQ(there.status, PosteriorStatus::kDegraded);
  EXPECT_EQ(there.times, 1000U);
  EXPECT_EQ(there.first_time_ns, 10);
  EXPECT_EQ(there.time_ns, 10 + 2 * 999);
  const Event& back = log.list().events[2];
  EXPECT_EQ(back.status, PosteriorStatus::kOk);
  EXPECT_EQ(back.times, 1000U);
  EXPECT_EQ(back.first_time_ns, 11);
  EXPECT_LT(there.id, back.id);
  EXPECT_EQ(back.id, 2001U);
  // Another reason is another event.
  log.look({.answer = answer(PosteriorStatus::kDegraded, StatusReason::kPrior, 30)}, 9999);
  EXPECT_EQ(log.list().count, 4U);
}

TEST(EventLog, KeepsTheNewest) {
  EventLog log;
  for (std::uint64_t memory = 1; memory <= 200; ++memory) {
    log.look({.answer = kFine, .memory = memory}, 5);
  }
  ASSERT_EQ(log.list().count, kMostEvents);
  EXPECT_EQ(log.list().events.back().id, 200U);
  EXPECT_EQ(log.list().events.back().before, 199);
  EXPECT_EQ(log.list().events.back().number, 200);
  EXPECT_EQ(log.list().events.front().id, 200 - kMostEvents + 1);
  EXPECT_EQ(log.list().total, 200U);
  const auto newest = [&](EventKind kind) {
    return log.list().newest_time_ns[static_cast<std::size_t>(kind)];
  };
  EXPECT_EQ(newest(EventKind::kStatus), 5);  // the first, which is not listed any more
  EXPECT_EQ(newest(EventKind::kStartedOver), 0);
}

TEST(EventLog, TellsALearnerThatStartedOverBetweenTwoLooks) {
  EventLog log;
  log.look({.answer = kFine, .sampling = true, .cold_starts = 1, .memory = 800}, 1);
  log.look({.answer = kFine, .sampling = true, .cold_starts = 2, .memory = 1600}, 2);
  log.look({.answer = kFine, .sampling = false, .cold_starts = 2, .memory = 1600}, 3);
  EXPECT_EQ(kinds(log),
            (std::vector{EventKind::kColdStartOver, EventKind::kStatus, EventKind::kStartedOver,
                         EventKind::kColdStartOver, EventKind::kStartedOver}));
}

TEST(EventLog, TellsWhatElseChanges) {
  EventLog log;
  log.look({.answer = kFine}, 1);
  log.look({.answer = kFine, .limit_aside = true}, 2);
  log.look({.answer = kFine, .limit_aside = false, .paused = true}, 3);
  log.look({.answer = kFine}, 4);
  log.look({.answer = answer(PosteriorStatus::kRecovering, StatusReason::kReplay, 40)}, 5);
  log.look({.answer = kFine}, 6);
  EXPECT_EQ(kinds(log), (std::vector{EventKind::kStatus, EventKind::kLimitAside, EventKind::kPaused,
                                     EventKind::kLimitBack, EventKind::kWentOn, EventKind::kStatus,
                                     EventKind::kRecovered, EventKind::kStatus}));
}

TEST(EventLog, TellsADriftWithinADrift) {
  EventLog log;
  Provenance p = answer(PosteriorStatus::kDrifting, StatusReason::kDrift, 1000);
  p.drift_onset = 900;
  p.drift_onset_time_ns = 77;
  log.look({.answer = p}, 100);
  ASSERT_EQ(log.list().count, 1U);
  EXPECT_EQ(log.list().events[0].drift_onset, 900U);
  EXPECT_EQ(log.list().events[0].drift_onset_time_ns, 77);
  EXPECT_EQ(log.list().events[0].number, 7);
  p.n_seen = 1200;
  p.drift_onset = 905;  // another estimate of the same one
  EXPECT_FALSE(log.look({.answer = p}, 120));
  p.drift_onset = 1100;
  EXPECT_TRUE(log.look({.answer = p}, 130));
  EXPECT_EQ(log.list().events[1].kind, EventKind::kDrift);
  EXPECT_EQ(log.list().events[1].drift_onset, 1100U);
}

TEST(RowTimes, GoBackTwiceAsFarAsMemory) {
  EngineConfig config = small_config("linear", 2, 12'800);
  RowTimes times(config);
  EXPECT_EQ(times.time_of(0), 0);
  // A row a second, but for an hour that nothing came in.
  const auto time_of = [](std::uint64_t row) {
    return (static_cast<std::int64_t>(row) + (row >= 90'000 ? 3600 : 0)) * kSecond;
  };
  for (std::uint64_t head = 0; head <= 100'000; head += 7) {
    if (times.due(head)) times.note(head, time_of(head));
  }
  EXPECT_EQ(times.time_of(70'000), 0);
  const double every = 12'800.0 / 128 + 7;
  for (std::uint64_t row = 75'000; row < 99'900; row += 333) {
    if (row > 89'000 && row < 90'100) continue;
    EXPECT_NEAR(static_cast<double>(times.time_of(row) - time_of(row)) / kSecond, 0, every) << row;
  }
  EXPECT_GE(times.time_of(99'999), time_of(99'800));
}

// Rows come one a second.
class Watched {
 public:
  explicit Watched(const EngineConfig& config) : engine(config, &clock) {
    clock.set_wall_ns(1'000'000 * kSecond);
  }
  void feed(const Data& data, Index first, Index last, Index frame = 50) {
    for (Index row = first; row < last; row += frame) {
      engine.feed(data, row, row + frame);
      engine.poll_until_idle();
      clock.advance_ns(frame * kSecond);
    }
  }
  std::vector<Event> events() {
    EventList list;
    engine.reader().events(list);
    return {list.all().begin(), list.all().end()};
  }
  std::vector<Event> events(EventKind kind) {
    std::vector<Event> all = events();
    std::erase_if(all, [&](const Event& event) { return event.kind != kind; });
    return all;
  }

  ManualClock clock;
  TestEngine engine;
};

TEST(EngineEvents, SayWhenADriftBegan) {
  Data data = linear_data(4000, 4, 1.0, 78);
  for (Index i = 2500; i < 4000; ++i) data.y[i] += 3 * data.x(i, 1);
  Watched watched(small_config("linear", 4, 2000));
  EXPECT_TRUE(watched.events().empty());
  watched.engine->tell_start();
  watched.feed(data, 0, 4000);
  ASSERT_EQ(watched.events().front().kind, EventKind::kStarted);
  ASSERT_EQ(watched.events(EventKind::kColdStartOver).size(), 1U);
  EXPECT_EQ(watched.events(EventKind::kColdStartOver)[0].row, 100U);
  bool told = false;
  for (const Event& event : watched.events(EventKind::kStatus)) {
    if (event.reason != StatusReason::kDrift) continue;
    told = true;
    EXPECT_GT(event.number, 4.4);
    if (event.drift_onset == 0) continue;
    // A row a second, and a mark every 2000 / 128 rows, taken with frames of 50.
    EXPECT_NEAR(static_cast<double>(event.drift_onset), 2500, 160);
    EXPECT_NEAR(static_cast<double>(event.drift_onset_time_ns) / kSecond,
                1'000'000 + static_cast<double>(event.drift_onset), 50);
    EXPECT_EQ(event.time_ns / kSecond, 1'000'000 + static_cast<std::int64_t>(event.row) - 50);
  }
  EXPECT_TRUE(told);
}

TEST(EngineEvents, SurviveACheckpoint) {
  EngineConfig config = small_config("linear", 3, 300);
  config.checkpoints = true;
  const Data data = linear_data(600, 3, 1.0, 5);
  Watched before(config);
  before.feed(data, 0, 600);
  const std::vector<Event> told = before.events();
  ASSERT_FALSE(told.empty());
  const Bytes checkpoint = bytes_of(*before.engine);

  Watched after(config);
  after.clock.set_wall_ns(2'000'000 * kSecond);
  ASSERT_EQ(restore_error(*after.engine, checkpoint).status, Status::kOk);
  after.engine->tell_start();
  std::vector<Event> events = after.events();
  ASSERT_EQ(events.size(), told.size() + 1);
  EXPECT_EQ(events.back().kind, EventKind::kStarted);
  EXPECT_EQ(events.back().row, 600U);
  EXPECT_EQ(events.back().id, told.back().id + 1);
  EXPECT_EQ(events.back().time_ns, 2'000'000 * kSecond);
  for (std::size_t i = 0; i < told.size(); ++i) {
    EXPECT_EQ(events[i].id, told[i].id);
    EXPECT_EQ(events[i].time_ns, told[i].time_ns);
    EXPECT_EQ(events[i].kind, told[i].kind);
  }
}

TEST(EngineEvents, TellOfPausesAndRecovery) {
  const Data data = linear_data(900, 3, 1.0, 5);
  Watched watched(small_config("linear", 3, 300));
  watched.engine->progress().set_recovery_target(400);
  watched.feed(data, 0, 600);
  ASSERT_EQ(watched.events(EventKind::kRecovered).size(), 1U);
  EXPECT_EQ(watched.events(EventKind::kRecovered)[0].row, 400U);
  EXPECT_TRUE(watched.events(EventKind::kPaused).empty());
  watched.engine->progress().pause(true);
  watched.engine->poll(1);
  EXPECT_EQ(watched.events(EventKind::kPaused).size(), 1U);
  watched.engine->progress().pause(false);
  watched.engine->poll(1);
  EXPECT_EQ(watched.events().back().kind, EventKind::kWentOn);
}

TEST(EngineEvents, TellThatAnAdaptiveWindowHasChanged) {
  EngineConfig config = small_config("linear", 4, 4000);
  config.horizon = Horizon::kAdaptive;
  config.model.noise_variance = 0;
  Data data = linear_data(6000, 4, 1.0, 11);
  for (Index i = 5000; i < 6000; ++i) data.y[i] += 5 * data.x(i, 1);
  Watched watched(config);
  watched.feed(data, 0, 6000);
  const std::vector<Event> resized = watched.events(EventKind::kResized);
  ASSERT_FALSE(resized.empty());
  EXPECT_EQ(resized.size(), watched.engine->counters().get(RuntimeCounter::kResizes));
  EXPECT_EQ(resized[0].before, 4000);
  EXPECT_LT(resized[0].number, 4000);
  EXPECT_GE(resized[0].row, 5000U);
  // It says what the rows are worth, of which twice as many are held.
  const auto worth = static_cast<double>(watched.engine.provenance().n_eff);
  EXPECT_NEAR(resized.back().number, worth, 0.1 * worth);
}

TEST(EngineEvents, TellThatALimitOnSurprisingRowsStandsAside) {
  EngineConfig config = small_config("linear", 4, 2000);
  config.surprising_rows = SurprisingRows::kSetAside;
  Data data = linear_data(3000, 4, 1.0, 12);
  for (Index i = 2000; i < 3000; ++i) data.y[i] += 40;
  Watched watched(config);
  watched.feed(data, 0, 3000, 10);
  const std::vector<Event> aside = watched.events(EventKind::kLimitAside);
  ASSERT_FALSE(aside.empty());
  // It is told after 31 of them.
  EXPECT_NEAR(static_cast<double>(aside[0].row), 2031, 10);
}

}  // namespace
}  // namespace windhover::test::event_log_test
