// Daemons to which operators add models, and what may happen to them.
#ifndef WINDHOVER_TESTS_SYSTEM_ADDED_MODELS_H_
#define WINDHOVER_TESTS_SYSTEM_ADDED_MODELS_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/tests/system/live_daemon.h"
#include "windhover/tests/system/run_program.h"
#include "windhover/tests/system/several_models.h"
#include "windhover/tests/temporary_folder.h"
#include "windhover/tools/daemon/child_daemon.h"

namespace windhover::testing::added_models {

namespace fs = std::filesystem;

// "price" with 2 columns, and memory for models that come.
class Configuration : public ConfigurationFolder {
 public:
  explicit Configuration(const std::string& name) : ConfigurationFolder(name) {
    std::ofstream(path("all.toml"))
        << "[engine]\nwindow_size = 2000\nwindow_slack = 4096\nmax_frame_rows = 1024\n"
           "[server]\nobserve.tcp_port = 0\nquery.tcp_port = 0\nmax_producers = 64\n"
           "added.memory = 40000000\nadded.max_models = 4\nadded.max_parameters = 20\n"
           "[process]\nlog_file = \""
        << path("log") << "\"\n[models]\nprice = \"price.toml\"\n";
    std::ofstream(path("price.toml")) << "[model]\nfeatures = 2\n";
    std::ofstream(path("clicks.toml")) << "[model]\nfeatures = 1\nname = \"logistic\"\n";
  }
};

inline ProgramRun model(const ChildDaemon& daemon, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "model");
  arguments.insert(arguments.end(), {"--to", daemon.query_address()});
  return run_program(WINDHOVER_PROGRAM, std::move(arguments));
}

// What tells whether a model is the same: its rows and the mean that it predicts for x = 1. Once
// burn-in has ended that is the same to 1e-9, however far the learner has come with its draws.
struct Answered {
  std::uint64_t head = 0;
  double mean = 0;
  bool operator==(const Answered& other) const {
    return head == other.head && std::abs(mean - other.mean) <= 1e-9;
  }
};
inline Answered answered(const ChildDaemon& daemon, const std::string& name) {
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
    return ok(client.predict(request, summaries, provenance)) && provenance.sequence == head &&
           (head == 0 || provenance.status != PosteriorStatus::kWarmingUp);
  })) << to_string(provenance.status)
      << " " << to_string(provenance.reason);
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

// What inject_fault.cc does to one thread of the daemons that are started meanwhile, from begin()
// to end().
class Fault {
 public:
  Fault(const char* thread, const char* variable)
      : variable_(variable), path_(temporary_path(std::string(thread) + variable)) {
    ::setenv("WINDHOVER_FAULT_THREAD", thread, 1);
    ::setenv(variable_, path_.c_str(), 1);
  }
  ~Fault() {
    end();
    fs::remove(path_ + ".reached");
    ::unsetenv("WINDHOVER_FAULT_THREAD");
    ::unsetenv(variable_);
  }
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;
  void begin() const { std::ofstream(path_) << "now"; }
  void end() const { fs::remove(path_); }
  bool reached() const {
    return comes_true([&] { return fs::exists(path_ + ".reached"); });
  }

 private:
  const char* const variable_;
  const std::string path_;
};

}  // namespace windhover::testing::added_models

#endif  // WINDHOVER_TESTS_SYSTEM_ADDED_MODELS_H_
