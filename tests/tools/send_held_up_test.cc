// Rows for a server that answers and takes none: it is waited for, and it is said why.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "windhover/tests/io/durable/server_on_disk.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/client/send.h"

namespace windhover::testing::send_held_up_test {
namespace {

constexpr int kSent = 20'000;

std::string schema_of_three() {
  std::string text = "target = \"y\"\n";
  for (const char* field : {"a", "b", "c"}) {
    text += std::string("[[feature]]\nfield = \"") + field +
            "\"\nkind = \"number\"\nshift = 0\nscale = 1\n";
  }
  return file_with("held-up.toml", text);
}

std::string rows_of_three() {
  std::string text = "a,b,c,y\n";
  for (int i = 0; i < kSent; ++i) {
    text += std::to_string(i % 7) + "," + std::to_string(i % 5) + "," + std::to_string(i % 3) +
            "," + std::to_string(i % 11) + "\n";
  }
  return file_with("held-up.csv", text);
}

ServerConfig server_that_fills(const std::string& folder) {
  ServerConfig config = server_on_disk(folder);
  config.frame_cap = 8 << 10;
  config.durable.log_options = {
      .bytes = 5 * (64 << 10), .segment_bytes = 64 << 10, .commit_bytes = 32 << 10};
  return config;
}

TEST(SendHeldUp, ByAFullLogWaitsSaysWhyAndAccountsForEveryRow) {
  const std::string folder = temporary_path("held-up");
  ServerLife life(server_that_fills(folder));
  ASSERT_TRUE(life.opens()) << life.error();
  const std::string obstacle = folder + "/checkpoint.new";
  std::filesystem::create_directory(obstacle);

  std::mutex mutex;
  std::vector<std::string> notes;
  std::atomic<bool> held_up{false};
  SendOptions options;
  options.path = rows_of_three();
  options.schema = schema_of_three();
  options.address = life.observe();
  options.connection.reply_timeout = std::chrono::milliseconds(500);
  options.on_note = [&](const std::string& note) {
    const std::lock_guard lock(mutex);
    notes.push_back(note);
    if (note.find("checkpoints fail: io_error: Is a directory") != std::string::npos) {
      held_up = true;
    }
  };
  SendReport report;
  std::string failure;
  std::thread sender([&] {
    try {
      report = send_file(options);
    } catch (const std::exception& error) {
      failure = error.what();
      held_up = true;
    }
  });
  EXPECT_TRUE(eventually([&] { return held_up.load(); }));
  std::filesystem::remove(obstacle);
  sender.join();
  EXPECT_EQ(failure, "");
  EXPECT_TRUE(report.adds_up()) << report.closing_line();
  EXPECT_EQ(report.totals.accepted + report.totals.duplicate, static_cast<std::uint64_t>(kSent))
      << report.closing_line();
  // Before it there may be one of a server whose disk was slow.
  EXPECT_TRUE(std::ranges::any_of(notes, [](const std::string& note) {
    return note.starts_with("senders wait: the log is full");
  }));
  EXPECT_EQ(life.engine().head(), static_cast<std::uint64_t>(kSent));
}

// An operator starts a server again, and what is wrong is mended the second time alone.
TEST(SendHeldUp, ByOneServerAfterAnotherIsNotGivenUp) {
  const std::string folder = temporary_path("held-up-again");
  const std::string obstacle = folder + "/checkpoint.new";
  ServerConfig config = server_that_fills(folder);
  const auto keep_from_checkpoints = [&] { std::filesystem::create_directory(obstacle); };
  auto life = std::make_unique<ServerLife>(config, engine_on_disk(), keep_from_checkpoints);
  ASSERT_TRUE(life->opens()) << life->error();
  config.observe.tcp_port = life->server().observe().port;
  const auto start_again = [&](const std::function<void()>& opened) {
    life.reset();
    std::filesystem::remove(obstacle);
    life = std::make_unique<ServerLife>(config, engine_on_disk(), opened);
    return life->opens();
  };

  std::atomic<int> held_up{0};
  std::atomic<bool> ended{false};
  SendOptions options;
  options.path = rows_of_three();
  options.schema = schema_of_three();
  options.address = life->observe();
  options.retry_for = 3;
  options.connection.reply_timeout = std::chrono::milliseconds(500);
  options.on_note = [&](const std::string& note) {
    if (note.find("checkpoints fail: io_error: Is a directory") != std::string::npos) ++held_up;
  };
  SendReport report;
  std::string failure;
  std::thread sender([&] {
    try {
      report = send_file(options);
    } catch (const std::exception& error) {
      failure = error.what();
    }
    ended = true;
  });
  EXPECT_TRUE(eventually([&] { return held_up >= 1 || ended; }));
  EXPECT_TRUE(start_again(keep_from_checkpoints)) << life->error();
  EXPECT_TRUE(eventually([&] { return held_up >= 2 || ended; }));
  // Longer than a connection that breaks again and again is tried.
  std::this_thread::sleep_for(std::chrono::duration<double>(options.retry_for));
  EXPECT_TRUE(start_again([] {})) << life->error();
  sender.join();
  EXPECT_EQ(failure, "");
  EXPECT_TRUE(report.adds_up()) << report.closing_line();
  EXPECT_EQ(life->engine().head(), static_cast<std::uint64_t>(kSent));
}

}  // namespace
}  // namespace windhover::testing::send_held_up_test
