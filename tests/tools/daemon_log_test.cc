#include "windhover/tools/daemon/daemon_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "windhover/tests/tools/support.h"
#include "windhover/tools/heap/heap_counter.h"

namespace windhover::daemon_log_test {

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(DaemonLog, WritesLinesInTheirOrder) {
  const std::string path = path_of("order.log");
  {
    DaemonLog log({LogFormat::kText, LogLevel::kInfo, path});
    for (int i = 0; i < 200; ++i) log.write(log.line(LogLevel::kInfo, "turn").add("number", i));
  }
  const std::vector<std::string> lines = lines_of(path);
  ASSERT_EQ(lines.size(), 200U);
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE(lines[i].ends_with("Z info turn number=" + std::to_string(i))) << lines[i];
  }
}

TEST(DaemonLog, LeavesOutWhatIsBelowItsLevel) {
  const std::string path = path_of("level.log");
  {
    DaemonLog log({LogFormat::kText, LogLevel::kWarning, path});
    for (const LogLevel level :
         {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError}) {
      log.write(log.line(level, "event"));
    }
  }
  const std::vector<std::string> lines = lines_of(path);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(says(lines[0], " warning event"));
  EXPECT_TRUE(says(lines[1], " error event"));
}

TEST(DaemonLog, AppendsAndOpensAnewUnderItsName) {
  const std::string path = path_of("rotated.log");
  const std::string old = path_of("rotated.log.1");
  std::ofstream(path) << "before\n";
  DaemonLog log({LogFormat::kText, LogLevel::kInfo, path});
  log.write(log.line(LogLevel::kInfo, "first"));
  log.drain();
  std::filesystem::rename(path, old);
  log.write(log.line(LogLevel::kInfo, "second"));
  log.drain();
  EXPECT_EQ(log.reopen(), 0);
  log.write(log.line(LogLevel::kInfo, "third"));
  log.drain();
  ASSERT_EQ(lines_of(old).size(), 3U);
  EXPECT_EQ(lines_of(old)[0], "before");
  ASSERT_EQ(lines_of(path).size(), 1U);
  EXPECT_TRUE(says(lines_of(path)[0], "third"));
}

TEST(DaemonLog, GoesOnWithTheOldFileWhereTheNewOneCannotBeOpened) {
  const std::string folder = path_of("folder");
  const std::string moved = path_of("moved");
  std::filesystem::create_directory(folder);
  DaemonLog log({LogFormat::kText, LogLevel::kInfo, folder + "/log"});
  std::filesystem::rename(folder, moved);
  EXPECT_EQ(log.reopen(), ENOENT);
  log.write(log.line(LogLevel::kInfo, "still"));
  log.drain();
  EXPECT_EQ(lines_of(moved + "/log").size(), 1U);
  std::filesystem::remove_all(moved);
}

TEST(DaemonLog, NamesAFileThatCannotBeOpened) {
  try {
    DaemonLog log({LogFormat::kText, LogLevel::kInfo, "/no/such/folder/log"});
    FAIL() << "it was opened";
  } catch (const RunError& error) {
    EXPECT_STREQ(
        error.what(),
        "process.log_file /no/such/folder/log cannot be opened: No such file or directory");
  }
}

// Nobody reads the pipe: its writer finds no room, the queue runs over, and no one waits for it.
TEST(DaemonLog, DropsWhatNobodyTakesAndCountsIt) {
  const std::string path = path_of("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  constexpr std::uint64_t kLines = 4000;
  std::uint64_t dropped = 0;
  {
    DaemonLog log({LogFormat::kText, LogLevel::kInfo, path});
    const std::string value(150, 'x');
    for (std::uint64_t i = 0; i < kLines; ++i) {
      log.write(log.line(LogLevel::kInfo, "event").add("a", value));
    }
    while (log.dropped() == 0) usleep(1000);
    log.drain();
    dropped = log.dropped();
  }
  EXPECT_GT(dropped, 0U);
  std::string got;
  std::array<char, 65536> bytes;
  for (ssize_t n = 0; (n = ::read(reader, bytes.data(), bytes.size())) > 0;) {
    got.append(bytes.data(), static_cast<std::size_t>(n));
  }
  ::close(reader);
  ::unlink(path.c_str());
  const auto lines = static_cast<std::uint64_t>(std::count(got.begin(), got.end(), '\n'));
  EXPECT_EQ(lines + dropped, kLines);
  EXPECT_TRUE(got.ends_with('\n'));
}

// The longest line that there can be makes none either.
TEST(DaemonLog, MakesNoHeapCallOnceItIsThere) {
  const std::string path = path_of("heap.log");
  DaemonLog log({LogFormat::kJson, LogLevel::kInfo, path});
  const std::string value(400, 'x');
  const auto before = heap_calls();
  for (int i = 0; i < 1000; ++i) {
    log.write(log.line(LogLevel::kInfo, "event").add("number", 1.5).add("a", value));
    log.write(log.line(LogLevel::kWarning, "short").add("number", i));
    if (i % 50 == 0) log.drain();
    if (i % 250 == 0) {
      ASSERT_EQ(log.reopen(), 0);
    }
  }
  log.drain();
  const auto after = heap_calls();
  if (before) {
    EXPECT_EQ(*after - *before, 0U);
  }
  EXPECT_EQ(log.dropped(), 0U);
  EXPECT_EQ(lines_of(path).size(), 2000U);
}

}  // namespace windhover::daemon_log_test
