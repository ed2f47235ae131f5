// A daemon of several models, as an operator meets it: one file that names them, commands that
// choose among them, a life that ends and one that goes on.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/tests/system/heap_calls.h"
#include "windhover/tests/system/live_daemon.h"
#include "windhover/tests/system/run_program.h"
#include "windhover/tests/system/several_models.h"
#include "windhover/tools/daemon/child_daemon.h"

namespace windhover::testing::models_test {
namespace {

namespace fs = std::filesystem;

// "price" with 2 columns, "clicks" with 1.
class Configuration : public ConfigurationFolder {
 public:
  explicit Configuration(const std::string& name) : ConfigurationFolder(name) {
    std::ofstream(path("all.toml")) << "[engine]\nwindow_size = 2000\n"
                                       "[server]\nobserve.tcp_port = 0\nquery.tcp_port = 0\n"
                                       "[process]\nlog_file = \""
                                    << log() << "\"\n[models]\nprice = \"price.toml\"\n"
                                    << "clicks = \"clicks.toml\"\n";
    std::ofstream(path("price.toml")) << "[model]\nfeatures = 2\n";
    std::ofstream(path("clicks.toml")) << "[model]\nfeatures = 1\nname = \"logistic\"\n";
    std::ofstream(path("clicks.csv")) << [] {
      std::string text = "x,y\n";
      for (int i = 0; i < 300; ++i)
        text += std::to_string(i % 7) + "," + (i % 3 == 0 ? "1\n" : "0\n");
      return text;
    }();
    std::ofstream(path("clicks_schema.toml"))
        << "target = \"y\"\n[[feature]]\nfield = \"x\"\nkind = \"number\"\nshift = 0\nscale = 1\n";
  }
  std::string log() const { return path("log"); }
};

ProgramRun windhover(std::vector<std::string> arguments) {
  return run_program(WINDHOVER_PROGRAM, std::move(arguments));
}

TEST(DaemonModels, CommandsChooseOneByName) {
  const Configuration configuration("models_by_name");
  ChildDaemon daemon(WINDHOVER_DAEMON, configuration.arguments(), WINDHOVER_HEAP_COUNTER_PRELOAD);
  EXPECT_NE(daemon.ready_line().find(" models=2"), std::string::npos) << daemon.ready_line();
  const ProgramRun sent = windhover({"send", configuration.path("clicks.csv"), "--to",
                                     daemon.observe_address(), "--model", "clicks", "--schema",
                                     configuration.path("clicks_schema.toml"), "--json"});
  ASSERT_EQ(sent.exit_code, 0) << sent.error;
  const ProgramRun status =
      windhover({"status", "--to", daemon.query_address(), "--model", "clicks", "--json"});
  EXPECT_EQ(nlohmann::json::parse(status.out).at("head"), 300) << status.error;
  const ProgramRun first = windhover({"status", "--to", daemon.query_address(), "--json"});
  EXPECT_EQ(nlohmann::json::parse(first.out).at("head"), 0) << "without a name it is the first";
  EXPECT_EQ(windhover({"predict", "--to", daemon.query_address(), "--model", "clicks", "--x", "2"})
                .exit_code,
            0);
  EXPECT_EQ(windhover({"predict", "--to", daemon.query_address(), "--model", "price", "--x", "2,1"})
                .exit_code,
            0);
  const ProgramRun unknown =
      windhover({"posterior", "--to", daemon.query_address(), "--model", "prices"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.error.find("model"), std::string::npos) << unknown.error;
  const ChildDaemon::Stopped stopped = daemon.stop();
  EXPECT_EQ(stopped.observations, 300U);
  testing::expect_no_heap_call(stopped);
  const std::string log = content_of(configuration.log());
  EXPECT_NE(log.find("configuration model=price likelihood=linear"), std::string::npos) << log;
  EXPECT_NE(log.find("configuration model=clicks likelihood=logistic"), std::string::npos) << log;
}

TEST(DaemonModels, EachComesBackAfterAKillWithItsOwnRows) {
  const Configuration configuration("models_killed");
  const auto arguments = configuration.arguments(true);
  {
    ChildDaemon daemon(WINDHOVER_DAEMON, arguments);
    Client price;
    Client clicks;
    ASSERT_EQ(price.connect(daemon.observe_address(), about("price", 7)), Status::kOk)
        << price.error_text();
    ASSERT_EQ(clicks.connect(daemon.observe_address(), about("clicks", 7)), Status::kOk);
    send(price, 2, 500);
    send(clicks, 1, 300);
    daemon.stop(SIGKILL);
  }
  EXPECT_TRUE(fs::exists(configuration.path("data/price")));
  EXPECT_TRUE(fs::exists(configuration.path("data/clicks")));
  ChildDaemon daemon(WINDHOVER_DAEMON, arguments);
  EXPECT_EQ(daemon.recovered(), 800U) << daemon.ready_line();
  Client clicks;
  ASSERT_EQ(clicks.connect(daemon.observe_address(), about("clicks")), Status::kOk);
  v1::ProducerStatusResult where;
  ASSERT_EQ(clicks.producer_status(7, where), Status::kOk);
  EXPECT_EQ(where.next(), 300U);
  EXPECT_EQ(clicks.welcome().head(), 300U);
  const ProgramRun taken =
      windhover({"checkpoint", "take", "--to", daemon.query_address(), "--model", "price"});
  EXPECT_EQ(taken.exit_code, 0) << taken.error;
  EXPECT_EQ(daemon.stop().exit_code, 0);
}

TEST(DaemonModels, AChallengerAnswersOverARestart) {
  const Configuration configuration("models_challenged");
  std::ofstream(configuration.path("all.toml"), std::ios::app)
      << "short = {file = \"short.toml\", follows = \"price\"}\n";
  std::ofstream(configuration.path("short.toml"))
      << "[model]\nfeatures = 2\n[engine]\nwindow_size = 100\n";
  const auto arguments = configuration.arguments(true);
  const auto effective_rows = [](const ChildDaemon& daemon) {
    Client client;
    std::vector<ParameterSummary> parameters;
    Provenance provenance;
    EXPECT_EQ(client.connect(daemon.query_address(), about("price")), Status::kOk);
    EXPECT_EQ(client.posterior(parameters, provenance), Status::kOk);
    return provenance.n_eff;
  };
  {
    ChildDaemon daemon(WINDHOVER_DAEMON, arguments);
    Client price;
    ASSERT_EQ(price.connect(daemon.observe_address(), about("price", 7)), Status::kOk);
    send(price, 2, 500);
    const ProgramRun refused = windhover(
        {"model", "answer", "--to", daemon.query_address(), "--model", "price", "--by", "clicks"});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.error.find("does not follow price"), std::string::npos) << refused.error;
    const ProgramRun changed = windhover({"model", "answer", "--to", daemon.query_address(),
                                          "--model", "price", "--by", "short", "--json"});
    ASSERT_EQ(changed.exit_code, 0) << changed.error;
    EXPECT_EQ(nlohmann::json::parse(changed.out).at("answered_by"), "short");
    EXPECT_TRUE(comes_true([&] {
      return content_of(configuration.log()).find("answered_by model=price by=short") !=
             std::string::npos;
    }));
    daemon.stop(SIGKILL);
  }
  ChildDaemon daemon(WINDHOVER_DAEMON, arguments);
  EXPECT_TRUE(comes_true([&] { return effective_rows(daemon) == 100; }))
      << "learned again from the rows of its champion";
  const ProgramRun list = windhover({"model", "list", "--to", daemon.query_address()});
  EXPECT_NE(list.out.find("answered by short"), std::string::npos) << list.out;
  EXPECT_NE(list.out.find("follows price"), std::string::npos) << list.out;
  EXPECT_EQ(daemon.stop().observations, 500U) << "no row is counted twice";
}

TEST(DaemonModels, PlanSaysWhatEachTakes) {
  const Configuration configuration("models_planned");
  const ProgramRun plan = windhover({"plan", configuration.path("all.toml")});
  EXPECT_EQ(plan.exit_code, 0) << plan.error;
  EXPECT_NE(plan.out.find("\nclicks "), std::string::npos) << plan.out;
  const auto json =
      nlohmann::json::parse(windhover({"plan", configuration.path("all.toml"), "--json"}).out);
  ASSERT_EQ(json.at("models").size(), 2U);
  EXPECT_EQ(json["models"][1]["name"], "clicks");
  const ChildDaemon daemon(WINDHOVER_DAEMON, configuration.arguments());
  EXPECT_EQ(json["block_bytes"], daemon.block_bytes());
}

}  // namespace
}  // namespace windhover::testing::models_test
