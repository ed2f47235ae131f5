// Rows for a server that answers and takes none: it is waited for, and it is said why.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
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

TEST(SendHeldUp, ByAFullLogWaitsSaysWhyAndAccountsForEveryRow) {
  const std::string folder = temporary_path("held-up");
  ServerConfig config = server_on_disk(folder);
  config.frame_cap = 8 << 10;
  config.durable.log_options = {
      .bytes = 5 * (64 << 10), .segment_bytes = 64 << 10, .commit_bytes = 32 << 10};
  ServerLife life(config);
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
  ASSERT_FALSE(notes.empty());
  EXPECT_TRUE(notes.front().starts_with("senders wait: the log is full")) << notes.front();
  EXPECT_EQ(life.engine().head(), static_cast<std::uint64_t>(kSent));
}

}  // namespace
}  // namespace windhover::testing::send_held_up_test
