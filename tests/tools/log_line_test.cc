#include "windhover/tools/daemon/log_line.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace windhover::log_line_test {

LogLine text(std::string_view event = "event") {
  return {LogFormat::kText, LogLevel::kInfo, event};
}
LogLine json(std::string_view event = "event") {
  return {LogFormat::kJson, LogLevel::kInfo, event};
}

nlohmann::json parsed(const LogLine& line) {
  return nlohmann::json::parse(fmt::format("{{{}}}", line.view()));
}

TEST(LogLine, IsReadableAsText) {
  LogLine line = text("status_changed");
  line.add("model", "default").add("rows", 12U).add("ratio", 1.25).add("at", "[::1]:7171");
  EXPECT_EQ(line.view(), "status_changed model=default rows=12 ratio=1.25 at=[::1]:7171");
}

TEST(LogLine, QuotesTextThatWouldFallApart) {
  EXPECT_EQ(text().add("a", "two words").view(), "event a=\"two words\"");
  EXPECT_EQ(text().add("a", "").view(), "event a=\"\"");
  EXPECT_EQ(text().add("a", "x=\"y\\z\"").view(), "event a=\"x=\\\"y\\\\z\\\"\"");
  EXPECT_EQ(text().add("a", "one\ntwo").view(), "event a=\"one\\u000atwo\"");
}

TEST(LogLine, IsAJsonObjectsInside) {
  LogLine line = json("ready");
  line.add("observe", "127.0.0.1:7171").add("rows", std::uint64_t{1} << 60).add("less", -3);
  line.add("ratio", 0.5).add("none", std::numeric_limits<double>::quiet_NaN());
  const nlohmann::json out = parsed(line);
  EXPECT_EQ(out["event"], "ready");
  EXPECT_EQ(out["observe"], "127.0.0.1:7171");
  EXPECT_EQ(out["rows"].get<std::uint64_t>(), std::uint64_t{1} << 60);
  EXPECT_EQ(out["less"], -3);
  EXPECT_EQ(out["ratio"], 0.5);
  EXPECT_TRUE(out["none"].is_null());
}

TEST(LogLine, EscapesWhatJsonCannotHold) {
  std::string all;
  for (int c = 1; c < 0x80; ++c) all.push_back(static_cast<char>(c));
  // 127 characters, of which 32 take six bytes.
  for (std::size_t at = 0; at < all.size(); at += 32) {
    const std::string part = all.substr(at, 32);
    EXPECT_EQ(parsed(json().add("a", part))["a"], part);
  }
  EXPECT_EQ(parsed(json().add("a", std::string_view("\0", 1)))["a"], std::string(1, '\0'));
  EXPECT_EQ(parsed(json().add("a", "\u00e9\u20ac\U0001f426"))["a"], "\u00e9\u20ac\U0001f426");
}

// Each of the ways in which bytes are not UTF-8.
TEST(LogLine, ReplacesBytesThatAreNoUtf8) {
  const std::string none = "\xef\xbf\xbd";
  for (const auto& [bytes, count] : {std::pair<std::string, int>{"\x80", 1},
                                     {"\xc3", 1},
                                     {"\xc0\xaf", 2},
                                     {"\xe0\x80\xaf", 3},
                                     {"\xf0\x80\x80\xaf", 4},
                                     {"\xed\xa0\x80", 3},
                                     {"\xf4\x90\x80\x80", 4},
                                     {"\xf8", 1}}) {
    std::string expected = "<";
    for (int i = 0; i < count; ++i) expected += none;
    EXPECT_EQ(parsed(json().add("a", fmt::format("<{}>", bytes)))["a"], expected + ">");
  }
}

// Whatever the length: valid, within the capacity, and said where something is missing.
TEST(LogLine, IsWholeAlsoWhereItIsCut) {
  for (const char* piece : {"x", "\"", "\n", "\u20ac", "\xff"}) {
    for (std::size_t count = 0; count < 300; ++count) {
      std::string value;
      for (std::size_t i = 0; i < count; ++i) value += piece;
      LogLine line = json();
      line.add("long", value).add("rows", 123456).add("more", "text").add("number", 1.5);
      EXPECT_LE(line.view().size(), LogLine::kCapacity);
      const nlohmann::json out = parsed(line);
      const bool all = out.contains("number");
      EXPECT_EQ(out.contains("truncated"), !all) << line.view();
      if (count < 10) {
        EXPECT_TRUE(all);
      }
      LogLine plain = text();
      plain.add("long", value).add("rows", 123456).add("more", "text");
      EXPECT_LE(plain.view().size(), LogLine::kCapacity);
      const bool said = plain.view().ends_with(" truncated=true");
      EXPECT_EQ(said, !plain.view().ends_with(" more=text")) << plain.view();
    }
  }
}

TEST(LogLine, IsStampedWithTheTimeInUtc) {
  using namespace std::chrono;
  const auto time = system_clock::time_point(duration_cast<system_clock::duration>(
      sys_days(2026y / 1 / 2).time_since_epoch() + 3h + 4min + 5s + 678901us));
  std::array<char, kStampedLine> room;
  EXPECT_EQ(stamp(LogFormat::kText, time, "info", text().add("a", 1).view(), room),
            "2026-01-02T03:04:05.678901Z info event a=1\n");
  const std::string_view line =
      stamp(LogFormat::kJson, time, "warning", json().add("a", 1).view(), room);
  EXPECT_EQ(line,
            "{\"ts\":\"2026-01-02T03:04:05.678901Z\",\"level\":\"warning\",\"event\":\"event\","
            "\"a\":1}\n");
  EXPECT_TRUE(nlohmann::json::accept(line));
}

TEST(LogLine, LongestIsStampedWhole) {
  LogLine line = json();
  line.add("long", std::string(400, 'x'));
  std::array<char, kStampedLine> room;
  const std::string_view stamped =
      stamp(LogFormat::kJson, std::chrono::system_clock::now(), "warning", line.view(), room);
  EXPECT_TRUE(stamped.ends_with("\"truncated\":true}\n")) << stamped;
  EXPECT_TRUE(nlohmann::json::accept(stamped));
}

}  // namespace windhover::log_line_test
