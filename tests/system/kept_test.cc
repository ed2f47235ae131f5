// The commands about data folders, as they are typed.
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "windhover/tests/io/durable/stream_on_disk.h"
#include "windhover/tests/system/live_daemon.h"
#include "windhover/tests/system/run_program.h"
#include "windhover/tests/tools/kept_support.h"
#include "windhover/tools/kept/kept_folder.h"

namespace windhover::testing::kept_commands_test {
namespace {

ProgramRun windhover(std::vector<std::string> arguments) {
  return run_program(WINDHOVER_PROGRAM, std::move(arguments));
}

::testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << text << " has no " << part;
}

// One sentence on standard error, and the exit code.
void expect_failure(const ProgramRun& run, int exit_code, const std::string& part) {
  EXPECT_EQ(run.exit_code, exit_code) << run.error;
  EXPECT_TRUE(has(run.error, part));
  EXPECT_EQ(std::count(run.error.begin(), run.error.end(), '\n'), 1) << run.error;
}

const std::string& history() {
  static const std::string path = folder_with_history("commands");
  return path;
}

TEST(CommandCheckpoint, TakeWaitsForIt) {
  ServerLife life(server_on_disk(temporary_path("take")));
  ASSERT_TRUE(life.opens()) << life.error();
  send_rows(life, 7, 0, 1'000);
  const ProgramRun run = windhover({"checkpoint", "take", "--to", life.query()});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_TRUE(has(run.out, "checkpoint at row 1,000, in "));
  EXPECT_EQ(life.server().kept().checkpoints().head.load(), 1'000U);

  const ProgramRun status = windhover({"status", "--to", life.query()});
  EXPECT_EQ(status.exit_code, 0) << status.error;
  EXPECT_TRUE(has(status.out, "on disk: all 1,000 rows; log "));
  EXPECT_TRUE(has(status.out, " s old, at row 1,000\n"));
  const ProgramRun json = windhover({"status", "--to", life.query(), "--json"});
  EXPECT_EQ(nlohmann::json::parse(json.out)["durable"]["checkpoint_head"], 1'000);

  std::filesystem::create_directory(temporary_path("take") + "/checkpoint.new");
  expect_failure(windhover({"checkpoint", "take", "--to", life.query()}), 1, "no checkpoint: ");
}

// A supervisor does not start it again and again: that is of no use.
TEST(DaemonFolder, OfAnotherConfigurationEndsWithTwo) {
  const std::string folder = temporary_path("other_configuration");
  LiveDaemon daemon("one_feature", {"--data.folder", folder});
  ASSERT_TRUE(daemon.ready()) << daemon.error();
  EXPECT_EQ(daemon.stop(), 0);
  const auto start = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"--data.folder", folder, "--engine.window_size", "1000",
                               "--process.log_level", "warning"});
    return run_program(WINDHOVER_DAEMON, std::move(more));
  };
  expect_failure(start({"--model.features", "3"}), 2, "another model.features; there it is 1");
  expect_failure(start({"--model.features", "1", "--engine.horizon", "all"}), 2, "another horizon");
  expect_failure(start({"--model.features", "1", "--data.durability", "memory"}), 2,
                 "it holds a log, so rows were promised to be kept");
}

// Nothing is wrong with its answers, and who reads the first line alone learns that senders wait.
TEST(CommandStatus, BeginsWithWhySendersWaitAndTheyGoOnWhenItIsMended) {
  const std::string folder = temporary_path("full");
  ServerConfig config = server_on_disk(folder);
  config.frame_cap = 8 << 10;
  config.durable.log_options = {
      .bytes = 5 * (64 << 10), .segment_bytes = 64 << 10, .commit_bytes = 32 << 10};
  ServerLife life(config, exact_engine());
  ASSERT_TRUE(life.opens()) << life.error();
  const std::string obstacle = folder + "/checkpoint.new";
  std::filesystem::create_directory(obstacle);
  StreamSender sender(1, life, 0);
  ASSERT_TRUE(sender.connected());
  const auto log_is_full = [&] { return life.server().kept().log().full.load(); };
  while (!log_is_full()) {
    ASSERT_TRUE(sender.send(20));
    ASSERT_TRUE(eventually([&] {
      EXPECT_TRUE(sender.listen());
      return sender.outstanding() == 0 || log_is_full();
    }));
  }
  ASSERT_TRUE(eventually([&] { return life.server().kept().checkpoints().failures.load() > 0; }));
  const ProgramRun status = windhover({"status", "--to", life.query()});
  EXPECT_EQ(status.exit_code, 0) << status.error;
  EXPECT_TRUE(status.out.starts_with(
      "senders wait: the log is full until a checkpoint lets old rows go, and checkpoints fail: "
      "io_error: Is a directory; mend "))
      << status.out;
  const ProgramRun health = windhover({"health", "--to", life.query()});
  EXPECT_GE(health.exit_code, 1);
  EXPECT_TRUE(has(health.out, "; senders wait, log_full\n"));
  const ProgramRun watch = windhover({"status", "--to", life.query(), "--watch", "--times", "1"});
  EXPECT_TRUE(has(watch.out, ", senders wait (log_full)"));
  const ProgramRun models = windhover({"model", "list", "--to", life.query()});
  EXPECT_TRUE(has(models.out, "senders wait: log_full"));
  // Checkpoints are tried again without being asked for.
  ASSERT_TRUE(std::filesystem::remove(obstacle));
  EXPECT_EQ(sender.client().wait_acknowledged(), Status::kOk) << sender.client().error_text();
  ASSERT_TRUE(eventually([&] { return !log_is_full(); }));
  EXPECT_FALSE(windhover({"status", "--to", life.query()}).out.starts_with("senders wait"));
}

TEST(CommandCheckpoint, TakeOfAServerWithoutAFolderFails) {
  ServerLife life(small_server(), small_engine());
  expect_failure(windhover({"checkpoint", "take", "--to", life.query()}), 1, "keeps no folder");
}

TEST(CommandCheckpoint, ListShowAndVerify) {
  const ProgramRun list = windhover({"checkpoint", "list", history()});
  EXPECT_EQ(list.exit_code, 0) << list.error;
  EXPECT_TRUE(has(list.out, "1,000"));
  EXPECT_TRUE(has(list.out, "2,000"));
  const auto listed =
      nlohmann::json::parse(windhover({"checkpoint", "list", history(), "--json"}).out);
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[1]["head"], 2'000);
  const std::string older = listed[0]["number"].dump();

  const ProgramRun show = windhover({"checkpoint", "show", history()});
  EXPECT_EQ(show.exit_code, 0) << show.error;
  EXPECT_TRUE(has(show.out, "producer 7 goes on with its row 2000"));
  EXPECT_TRUE(has(show.out, "model.features"));
  const auto shown =
      nlohmann::json::parse(windhover({"checkpoint", "show", history(), older, "--json"}).out);
  EXPECT_EQ(shown["head"], 1'000);
  EXPECT_EQ(shown["producers"][0]["next"], 1'000);
  EXPECT_EQ(shown["configuration"]["model.features"], "3");
  expect_failure(windhover({"checkpoint", "show", history(), "99"}), 2, "has no checkpoint 99");

  const ProgramRun verify = windhover({"checkpoint", "verify", history()});
  EXPECT_EQ(verify.exit_code, 0) << verify.error;
  EXPECT_TRUE(has(verify.out, ": good\n"));
}

TEST(CommandCheckpoint, VerifyNamesTheBadOne) {
  const std::string folder = temporary_path("bad");
  std::filesystem::copy(history(), folder);
  const std::vector<std::uint64_t> numbers = KeptFolder(folder).checkpoints();
  flip(folder + "/" + KeptFolder::checkpoint_name(numbers[1]), 400);
  std::ofstream(folder + "/" + KeptFolder::checkpoint_name(numbers[1] + 1))
      << std::string(1'000, 'x');
  const ProgramRun verify = windhover({"checkpoint", "verify", folder});
  expect_failure(verify, 1, "2 of 3 checkpoints cannot be used");
  EXPECT_TRUE(has(verify.out, KeptFolder::checkpoint_name(numbers[0]) + ": good\n"));
  EXPECT_TRUE(has(verify.out, "the checkpoint is damaged\n"));
  EXPECT_TRUE(has(verify.out, "the file is no checkpoint\n"));
  expect_failure(windhover({"checkpoint", "show", folder}), 1, "the file is no checkpoint");
}

TEST(CommandLog, VerifyAndExport) {
  const ProgramRun verify = windhover({"log", "verify", history()});
  EXPECT_EQ(verify.exit_code, 0) << verify.error;
  EXPECT_TRUE(has(verify.out, "the log is good"));
  EXPECT_TRUE(has(verify.out, "3,000, from 0 on"));
  const ProgramRun rows = windhover({"log", "export", history(), "--from", "2999"});
  EXPECT_EQ(rows.exit_code, 0) << rows.error;
  EXPECT_TRUE(has(rows.out, "row,producer,sequence,x1,x2,x3,y\n2999,8,999,"));
  expect_failure(windhover({"log", "export", history(), "--to", "4000"}), 2,
                 "the log ends at row 3000");
}

TEST(CommandLog, DamageIsNamedWithItsPlace) {
  const std::string folder = temporary_path("torn");
  std::filesystem::copy(history(), folder);
  flip_in_log(folder, -0.25, 20);
  expect_failure(windhover({"log", "verify", folder}), 1, "segment-0000 at byte");
  expect_failure(windhover({"log", "export", folder}), 1, "segment-0000 at byte");
  flip(folder + "/identity", 40);
  expect_failure(windhover({"log", "verify", folder}), 1, "the log's identity is damaged");
}

TEST(CommandBackup, ThenRestoreToARow) {
  const std::string backup = temporary_path("copied");
  const ProgramRun made = windhover({"backup", history(), backup});
  EXPECT_EQ(made.exit_code, 0) << made.error;
  EXPECT_TRUE(has(made.out, ": 3,000 rows: checkpoint "));
  expect_failure(windhover({"backup", history(), backup}), 2, "is there already");
  const std::string restored = temporary_path("went-back");
  const ProgramRun back = windhover({"restore", backup, restored, "--to-row", "2550"});
  EXPECT_EQ(back.exit_code, 0) << back.error;
  EXPECT_TRUE(has(back.out, "producer 7 goes on with its row 2000\n"));
  EXPECT_TRUE(has(back.out, "producer 8 goes on with its row 550\n"));
  expect_failure(windhover({"restore", backup, restored}), 2, "is there already");
  expect_failure(windhover({"restore", backup, temporary_path("far"), "--to-row", "3001"}), 2,
                 "row 3,001 is beyond it");
  ServerLife life(server_on_disk(restored));
  ASSERT_TRUE(life.opens()) << life.error();
  EXPECT_TRUE(eventually([&] { return life.engine().head() == 2'550; }));
}

TEST(CommandsOfFolders, RefuseWhatIsNone) {
  const std::string other = temporary_path("empty");
  std::filesystem::create_directory(other);
  for (const std::vector<std::string>& command : {std::vector<std::string>{"checkpoint", "list"},
                                                  {"checkpoint", "verify"},
                                                  {"checkpoint", "show"},
                                                  {"log", "verify"},
                                                  {"log", "export"}}) {
    std::vector<std::string> arguments = command;
    arguments.push_back(other);
    expect_failure(windhover(arguments), 2, "is no data folder of windhoverd");
    arguments.back() = "/nonexistent/folder";
    expect_failure(windhover(arguments), 2, "No such file or directory");
  }
  expect_failure(windhover({"backup", other, temporary_path("nothing")}), 2,
                 "is no data folder of windhoverd");
}

TEST(CommandPlan, SaysWhatTheDiskHolds) {
  const std::string config = temporary_path("plan.toml");
  std::ofstream(config) << "[model]\nfeatures = 3\n[engine]\nwindow_size = 1000\n[data]\nfolder = "
                           "\"/nonexistent\"\n";
  const ProgramRun plan = windhover({"plan", config});
  EXPECT_EQ(plan.exit_code, 0) << plan.error;
  EXPECT_TRUE(has(plan.out, "checkpoints, at most"));
  const auto json = nlohmann::json::parse(windhover({"plan", config, "--json"}).out);
  EXPECT_EQ(json["disk_log_bytes"], 256 << 20);
  EXPECT_GT(json["disk_checkpoints_bytes"], 3 * 1'000 * 4 * 8);
}

}  // namespace
}  // namespace windhover::testing::kept_commands_test
