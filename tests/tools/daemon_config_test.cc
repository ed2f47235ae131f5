#include "windhover/tools/daemon/daemon_config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "windhover/tests/tools/support.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

using namespace std::chrono_literals;

TEST(DaemonConfig, HttpIsOnWithAPortAlone) {
  DaemonConfig config;
  config.set("model.features", "3", "test");
  config.check();
  EXPECT_FALSE(config.server().http.enabled());
  EXPECT_EQ(config.engine().max_readers, kServerReaders);
  EXPECT_EQ(config.engine().max_watchers, kServerWatchers + 1) << "one is the daemon's";
  config.set("server.http.tcp_port", "9101", "test");
  config.set("server.http.idle_timeout", "1234", "test");
  config.check();
  EXPECT_EQ(config.server().http.listen.tcp_address, "127.0.0.1");
  EXPECT_EQ(config.server().http.idle_timeout, 1234ms);
  EXPECT_EQ(config.engine().max_readers, kServerReaders + kHttpReaders);
  EXPECT_EQ(config.engine().max_watchers, kServerWatchers + kHttpWatchers + 1);
  DaemonConfig again;
  again.read_toml(config.to_toml(), "again.toml");
  EXPECT_EQ(again.to_toml(), config.to_toml());
  EXPECT_EQ(again.server().http.listen.tcp_port, 9101);
  config.set("server.http.tcp_address", "0.0.0.0", "test");
  EXPECT_THROW(config.check(), UserError);
}

// What is not given is in proportion to the window; what is given stands.
TEST(DaemonConfig, RoomForRowsThatWaitIsChosenByTheWindow) {
  struct Sizes {
    std::string given;
    std::uint64_t slack;
    std::uint32_t frame;
  };
  for (const auto& [given, slack, frame] : std::vector<Sizes>{
           {"", 65'536, 32'768},
           {"window_size = 2000", 8'192, 4'096},
           {"window_size = 5000", 20'000, 10'000},
           {"window_size = 1000000", 65'536, 32'768},
           {"window_slack = 10000", 10'000, 5'000},
           {"window_slack = 200000", 200'000, 32'768},
           {"window_size = 2000\nmax_frame_rows = 32768", 65'536, 32'768},
           {"window_size = 2000\nmax_frame_rows = 100", 8'192, 100},
       }) {
    DaemonConfig config;
    config.read_toml("model.features = 3\n[engine]\n" + given, "c.toml");
    config.check();
    EXPECT_EQ(config.engine().window_slack, slack) << given;
    EXPECT_EQ(config.engine().max_frame_rows, frame) << given;
    DaemonConfig again;
    again.read_toml(config.to_toml(), "again.toml");
    EXPECT_EQ(again.engine().window_slack, slack) << given;
  }
}

TEST(DaemonConfig, ReadsEveryKindOfOption) {
  DaemonConfig config;
  config.read_toml(R"(
[model]
name = "logistic"
features = 3
intercept = false
prior_precision = 2
[sampler]
noise_estimator = "within-minibatch"
noise_structure = "diagonal"
name = "sgfs-d"
cycle_steps = 500
[engine]
standardize = "given"
feature_shift = [1, 2.5, -3]
feature_scale = [1.0, 2, 4]
[server]
idle_timeout = 1500
hello_timeout = 700
wait_timeout = 90000
[server.observe]
rows_only = true
[server.limits]
questions = 12
[server.query]
unix_path = "/tmp/w.sock"
tcp_address = ""
)",
                   "c.toml");
  config.check();
  const EngineConfig engine = config.engine();
  EXPECT_EQ(engine.model.name, "logistic");
  EXPECT_EQ(engine.model.features, 3U);
  EXPECT_FALSE(engine.model.intercept);
  EXPECT_EQ(engine.model.prior_precision, 2.0);
  EXPECT_EQ(engine.sampler.noise_estimator, NoiseEstimator::kWithinMinibatch);
  EXPECT_EQ(engine.sampler.noise_structure, NoiseStructure::kDiagonal);
  EXPECT_EQ(engine.sampler.cycle_steps, 500U);
  EXPECT_EQ(engine.feature_shift[1], 2.5);
  EXPECT_EQ(config.server().idle_timeout, 1500ms);
  EXPECT_EQ(config.server().hello_timeout, 700ms);
  EXPECT_EQ(config.server().wait_timeout, 90s);
  EXPECT_TRUE(config.server().observe_rows_only);
  EXPECT_EQ(config.server().limits.questions, 12U);
  EXPECT_EQ(config.server().limits.frames, 0U);
  EXPECT_EQ(config.server().query.unix_path, "/tmp/w.sock");
  EXPECT_EQ(config.server().query.tcp_address, "");
}

TEST(DaemonConfig, DefaultsAreThoseOfTheLibraries) {
  DaemonConfig config;
  const EngineConfig expected;
  const EngineConfig engine = config.engine();
  EXPECT_EQ(engine.model.name, expected.model.name);
  EXPECT_EQ(engine.sampler.name, expected.sampler.name);
  EXPECT_EQ(engine.window_size, expected.window_size);
  EXPECT_EQ(config.server().max_sessions, ServerConfig{}.max_sessions);
  EXPECT_EQ(config.server().observe.tcp_address, ServerConfig{}.observe.tcp_address);
}

TEST(DaemonConfig, PrintsWhatItReads) {
  DaemonConfig first;
  first.read_toml("model.features = 7\nengine.draws_per_observation = 2.5\n", "c.toml");
  first.set("server.observe.unix_path", "/tmp/a \"b\".sock", "--x");
  DaemonConfig second;
  second.read_toml(first.to_toml(), "printed.toml");
  EXPECT_EQ(second.to_toml(), first.to_toml());
  EXPECT_EQ(second.engine().model.features, 7U);
  EXPECT_EQ(second.engine().draws_per_observation, 2.5);
}

TEST(DaemonConfig, NamesOfOptionsAreDifferent) {
  const DaemonConfig config;
  std::set<std::string> names;
  for (const DaemonOption& option : config.options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_FALSE(option.help.empty()) << option.name;
  }
}

std::string refusal_of_toml(const std::string& text) {
  return refusal_of([&] {
    DaemonConfig config;
    config.read_toml(text, "c.toml");
    config.check();
  });
}

TEST(DaemonConfig, RefusesWithTheFieldItsValueAndWhatIsAllowed) {
  EXPECT_TRUE(says(refusal_of_toml("[model]\nfaetures = 3"),
                   "c.toml:2:1: unknown key model.faetures; did you mean model.features; there are "
                   "model.schema"));
  EXPECT_TRUE(says(refusal_of_toml("[modle]\nfeatures = 3"),
                   "c.toml:2:1: unknown key modle.features; did you mean model.features; the "
                   "tables are model"));
  EXPECT_TRUE(says(refusal_of_toml("window_size = 3"),
                   "unknown key window_size; did you mean engine.window_size; the tables"));
  EXPECT_TRUE(
      says(refusal_of([] { DaemonConfig().read_model_toml("[modle]\nfeatures = 3", "m.toml"); }),
           "did you mean model.features"));
  EXPECT_TRUE(says(refusal_of_toml("colour = 3"), "unknown key colour; the tables are model"));
  EXPECT_TRUE(says(refusal_of_toml("[model]\nfeatures = \"3\""),
                   "model.features must be a whole number of 0 to 4294967295"));
  EXPECT_TRUE(says(refusal_of_toml("[model]\nfeatures = -3"),
                   "model.features = \"-3\" is not allowed: a whole number of 0 to 4294967295"));
  EXPECT_TRUE(says(refusal_of_toml("[model]\nname = \"probit\""), "one of linear, logistic"));
  EXPECT_TRUE(says(refusal_of_toml("[model]\nprior_precision = nan"), "a finite number"));
  EXPECT_TRUE(says(refusal_of_toml("[model]\nprior_precision = \"guess\""), "or \"learn\""));
  EXPECT_TRUE(says(refusal_of_toml("[model]\nfeatures = 2\nprior_groups = \"fields\""),
                   "needs the fields of a model.schema"));
  EXPECT_TRUE(says(refusal_of_toml("[server]\nidle_timeout = 0"), "milliseconds"));
  EXPECT_TRUE(says(refusal_of_toml("[model"), "c.toml:1:"));
  EXPECT_TRUE(says(refusal_of_toml("model.features = 0"), "model.features must be"));
  EXPECT_TRUE(says(refusal_of_toml("model.features = 0"), "it is 0"));
  EXPECT_TRUE(says(refusal_of_toml("model.features = 3\nprocess.query_cpu = 99999"),
                   "process.query_cpu = 99999 is not allowed"));
  EXPECT_TRUE(says(refusal_of([] { DaemonConfig().read_file("/no/file.toml"); }), "cannot read"));
  EXPECT_TRUE(
      says(refusal_of([] { DaemonConfig().set("model.features", "x", "--model.features"); }),
           "--model.features: model.features = \"x\" is not allowed"));
}

TEST(DaemonConfig, SaysWhereInTheFileAWrongValueStands) {
  EXPECT_TRUE(refusal_of_toml("[model]\n  features = \"3\"")
                  .starts_with("c.toml:2:14: model.features must be a whole number"));
  EXPECT_TRUE(refusal_of_toml("[model]\nfeatures = -3")
                  .starts_with("c.toml:2:12: model.features = \"-3\" is not allowed"));
  EXPECT_TRUE(refusal_of_toml("[model]\nfeatures = 3\nfeatures = 4").starts_with("c.toml:3:"));
}

// Each value is allowed by itself; the engine, the server or the machine refuse them.
TEST(DaemonConfig, SaysWhereInTheFileAnOptionStandsThatContradictsOthers) {
  EXPECT_EQ(refusal_of_toml("[model]\nfeatures = 3\n\n[engine]\nwindow_size = 2\n"),
            "c.toml:5:15: window_size must be 4 to 10^9; it is 2");
  EXPECT_EQ(refusal_of_toml("model.features = 3\nmodel.max_nonzeros = 4\n"),
            "c.toml:2:22: model.max_nonzeros must be at most model.features; it is 4");
  // The first one named is a default, so the other one it is.
  EXPECT_TRUE(refusal_of_toml("model.features = 3\nengine.max_frame_rows = 900000\n")
                  .starts_with("c.toml:2:25: window_slack must be at least twice max_frame_rows"));
  EXPECT_TRUE(refusal_of_toml("model.features = 3\n[server.query]\ntcp_address = \"here\"\n")
                  .starts_with("c.toml:3:15: tcp_address must be a numeric"));
  EXPECT_TRUE(refusal_of_toml("model.features = 3\nprocess.query_cpu = 99999")
                  .starts_with("c.toml:2:21: process.query_cpu = 99999 is not allowed"));
  EXPECT_TRUE(
      refusal_of_toml("model.features = 3\nengine.horizon = \"all\"\n"
                      "model.prior_precision = \"learn\"\n")
          .starts_with("c.toml:3:25: model.learn_prior_precision must be false where horizon"));
}

TEST(DaemonConfig, LabelsAreOfATableOfTheirOwn) {
  DaemonConfig config;
  config.read_toml(
      "model.features = 3\n[labels]\npending = 100\ntimeout_seconds = 2.5\ntimeout_outcome = 0\n",
      "c.toml");
  config.check();
  const LabelsConfig labels = config.engine().labels;
  EXPECT_EQ(labels.pending, 100U);
  EXPECT_EQ(labels.timeout_seconds, 2.5);
  EXPECT_EQ(labels.timeout_outcome, 0);
  EXPECT_NE(config.to_toml().find("timeout_outcome = 0"), std::string::npos);
  config.set("labels.timeout_outcome", "none", "--labels.timeout_outcome");
  EXPECT_TRUE(std::isnan(config.engine().labels.timeout_outcome));
  EXPECT_TRUE(std::isnan(DaemonConfig().engine().labels.timeout_outcome));
  EXPECT_EQ(DaemonConfig().engine().labels.pending, 0U);
  EXPECT_TRUE(refusal_of_toml("model.features = 3\n[labels]\ntimeout_seconds = 0\n")
                  .starts_with("c.toml:3:19: labels.timeout_seconds must be 0.001 to 31536000"));
  EXPECT_TRUE(refusal_of_toml("model.features = 3\nmodel.name = \"logistic\"\n[labels]\n"
                              "timeout_outcome = 2\n")
                  .starts_with("c.toml:4:19: labels.timeout_outcome must be an outcome"));
  EXPECT_TRUE(refusal_of_toml("model.features = 3\n[labels]\ntimeout_outcome = \"soon\"\n")
                  .starts_with("c.toml:3:19: labels.timeout_outcome"));
}

TEST(DaemonConfig, NamesNoPlaceInTheFileForWhatItDidNotSay) {
  DaemonConfig config;
  config.read_toml("[model]\nfeatures = 3\n[engine]\nwindow_size = 100\n", "c.toml");
  config.set("engine.window_size", "2", "--engine.window_size");
  EXPECT_EQ(refusal_of([&] { config.check(); }),
            "--engine.window_size: window_size must be 4 to 10^9; it is 2");
  EXPECT_EQ(refusal_of_toml("[engine]\nwindow_size = 100\n"),
            "model.features must be 1 to 16777216; it is 0");
  // Either might be meant.
  EXPECT_TRUE(refusal_of_toml("model.features = 3\n[server]\nobserve.tcp_address = \"::1\"\n"
                              "query.tcp_address = \"there\"\n")
                  .starts_with("tcp_address must be"));
}

TEST(DaemonConfig, RealTimeProfileStaysWithinTheMachine) {
  DaemonConfig config;
  config.set("model.features", "2", "test");
  config.use_real_time_profile();
  config.check();
  EXPECT_TRUE(config.process().lock_memory);
  EXPECT_EQ(config.process().learner.fifo_priority, 0);
  EXPECT_GT(config.process().query.fifo_priority, 0);
}

}  // namespace
}  // namespace windhover
