// Models that are added and removed while the process or the disk fails: what was acknowledged is
// there, and what is said is so.
#include <signal.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "windhover/tests/system/added_models.h"

namespace windhover::testing::added_models_faults_test {
namespace {

using namespace added_models;

bool is_unknown(const ChildDaemon& daemon, const std::string& name) {
  Client client;
  return !ok(client.connect(daemon.observe_address(), about(name, 1))) &&
         client.refusal() == v1::REASON_UNKNOWN_MODEL;
}

// Found by reading: rows were acknowledged to a model of which the next start knew nothing.
TEST(AddedModelsFaults, NobodyIsLetInBeforeTheModelIsListed) {
  const Fault stall("wh-models", "WINDHOVER_STALL_LIST");
  const Configuration configuration("added_stalled");
  const std::vector<std::string> arguments = configuration.arguments(true);
  ChildDaemon daemon(WINDHOVER_DAEMON, arguments, WINDHOVER_FAULT_PRELOAD);
  stall.begin();
  std::thread order([&] {
    EXPECT_NE(model(daemon, {"add", "clicks", configuration.path("clicks.toml")}).exit_code, 0);
  });
  EXPECT_TRUE(stall.reached());
  EXPECT_TRUE(is_unknown(daemon, "clicks"));
  daemon.stop(SIGKILL);
  order.join();
  stall.end();
  EXPECT_TRUE(fs::exists(configuration.path("data/clicks")));
  ChildDaemon again(WINDHOVER_DAEMON, arguments);
  EXPECT_FALSE(fs::exists(configuration.path("data/clicks"))) << "nobody knew of it";
  EXPECT_FALSE(fs::exists(configuration.path("data/.clicks.new")));
  EXPECT_TRUE(is_unknown(again, "clicks"));
  EXPECT_EQ(model(again, {"add", "clicks", configuration.path("clicks.toml")}).exit_code, 0);
  EXPECT_EQ(answered(again, "clicks").head, 0U);
}

TEST(AddedModelsFaults, AReplaceThatIsKilledBeforeItIsListedHasNotBeen) {
  const Fault stall("wh-models", "WINDHOVER_STALL_LIST");
  Replaced clicks("replace_stalled", true, WINDHOVER_FAULT_PRELOAD);
  stall.begin();
  std::thread order([&] {
    EXPECT_NE(
        model(*clicks.daemon, {"replace", "clicks", "--set", "model.features=2", "--delete-data"})
            .exit_code,
        0);
  });
  EXPECT_TRUE(stall.reached());
  EXPECT_TRUE(is_unknown(*clicks.daemon, "clicks"));
  clicks.daemon->stop(SIGKILL);
  order.join();
  stall.end();
  clicks.start();
  EXPECT_EQ(answered(*clicks.daemon, "clicks").head, clicks.before.head);
  EXPECT_FALSE(fs::exists(clicks.configuration.path("data/.clicks.before")));
}

TEST(AddedModelsFaults, AListOfWhichNobodyKnowsWhetherItIsOnTheDiskIsNotReliedOn) {
  const Fault no_sync("wh-models", "WINDHOVER_NO_SYNC_WHILE");
  Replaced clicks("added_unsynced", true, WINDHOVER_FAULT_PRELOAD);
  no_sync.begin();
  const ProgramRun added = model(*clicks.daemon, {"add", "other", "--set", "model.features=2"});
  EXPECT_EQ(added.exit_code, 2);
  EXPECT_NE(added.error.find("added.toml: Input/output error"), std::string::npos) << added.error;
  EXPECT_TRUE(is_unknown(*clicks.daemon, "other"));
  EXPECT_FALSE(fs::exists(clicks.configuration.path("data/other")));
  // Nobody is let in to either of the two: whichever comes back has all that was acknowledged.
  const ProgramRun replaced =
      model(*clicks.daemon, {"replace", "clicks", "--set", "model.features=2", "--delete-data"});
  EXPECT_EQ(replaced.exit_code, 2);
  EXPECT_NE(replaced.error.find("is not served until a restart"), std::string::npos)
      << replaced.error;
  EXPECT_TRUE(is_unknown(*clicks.daemon, "clicks"));
  clicks.daemon->stop(SIGKILL);
  no_sync.end();
  clicks.start();
  EXPECT_EQ(answered(*clicks.daemon, "clicks").head, clicks.before.head);
  EXPECT_TRUE(is_unknown(*clicks.daemon, "other"));
}

TEST(AddedModelsFaults, ARemovalThatCannotBeWrittenDownIsRefused) {
  Replaced clicks("removal_refused", true);
  const std::string list = clicks.configuration.path("data/clicks/added.toml");
  fs::rename(list, list + ".moved");
  fs::create_directories(list + "/in-the-way");
  const ProgramRun run = model(*clicks.daemon, {"remove", "clicks"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.error.find("added.toml: Is a directory"), std::string::npos) << run.error;
  EXPECT_EQ(answered(*clicks.daemon, "clicks"), clicks.before);
  EXPECT_TRUE(comes_true([&] {
    return content_of(clicks.configuration.path("log")).find("model_refused model=clicks") !=
           std::string::npos;
  }));
  // It does not come back as something else.
  clicks.daemon->stop(SIGKILL);
  clicks.start();
  EXPECT_TRUE(is_unknown(*clicks.daemon, "clicks"));
  fs::remove_all(list);
  fs::rename(list + ".moved", list);
  clicks.daemon->stop(SIGKILL);
  clicks.start();
  EXPECT_EQ(answered(*clicks.daemon, "clicks").head, clicks.before.head);
}

// Found by reading: it was called refused, though the model was gone.
TEST(AddedModelsFaults, DataThatIsDeletedInPartIsSaidAndDeletedByTheNextStart) {
  const Fault stays("wh-models", "WINDHOVER_STAYS_WHILE");
  Replaced clicks("deleted_in_part", true, WINDHOVER_FAULT_PRELOAD);
  stays.begin();
  const ProgramRun run = model(*clicks.daemon, {"remove", "clicks", "--delete-data"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.error.find("the model is removed, but not all"), std::string::npos) << run.error;
  EXPECT_NE(run.error.find(".clicks.gone/segment-0001: Operation not permitted"), std::string::npos)
      << run.error;
  EXPECT_TRUE(is_unknown(*clicks.daemon, "clicks"));
  const std::string log = content_of(clicks.configuration.path("log"));
  EXPECT_NE(log.find("model_removed model=clicks free_bytes=40000000 but=\"the model is removed"),
            std::string::npos)
      << log;
  EXPECT_EQ(log.find("model_refused"), std::string::npos) << log;
  EXPECT_EQ(model(*clicks.daemon, {"add", "clicks", "--set", "model.features=2"}).exit_code, 0);
  const ProgramRun replaced =
      model(*clicks.daemon, {"replace", "clicks", "--set", "model.features=3", "--delete-data"});
  EXPECT_EQ(replaced.exit_code, 2);
  EXPECT_NE(replaced.error.find("the model is served, but not all"), std::string::npos)
      << replaced.error;
  EXPECT_EQ(answered(*clicks.daemon, "clicks").head, 0U);
  // What is left of the one before is in the way of what would be left of this one.
  const ProgramRun again = model(*clicks.daemon, {"remove", "clicks", "--delete-data"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.error.find("segment-0001: Operation not permitted"), std::string::npos)
      << again.error;
  EXPECT_EQ(answered(*clicks.daemon, "clicks").head, 0U) << "it serves on";
  stays.end();
  clicks.daemon->stop(SIGKILL);
  clicks.start();
  EXPECT_EQ(answered(*clicks.daemon, "clicks").head, 0U);
  EXPECT_FALSE(fs::exists(clicks.configuration.path("data/.clicks.gone")));
  EXPECT_FALSE(fs::exists(clicks.configuration.path("data/.clicks.before")));
}

TEST(AddedModelsFaults, ANameThatTheConfigurationHasTooIsRefusedAtTheStart) {
  Replaced clicks("added_clash", true);
  clicks.daemon->stop(SIGKILL);
  std::ofstream(clicks.configuration.path("all.toml"), std::ios::app)
      << "clicks = \"clicks.toml\"\n";
  const auto start = [&] {
    return run_program(WINDHOVER_DAEMON, clicks.configuration.arguments(true));
  };
  const std::string folder = clicks.configuration.path("data/clicks");
  const std::string aside = clicks.configuration.path("data/.clicks.before");
  ProgramRun run = start();
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.error.find("the configuration has a model clicks"), std::string::npos) << run.error;
  EXPECT_NE(run.error.find(folder + "/added.toml"), std::string::npos) << run.error;
  // A replacement that did not end: the folder that it made would be taken for the model's.
  fs::rename(folder, aside);
  run = start();
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.error.find(aside), std::string::npos) << run.error;
  EXPECT_FALSE(fs::exists(folder)) << "nothing has been touched";
  fs::rename(aside, folder);
  fs::remove(folder + "/added.toml");
  clicks.start();
  EXPECT_EQ(answered(*clicks.daemon, "clicks").head, clicks.before.head) << "it goes on";
}

TEST(AddedModelsFaults, WithoutMemoryForThemWhatIsListedIsToldAndStays) {
  Replaced clicks("added_no_memory", true);
  clicks.daemon->stop(SIGKILL);
  std::vector<std::string> arguments = clicks.configuration.arguments(true);
  arguments.insert(arguments.end(), {"--server.added.memory", "0"});
  {
    ChildDaemon without(WINDHOVER_DAEMON, arguments);
    EXPECT_TRUE(is_unknown(without, "clicks"));
    EXPECT_EQ(without.stop().exit_code, 0);
  }
  EXPECT_NE(content_of(clicks.configuration.path("log")).find("server.added.memory"),
            std::string::npos);
  clicks.start();
  EXPECT_EQ(answered(*clicks.daemon, "clicks").head, clicks.before.head);
}

}  // namespace
}  // namespace windhover::testing::added_models_faults_test
