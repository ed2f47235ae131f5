#include "windhover/tools/client/top_frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "windhover/tests/tools/support.h"

namespace windhover::top_frame_test {

constexpr TopSize kWide = {200, 100};

void count(v1::StatusResult& status, const std::string& label, std::uint64_t value) {
  v1::Counter& counter = *status.add_io_counters();
  counter.set_label(label);
  counter.set_value(value);
}

// A server that has been up for so many seconds and has taken so many rows.
TopLook look(double seconds, std::uint64_t rows) {
  TopLook look;
  look.address = "127.0.0.1:7172";
  look.model = v1::MODEL_KIND_LINEAR;
  v1::StatusResult& s = look.status;
  s.set_uptime_ns(static_cast<std::uint64_t>(1e9 * seconds));
  s.set_head(rows);
  s.set_observe_sessions(3);
  s.set_query_sessions(2);
  s.set_footprint_bytes(3 << 20);
  s.mutable_durable()->set_instance_id(7);
  s.mutable_provenance()->set_n_seen(rows);
  s.mutable_provenance()->set_state(v1::POSTERIOR_STATE_OK);
  count(s, "rows_accepted", rows);
  count(s, "queries", rows / 1000);
  return look;
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// The words of the line that has `word` first.
std::string line_with(const std::vector<std::string>& lines, const std::string& word) {
  const auto found = std::ranges::find_if(
      lines, [&](const std::string& line) { return line.find(word) != std::string::npos; });
  return found != lines.end() ? *found : "there is no line with " + word;
}

TEST(TopFrame, ShowsRatesBetweenTwoLooksAndTotals) {
  const auto lines = top_frame(look(100, 1'000'000), look(102, 4'000'000), kWide);
  EXPECT_TRUE(says(lines[0], "windhover top - 127.0.0.1:7172 - up "));
  EXPECT_TRUE(says(lines[0], "3 observe, 2 query connections"));
  EXPECT_TRUE(says(line_with(lines, "rows accepted"), "rows accepted           1.50M    4.00M"));
  EXPECT_TRUE(says(line_with(lines, "questions"), "1.50k"));
  EXPECT_TRUE(says(line_with(lines, "linear"), "linear    ok "));
}

TEST(TopFrame, KnowsNoRatesFromOneLookOrAcrossARestart) {
  const std::string none = "rows accepted               -";
  EXPECT_TRUE(says(text_of(top_frame({}, look(100, 5), kWide)), none));
  // Up for less long than before; another history; a server that was away in between.
  EXPECT_TRUE(says(text_of(top_frame(look(100, 5), look(1, 9), kWide)), none));
  TopLook other = look(101, 9);
  other.status.mutable_durable()->set_instance_id(8);
  EXPECT_TRUE(says(text_of(top_frame(look(100, 5), other, kWide)), none));
  TopLook away = look(100, 5);
  away.error = "no answer";
  EXPECT_TRUE(says(text_of(top_frame(away, look(101, 9), kWide)), none));
}

TEST(TopFrame, SaysWhyAStatusIsNotOk) {
  TopLook now = look(100, 5);
  now.status.mutable_provenance()->set_state(v1::POSTERIOR_STATE_DRIFTING);
  now.status.mutable_provenance()->set_reason(v1::POSTERIOR_REASON_DRIFT);
  now.status.mutable_provenance()->set_drift_score(5.25);
  const auto lines = top_frame({}, now, kWide);
  EXPECT_TRUE(says(text_of(lines), "drifting    drift "));
  EXPECT_TRUE(says(text_of(lines), "drift_score 5.2"));
}

TEST(TopFrame, ShowsLatenciesWhereThereWereQuestions) {
  TopLook now = look(100, 5);
  v1::HandlerLatency& latency = *now.status.mutable_query_latency();
  latency.set_count(10);
  latency.set_p50_ns(1500);
  latency.set_p99_ns(20'000);
  latency.set_p999_ns(300'000);
  latency.set_max_ns(4'000'000);
  const auto lines = top_frame({}, now, kWide);
  const std::string line = line_with(lines, "at query");
  for (const char* part : {"1.5 us", "20.0 us", "300.0 us", "4.0 ms"})
    EXPECT_TRUE(says(line, part));
  EXPECT_TRUE(says(line_with(lines, "at observe"), "       -"));
}

TEST(TopFrame, ShowsAllModelsThoseThatAreNotOkFirst) {
  TopLook now = look(100, 5);
  for (const char* name : {"price", "clicks", "a-model-with-a-name"}) {
    v1::ModelState& model = now.models.emplace_back();
    model.set_name(name);
    model.set_answered_by(name);
    model.mutable_provenance()->set_state(v1::POSTERIOR_STATE_OK);
  }
  now.models[1].mutable_provenance()->set_state(v1::POSTERIOR_STATE_DRIFTING);
  now.models[1].mutable_provenance()->set_reason(v1::POSTERIOR_REASON_DRIFT);
  now.models[1].set_paused(true);
  now.models[2].set_answered_by("price");
  const auto lines = top_frame({}, now, kWide);
  ASSERT_GE(lines.size(), 4U);
  const auto last = lines.end() - 4;
  EXPECT_TRUE(last[0].starts_with("MODEL               STATUS"));
  EXPECT_TRUE(last[1].starts_with("clicks              drifting    drift "));
  EXPECT_TRUE(last[1].ends_with("  paused"));
  EXPECT_TRUE(last[2].starts_with("price               ok "));
  EXPECT_TRUE(last[3].ends_with("  answered by price"));
}

TEST(TopFrame, ShowsModelsWhoseSendersWaitAmongThoseThatAreNotOk) {
  TopLook now = look(100, 5);
  for (const char* name : {"price", "clicks"}) {
    v1::ModelState& model = now.models.emplace_back();
    model.set_name(name);
    model.set_answered_by(name);
    model.mutable_provenance()->set_state(v1::POSTERIOR_STATE_OK);
  }
  now.models[1].set_log_status(v1::REASON_LOG_FULL);
  const auto lines = top_frame({}, now, kWide);
  ASSERT_GE(lines.size(), 3U);
  const auto last = lines.end() - 2;
  EXPECT_TRUE(last[0].starts_with("clicks "));
  EXPECT_TRUE(last[0].ends_with("  senders wait: log_full"));
  EXPECT_TRUE(last[1].starts_with("price "));
}

TEST(TopFrame, SaysThatThereIsNoAnswer) {
  TopLook now;
  now.address = "unix:/run/w";
  now.error = "nobody listens";
  EXPECT_EQ(text_of(top_frame(look(1, 1), now, kWide)),
            "windhover top - unix:/run/w - no answer\nnobody listens\n");
}

TEST(TopFrame, FitsTheTerminalWhateverItsSize) {
  TopLook now = look(100, 5);
  now.address = "\u00e9\u20ac\u00e9\u20ac\u00e9\u20ac.example:7172";
  for (std::size_t columns = 1; columns < 130; columns += 3) {
    for (std::size_t rows = 1; rows < 30; ++rows) {
      const auto lines = top_frame({}, now, {columns, rows});
      EXPECT_LE(lines.size(), rows);
      for (const std::string& line : lines) {
        const auto characters = std::ranges::count_if(
            line, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
        EXPECT_LE(static_cast<std::size_t>(characters), columns) << line;
        EXPECT_FALSE(line.ends_with(' '));
      }
    }
  }
  // 80 x 24 holds all of it.
  EXPECT_EQ(text_of(top_frame({}, look(100, 5), {80, 24})),
            text_of(top_frame({}, look(100, 5), kWide)));
}

}  // namespace windhover::top_frame_test
