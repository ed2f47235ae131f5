// Models that operators add to a daemon at work: by command, under load, over a restart.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/tests/system/live_daemon.h"
#include "windhover/tests/system/run_program.h"
#include "windhover/tests/temporary_folder.h"
#include "windhover/tools/daemon/child_daemon.h"

namespace windhover::testing::added_models_test {
namespace {

namespace fs = std::filesystem;

// "price" with 2 columns, and memory for models that come.
class Configuration {
 public:
  explicit Configuration(const std::string& name) : folder_(temporary_path(name)) {
    fs::create_directories(folder_);
    std::ofstream(path("all.toml"))
        << "[engine]\nwindow_size = 2000\nwindow_slack = 4096\nmax_frame_rows = 1024\n"
           "[server]\nobserve.tcp_port = 0\nquery.tcp_port = 0\nmax_producers = 64\n"
           "added.memory = 40000000\nadded.max_models = 4\nadded.max_parameters = 20\n"
           "[process]\nlog_file = \""
        << path("log") << "\"\n[models]\nprice = \"price.toml\"\n";
    std::ofstream(path("price.toml")) << "[model]\nfeatures = 2\n";
    std::ofstream(path("clicks.toml")) << "[model]\nfeatures = 1\nname = \"logistic\"\n";
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::vector<std::string> arguments(bool keeps = false) const {
    std::vector<std::string> all = {path("all.toml"), "--process.log_level", "info"};
    if (keeps) {
      all.insert(all.end(), {"--data.folder", path("data"), "--data.log_bytes", "16777216",
                             "--data.segment_bytes", "2097152", "--data.commit_bytes", "524288"});
    }
    return all;
  }

 private:
  fs::path folder_;
};

ClientOptions about(const std::string& model, std::uint64_t producer = 0) {
  ClientOptions options;
  options.model = model;
  options.producer = producer;
  return options;
}

void send(Client& client, std::size_t columns, std::size_t rows) {
  std::vector<double> x(rows * columns);
  std::vector<double> y(rows);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 7) - 3;
  for (std::size_t i = 0; i < rows; ++i) y[i] = static_cast<double>(i % 2);
  ASSERT_EQ(client.send_observe({x, y, {}, {}}), Status::kOk) << client.error_text();
  ASSERT_EQ(client.wait_acknowledged(), Status::kOk) << client.error_text();
}

ProgramRun model(const ChildDaemon& daemon, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "model");
  arguments.insert(arguments.end(), {"--to", daemon.query_address()});
  return run_program(WINDHOVER_PROGRAM, std::move(arguments));
}

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

// As much as the model was and has: its rows and the mean that it predicts for x = 1.
struct Answered {
  std::uint64_t head = 0;
  double mean = 0;
  bool operator==(const Answered&) const = default;
};
Answered answered(const ChildDaemon& daemon, const std::string& name) {
  Client client;
  EXPECT_EQ(client.connect(daemon.query_address(), about(name)), Status::kOk)
      << client.error_text();
  const std::vector<double> x(client.welcome().features(), 1);
  PredictRequest request;
  request.rows = 1;
  request.features = x;
  std::vector<PredictiveSummary> summaries;
  Provenance provenance;
  const std::uint64_t head = client.welcome().head();
  EXPECT_TRUE(comes_true([&] {
    return ok(client.predict(request, summaries, provenance)) && provenance.sequence == head;
  }));
  return {head, summaries.empty() ? 0 : summaries[0].mean};
}

// A model "clicks" with 300 rows, in a daemon that keeps a folder, or none.
class Replaced {
 public:
  Replaced(const std::string& name, bool keeps, const std::string& preload = "",
           const std::vector<std::string>& more = {})
      : configuration(name), arguments_(configuration.arguments(keeps)), preload_(preload) {
    arguments_.insert(arguments_.end(), more.begin(), more.end());
    start();
    EXPECT_EQ(model(*daemon, {"add", "clicks", configuration.path("clicks.toml")}).exit_code, 0);
    Client client;
    EXPECT_EQ(client.connect(daemon->observe_address(), about("clicks", 7)), Status::kOk);
    send(client, 1, 300);
    before = answered(*daemon, "clicks");
    EXPECT_EQ(before.head, 300U);
  }
  void start() {
    daemon.reset();
    daemon = std::make_unique<ChildDaemon>(WINDHOVER_DAEMON, arguments_, preload_);
  }
  // Refused for this, and the model serves as before; also when the process has been killed.
  void refuses(std::vector<std::string> order, const std::string& why) {
    order.insert(order.begin(), {"replace", "clicks"});
    const ProgramRun run = model(*daemon, order);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_NE(run.error.find(why), std::string::npos) << run.error;
    EXPECT_EQ(answered(*daemon, "clicks"), before) << why;
  }

  Configuration configuration;
  std::unique_ptr<ChildDaemon> daemon;
  Answered before;

 private:
  std::vector<std::string> arguments_;
  const std::string preload_;
};

TEST(AddedModels, ARefusedReplaceLosesNothing) {
  Replaced clicks("added_refused", true);
  for (const char* more : {"--json", "--delete-data"}) {
    clicks.refuses({"--set", "model.features=30", more}, "server.added.max_parameters");
    clicks.refuses({"--set", "model.name=no-model", more}, "no-model");
    clicks.refuses({"--set", "model.features=1", "--set", "engine.window_size=9000000", more},
                   "of server.added.memory are free");
    clicks.refuses({"--set", "model.features=1", "--set", "engine.max_query_rows=4000", more},
                   "max_query_rows");
  }
  clicks.refuses({"--set", "model.features=2"}, "serves again");  // the folder is another's
  clicks.daemon->stop(SIGKILL);
  clicks.start();
  EXPECT_EQ(answered(*clicks.daemon, "clicks").head, clicks.before.head);
}

TEST(AddedModels, ARefusedReplaceLosesNothingOfWhatIsInMemoryAlone) {
  Replaced clicks("added_refused_in_memory", false);
  clicks.refuses({"--set", "model.features=30"}, "server.added.max_parameters");
  clicks.refuses({"--set", "model.features=1", "--set", "engine.window_size=9000000"},
                 "of server.added.memory are free");
  // There would be room for it, but not for both.
  const ProgramRun wide = model(*clicks.daemon, {"add", "wide", "--set", "model.features=19",
                                                 "--set", "engine.window_size=150000", "--json"});
  ASSERT_EQ(wide.exit_code, 0) << wide.error;
  const auto taken = nlohmann::json::parse(wide.out);
  ASSERT_GT(taken.at("needed_bytes"), taken.at("free_bytes")) << "more than half is taken";
  const Answered before = answered(*clicks.daemon, "wide");
  const ProgramRun other = model(*clicks.daemon, {"replace", "wide", "--set", "model.features=19",
                                                  "--set", "engine.window_size=140000"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.error.find("remove that one first"), std::string::npos) << other.error;
  EXPECT_EQ(answered(*clicks.daemon, "wide"), before);
}

// The disk is full for one thread of the daemons that are started meanwhile, from begin() to end().
class FullDisk {
 public:
  explicit FullDisk(const char* thread) : path_(temporary_path(std::string(thread) + ".full")) {
    ::setenv("WINDHOVER_FAULT_THREAD", thread, 1);
    ::setenv("WINDHOVER_FULL_WHILE", path_.c_str(), 1);
  }
  ~FullDisk() {
    end();
    ::unsetenv("WINDHOVER_FAULT_THREAD");
    ::unsetenv("WINDHOVER_FULL_WHILE");
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  void begin() const { std::ofstream(path_) << "now"; }
  void end() const { fs::remove(path_); }

 private:
  const std::string path_;
};

// Found by reading: the folder of the model that was to make place went first.
TEST(AddedModels, AFullDiskLeavesTheModelThatWasToBeReplaced) {
  const FullDisk full("wh-models");
  Replaced clicks("added_full", true, WINDHOVER_FAULT_PRELOAD);
  full.begin();
  clicks.refuses({"--set", "model.features=2", "--delete-data"}, "No space left on device");
  EXPECT_NE(content_of(clicks.configuration.path("log")).find("checkpoint_failed model=clicks"),
            std::string::npos)
      << "the last checkpoint is missed";
  const ProgramRun added = model(*clicks.daemon, {"add", "other", "--set", "model.features=2"});
  EXPECT_EQ(added.exit_code, 2);
  EXPECT_NE(added.error.find("No space left on device"), std::string::npos) << added.error;
  EXPECT_FALSE(fs::exists(clicks.configuration.path("data/other")));
  clicks.daemon->stop(SIGKILL);
  clicks.start();
  EXPECT_EQ(answered(*clicks.daemon, "clicks").head, clicks.before.head);
  full.end();
  ASSERT_EQ(
      model(*clicks.daemon, {"replace", "clicks", "--set", "model.features=2", "--delete-data"})
          .exit_code,
      0);
  EXPECT_EQ(answered(*clicks.daemon, "clicks").head, 0U);
  EXPECT_FALSE(fs::exists(clicks.configuration.path("data/.clicks.before")));
}

// Without a log what the model has learned since its last checkpoint is in memory alone.
TEST(AddedModels, WithoutALogAModelGoesOnlyWhenACheckpointOfItIsWritten) {
  const FullDisk full("wh-checkpoint");
  Replaced clicks("added_unlogged", true, WINDHOVER_FAULT_PRELOAD, {"--data.durability", "memory"});
  full.begin();
  clicks.refuses({"--set", "model.features=2", "--delete-data"}, "clicks serves on");
  full.end();
  clicks.refuses({"--set", "model.features=2"}, "serves again");
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
  EXPECT_EQ(stopped.heap_calls.value_or(1), 0U);
}

}  // namespace
}  // namespace windhover::testing::added_models_test
