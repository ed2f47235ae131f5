// Models that operators add to a daemon at work: by command, under load, over a restart.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "windhover/tests/system/added_models.h"
#include "windhover/tests/system/heap_calls.h"

namespace windhover::testing::added_models_test {
namespace {

using namespace added_models;

TEST(AddedModels, CommandsAddReplaceAndRemove) {
  const Configuration configuration("added_by_command");
  const ChildDaemon daemon(WINDHOVER_DAEMON, configuration.arguments());
  const ProgramRun added = model(daemon, {"add", "clicks", configuration.path("clicks.toml")});
  ASSERT_EQ(added.exit_code, 0) << added.error;
  EXPECT_NE(added.out.find("clicks is served"), std::string::npos) << added.out;
  const ProgramRun set =
      model(daemon, {"add", "wide", "--set", "model.features=12", "--set", "engine.window_size=500",
                     "--set", "model.name=linear", "--json"});
  ASSERT_EQ(set.exit_code, 0) << set.error;
  EXPECT_GT(nlohmann::json::parse(set.out).at("needed_bytes"), 100'000);
  const ProgramRun list = model(daemon, {"list"});
  EXPECT_NE(list.out.find("wide"), std::string::npos) << list.out;

  const ProgramRun twice = model(daemon, {"add", "clicks", configuration.path("clicks.toml")});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_NE(twice.error.find("the server has a model of this name"), std::string::npos)
      << twice.error;
  const ProgramRun huge = model(
      daemon, {"add", "huge", "--set", "model.features=9", "--set", "engine.window_size=1000000"});
  EXPECT_EQ(huge.exit_code, 2);
  EXPECT_NE(huge.error.find("the model needs "), std::string::npos) << huge.error;
  EXPECT_NE(huge.error.find("of server.added.memory are free"), std::string::npos) << huge.error;
  const ProgramRun many = model(daemon, {"add", "many", "--set", "model.features=30"});
  EXPECT_EQ(many.exit_code, 2);
  EXPECT_NE(many.error.find("server.added.max_parameters"), std::string::npos) << many.error;
  const ProgramRun wrong = model(daemon, {"add", "wrong", "--set", "model.feature=3"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.error.find("unknown key model.feature"), std::string::npos) << wrong.error;
  const ProgramRun fixed = model(daemon, {"remove", "price"});
  EXPECT_EQ(fixed.exit_code, 2);
  EXPECT_NE(fixed.error.find("configuration file"), std::string::npos) << fixed.error;

  const ProgramRun replaced = model(daemon, {"replace", "wide", "--set", "model.features=3"});
  ASSERT_EQ(replaced.exit_code, 0) << replaced.error;
  Client client;
  ASSERT_EQ(client.connect(daemon.query_address(), about("wide")), Status::kOk);
  EXPECT_EQ(client.welcome().features(), 3U);
  EXPECT_EQ(model(daemon, {"remove", "wide"}).exit_code, 0);
  EXPECT_NE(client.connect(daemon.query_address(), about("wide")), Status::kOk);
  EXPECT_EQ(client.refusal(), v1::REASON_UNKNOWN_MODEL);
}

// The protocol has ASCII there: what has others is refused before anything is sent.
TEST(AddedModels, OtherTextThanAsciiIsRefusedWithItsLine) {
  const Configuration configuration("added_text");
  const auto add = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"model", "add"});
    arguments.insert(arguments.end(), {"--to", "127.0.0.1:1"});  // where nobody listens
    return run_program(WINDHOVER_PROGRAM, std::move(arguments));
  };
  for (const char* text : {"caf\xe9", "caf\xc3\xa9"}) {
    std::ofstream(configuration.path("text.toml")) << "[model]\nfeatures = 1\n  # " << text << "\n";
    const ProgramRun run = add({"clicks", configuration.path("text.toml")});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_NE(run.error.find("text.toml:3:8: the byte 0x"), std::string::npos) << run.error;
    const ProgramRun set = add({"clicks", "--set", std::string("model.schema=") + text});
    EXPECT_EQ(set.exit_code, 2);
    EXPECT_NE(set.error.find("only ASCII"), std::string::npos) << set.error;
    const ProgramRun name = add({text, configuration.path("clicks.toml")});
    EXPECT_EQ(name.exit_code, 2);
    EXPECT_NE(name.error.find("is no name of a model"), std::string::npos) << name.error;
  }
}

TEST(AddedModels, ComeBackAfterAKillUntilTheyAreRemoved) {
  const Configuration configuration("added_killed");
  const auto arguments = configuration.arguments(true);
  const fs::path kept = configuration.path("data/clicks");
  {
    ChildDaemon daemon(WINDHOVER_DAEMON, arguments);
    ASSERT_EQ(model(daemon, {"add", "clicks", configuration.path("clicks.toml")}).exit_code, 0);
    Client clicks;
    ASSERT_EQ(clicks.connect(daemon.observe_address(), about("clicks", 7)), Status::kOk);
    send(clicks, 1, 300);
    daemon.stop(SIGKILL);
  }
  {
    ChildDaemon daemon(WINDHOVER_DAEMON, arguments);
    Client clicks;
    ASSERT_EQ(clicks.connect(daemon.query_address(), about("clicks")), Status::kOk);
    EXPECT_EQ(clicks.welcome().head(), 300U);
    ASSERT_EQ(model(daemon, {"remove", "clicks"}).exit_code, 0);
    EXPECT_TRUE(fs::exists(kept)) << "what was learned stays";
    daemon.stop(SIGKILL);
  }
  {
    ChildDaemon daemon(WINDHOVER_DAEMON, arguments);
    Client clicks;
    EXPECT_NE(clicks.connect(daemon.query_address(), about("clicks")), Status::kOk);
    const ProgramRun other = model(daemon, {"add", "clicks", "--set", "model.features=2"});
    EXPECT_EQ(other.exit_code, 2) << "the folder is another configuration's";
    ASSERT_EQ(model(daemon, {"add", "clicks", configuration.path("clicks.toml")}).exit_code, 0);
    ASSERT_EQ(clicks.connect(daemon.query_address(), about("clicks")), Status::kOk);
    EXPECT_EQ(clicks.welcome().head(), 300U) << "it goes on from there";
    const ProgramRun kept_one = model(daemon, {"replace", "clicks", "--set", "model.features=2"});
    EXPECT_EQ(kept_one.exit_code, 2);
    EXPECT_NE(kept_one.error.find("serves again"), std::string::npos) << kept_one.error;
    ASSERT_EQ(clicks.connect(daemon.query_address(), about("clicks")), Status::kOk);
    EXPECT_EQ(clicks.welcome().head(), 300U);
    ASSERT_EQ(model(daemon, {"replace", "clicks", "--set", "model.features=2", "--delete-data"})
                  .exit_code,
              0);
    ASSERT_EQ(clicks.connect(daemon.query_address(), about("clicks")), Status::kOk);
    EXPECT_EQ(clicks.welcome().features(), 2U);
    EXPECT_EQ(clicks.welcome().head(), 0U);
    ASSERT_EQ(model(daemon, {"remove", "clicks", "--delete-data"}).exit_code, 0);
    EXPECT_FALSE(fs::exists(kept));
    EXPECT_EQ(daemon.stop().exit_code, 0);
  }
  const std::string log = content_of(configuration.path("log"));
  EXPECT_NE(log.find("model_added model=clicks"), std::string::npos) << log;
  EXPECT_NE(log.find("model_removed model=clicks"), std::string::npos) << log;
}

// The daemon's one model has no name, and its files lie where the folders of the others do.
TEST(AddedModels, NamesOfFilesInTheDataFolderAreRefused) {
  const Configuration configuration("added_file_names");
  std::vector<std::string> arguments = configuration.arguments(true);
  arguments[0] = configuration.path("one.toml");
  std::ofstream(configuration.path("one.toml"))
      << "[model]\nfeatures = 2\n[engine]\nwindow_size = 2000\n[server]\nobserve.tcp_port = 0\n"
         "query.tcp_port = 0\nadded.memory = 40000000\n";
  const ChildDaemon daemon(WINDHOVER_DAEMON, arguments);
  const fs::path data = configuration.path("data");
  const auto files = [&] {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(data)) {
      names.push_back(entry.path().filename());
    }
    std::ranges::sort(names);
    return names;
  };
  const std::vector<std::string> before = files();
  ASSERT_GT(before.size(), 2U);
  for (const std::string& name : before) {
    const ProgramRun run =
        model(daemon, {"add", name, "--set", "model.features=1", "--delete-data"});
    EXPECT_EQ(run.exit_code, 2) << name;
    EXPECT_NE(run.error.find("another name is expected"), std::string::npos) << run.error;
  }
  for (const char* name : {"lock", "identity", "checkpoint-000000000001", "segment-0000"}) {
    EXPECT_EQ(model(daemon, {"add", name, "--set", "model.features=1"}).exit_code, 2) << name;
  }
  EXPECT_EQ(files(), before);
  EXPECT_EQ(model(daemon, {"add", "clicks", "--set", "model.features=1"}).exit_code, 0);
}

// The one that stays has every row, its askers every answer, and the threads that serve call no
// heap.
TEST(AddedModels, ComeAndGoUnderLoadAndNobodyElseNotices) {
  const Configuration configuration("added_under_load");
  ChildDaemon daemon(WINDHOVER_DAEMON, configuration.arguments(true),
                     WINDHOVER_HEAP_COUNTER_PRELOAD);
  std::atomic<bool> done{false};
  std::uint64_t sent = 0;
  std::thread sends([&] {
    Client client;
    ASSERT_EQ(client.connect(daemon.observe_address(), about("price", 1)), Status::kOk);
    while (!done) send(client, 2, 100);
    sent = client.totals().sent;
    EXPECT_EQ(client.totals().accepted, sent);
  });
  std::thread asks([&] {
    Client client;
    ASSERT_EQ(client.connect(daemon.query_address(), about("price")), Status::kOk);
    std::vector<ParameterSummary> parameters;
    Provenance provenance;
    while (!done) {
      ASSERT_EQ(client.posterior(parameters, provenance), Status::kOk) << client.error_text();
    }
  });
  Client admin;
  ASSERT_EQ(admin.connect(daemon.query_address(), about("price")), Status::kOk);
  std::uint64_t rows = 0;
  for (int i = 0; i < 6; ++i) {
    v1::HostModel order;
    order.set_action(v1::HOST_ACTION_ADD);
    order.set_name("clicks");
    order.set_configuration("[model]\nfeatures = 1\n");
    v1::HostModelResult result;
    ASSERT_EQ(admin.host_model(order, result), Status::kOk) << admin.error_text();
    ASSERT_EQ(result.reason(), v1::REASON_OK) << result.error();
    Client client;
    ASSERT_EQ(client.connect(daemon.observe_address(), about("clicks", 2)), Status::kOk);
    EXPECT_EQ(client.welcome().head(), 0U);
    send(client, 1, 200);
    rows += client.totals().accepted;
    order.set_action(v1::HOST_ACTION_REMOVE);
    order.set_delete_data(true);
    ASSERT_EQ(admin.host_model(order, result), Status::kOk) << admin.error_text();
    ASSERT_EQ(result.reason(), v1::REASON_OK) << result.error();
    EXPECT_EQ(result.free_bytes(), 40'000'000U) << "all that it took is given back";
  }
  EXPECT_EQ(rows, 1'200U);
  done = true;
  sends.join();
  asks.join();
  const ChildDaemon::Stopped stopped = daemon.stop();
  EXPECT_EQ(stopped.exit_code, 0);
  EXPECT_EQ(stopped.observations, sent);
  testing::expect_no_heap_call(stopped);
}

}  // namespace
}  // namespace windhover::testing::added_models_test
