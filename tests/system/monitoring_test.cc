// What watches a daemon: Prometheus itself, its rules and its checks. Skipped where its programs
// are missing (Debian: prometheus).
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/tests/io/http/http_peer.h"
#include "windhover/tests/system/prometheus.h"
#include "windhover/tests/system/run_program.h"
#include "windhover/tests/temporary_folder.h"
#include "windhover/tools/daemon/child_daemon.h"

namespace windhover {
namespace monitoring_test {

using nlohmann::json;
using testing::content_of;
using testing::HttpPeer;
using testing::HttpResponse;
using testing::kPrometheus;
using testing::Prometheus;
using testing::run_program;
using testing::temporary_path;

const std::string kPromtool = "/usr/bin/promtool";
const std::string& kFolder = testing::kMonitoringFolder;

#define WINDHOVER_NEEDS(program)                                       \
  if (!testing::has_program(program)) {                                \
    GTEST_SKIP() << (program) << " is not there (Debian: prometheus)"; \
  }

std::vector<std::string> arguments(const std::string& folder = "") {
  std::vector<std::string> all = {
      "--model.features",          "1",        "--engine.window_size",    "1000",
      "--server.observe.tcp_port", "0",        "--server.query.tcp_port", "0",
      "--server.http.tcp_address", "127.0.0.1"};
  if (!folder.empty()) {
    all.insert(all.end(), {"--data.folder", folder, "--data.log_bytes", "16777216",
                           "--data.segment_bytes", "2097152", "--data.commit_bytes", "524288"});
  }
  return all;
}

void send_rows(const ChildDaemon& daemon, int rows) {
  Client client;
  ASSERT_EQ(client.connect(daemon.observe_address()), Status::kOk) << client.error_text();
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < rows; ++i) {
    x.push_back(i % 7);
    y.push_back(i % 7 + 0.1 * (i % 3));
  }
  ASSERT_EQ(client.observe({x, y, {}, {}}), Status::kOk) << client.error_text();
}

bool eventually(const std::function<bool()>& done) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (std::chrono::steady_clock::now() < deadline) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

TEST(Monitoring, DaemonSaysWhereItServesHttpAndOnlyThen) {
  ChildDaemon off(WINDHOVER_DAEMON, {"--model.features", "1"});
  EXPECT_EQ(off.ready_line().find(" http="), std::string::npos) << off.ready_line();
  ChildDaemon on(WINDHOVER_DAEMON, arguments());
  ASSERT_TRUE(on.http_address().starts_with("127.0.0.1:")) << on.ready_line();
  EXPECT_EQ(HttpPeer(on.http_address()).get("/readyz").status, 200);
  EXPECT_EQ(on.stop().exit_code, 0);
}

TEST(Monitoring, PromtoolFindsNothingWrongWithTheMetrics) {
  WINDHOVER_NEEDS(kPromtool);
  ChildDaemon daemon(WINDHOVER_DAEMON, arguments(temporary_path("monitored")));
  send_rows(daemon, 3000);
  const HttpResponse response = HttpPeer(daemon.http_address()).get("/metrics");
  ASSERT_EQ(response.status, 200);
  EXPECT_NE(response.body.find("windhover_log_ok"), std::string::npos);
  const std::string file = temporary_path("metrics");
  std::ofstream(file) << response.body;
  const testing::ProgramRun run = run_program(kPromtool, {"check", "metrics"}, file);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.error;
  EXPECT_EQ(run.out + run.error, "");
}

TEST(Monitoring, RulesHoldTheirUnitTests) {
  WINDHOVER_NEEDS(kPromtool);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"check", "rules", kFolder + "alerts.yml"},
        {"test", "rules", kFolder + "alerts_test.yml"},
        {"check", "config", kFolder + "prometheus.yml"}}) {
    const testing::ProgramRun run = run_program(kPromtool, command);
    EXPECT_EQ(run.exit_code, 0) << command[0] << " " << command[1] << "\n" << run.out << run.error;
  }
}

std::set<std::string> names_in(const std::string& text) {
  std::set<std::string> names;
  static const std::regex kName("windhover_[a-z0-9_]+");
  for (std::sregex_iterator at(text.begin(), text.end(), kName), end; at != end; ++at) {
    names.insert(at->str());
  }
  return names;
}

// Rules and dashboard name nothing that a daemon does not serve.
TEST(Monitoring, RulesAndDashboardNameWhatIsServed) {
  std::vector<std::string> with_added = arguments(temporary_path("named"));
  with_added.insert(with_added.end(), {"--server.added.memory", "67108864"});
  ChildDaemon daemon(WINDHOVER_DAEMON, with_added);
  send_rows(daemon, 3000);
  HttpPeer peer(daemon.http_address());
  std::set<std::string> served;
  // What is NaN until the posterior is there comes when it is; the age, when a checkpoint is.
  const testing::ProgramRun taken =
      run_program(WINDHOVER_PROGRAM, {"checkpoint", "take", "--to", daemon.query_address()});
  ASSERT_EQ(taken.exit_code, 0) << taken.error;
  send_rows(daemon, 1000);  // which are scored, now that the units of y are known
  std::string all = content_of(kFolder + "dashboard.json") + content_of(kFolder + "alerts.yml");
  std::set<std::string> wanted;
  for (const std::string& name : names_in(all)) wanted.insert(name);
  // Only a daemon with certificates has them: Tls.HttpSpeaksItWithTheSameCertificate,
  // RenderMetrics.CertificatesThatThereAreHaveAGauge.
  EXPECT_EQ(wanted.erase("windhover_tls_certificate_expiry_timestamp_seconds"), 1U);
  EXPECT_EQ(wanted.erase("windhover_tls_client_ca_expiry_timestamp_seconds"), 1U);
  for (const char* which : {"bytes", "used_bytes", "touched_bytes"}) {
    EXPECT_EQ(wanted.erase(std::string("windhover_tls_memory_") + which), 1U);
  }
  EXPECT_GT(wanted.size(), 25U);
  std::string missing;
  EXPECT_TRUE(eventually([&] {
    const auto now = names_in(peer.get("/metrics").body);
    served.insert(now.begin(), now.end());
    missing.clear();
    for (const std::string& name : wanted) {
      if (!served.contains(name)) missing += name + " ";
    }
    return missing.empty();
  })) << missing;
  const json dashboard = json::parse(content_of(kFolder + "dashboard.json"));
  std::set<int> ids;
  for (const json& panel : dashboard.at("panels")) {
    EXPECT_TRUE(ids.insert(panel.at("id").get<int>()).second);
    if (panel.at("type") == "row") continue;
    EXPECT_FALSE(panel.at("targets").empty()) << panel.at("title");
  }
}

TEST(Monitoring, PrometheusScrapesADaemonAtWork) {
  WINDHOVER_NEEDS(kPrometheus);
  ChildDaemon daemon(WINDHOVER_DAEMON, arguments());
  send_rows(daemon, 2500);
  const Prometheus prometheus(daemon.http_address());
  ASSERT_TRUE(eventually([&] { return prometheus.value("windhover_answer_rows") == 2500; }))
      << prometheus.log();
  send_rows(daemon, 500);
  EXPECT_TRUE(eventually([&] {
    return prometheus.value("windhover_rows_total%7Boutcome=%22accepted%22%7D") == 3000;
  })) << prometheus.log();
  EXPECT_EQ(prometheus.value("up"), 1);
  EXPECT_EQ(prometheus.value("windhover_posterior_state%20==%201"), 1) << "one state at a time";
  EXPECT_EQ(prometheus.value("windhover_question_duration_seconds_count%7Bendpoint=%22query%22%7D"),
            0);
  const json targets = prometheus.ask("targets");
  ASSERT_EQ(targets.at("activeTargets").size(), 1U);
  EXPECT_EQ(targets.at("activeTargets")[0].at("lastError"), "");
  // Prometheus has read OpenMetrics, with the types that we give.
  const json metadata = prometheus.ask("metadata?metric=windhover_build");
  ASSERT_TRUE(metadata.contains("windhover_build")) << metadata;
  EXPECT_EQ(metadata.at("windhover_build")[0].at("type"), "info");
  EXPECT_TRUE(eventually([&] {
    const json rules = prometheus.ask("rules");
    if (rules.is_null()) return false;
    std::size_t good = 0;
    for (const json& rule : rules.at("groups")[0].at("rules")) {
      good += rule.at("health") == "ok" ? 1U : 0U;
    }
    return good == rules.at("groups")[0].at("rules").size() && good >= 10;
  })) << prometheus.ask("rules");
  EXPECT_EQ(daemon.stop().exit_code, 0);
  EXPECT_TRUE(eventually([&] { return prometheus.value("up") == 0; })) << prometheus.log();
}

// One that keeps native histograms asks for messages: it gets what the others get, and quantiles
// that are finer than the bounds of those.
TEST(Monitoring, PrometheusKeepsNativeHistograms) {
  WINDHOVER_NEEDS(kPrometheus);
  ChildDaemon daemon(WINDHOVER_DAEMON, arguments());
  send_rows(daemon, 2500);
  const Prometheus prometheus(daemon.http_address(), "", {"--enable-feature=native-histograms"});
  ASSERT_TRUE(eventually([&] { return prometheus.value("windhover_answer_rows") == 2500; }))
      << prometheus.log();
  Client client;
  ASSERT_EQ(client.connect(daemon.query_address()), Status::kOk) << client.error_text();
  v1::StatusResult status;
  for (int i = 0; i < 200; ++i) ASSERT_EQ(client.status(status), Status::kOk);
  const std::string name = "windhover_question_duration_seconds";
  const std::string of_query = name + "%7Bendpoint=%22query%22%7D";
  EXPECT_TRUE(eventually([&] {
    return prometheus.value("histogram_count(" + of_query + ")") == 200;
  })) << prometheus.log();
  ASSERT_EQ(client.status(status), Status::kOk);
  const double median = prometheus.value("histogram_quantile(0.5," + of_query + ")");
  const double truth = static_cast<double>(status.query_latency().p50_ns()) * 1e-9;
  EXPECT_GT(median, truth / 1.2);
  EXPECT_LT(median, truth * 1.2) << "a bucket is 9 % wide, and the recorder's 3 %";
  EXPECT_EQ(prometheus.value("histogram_count(" + name + "%7Bendpoint=%22http%22%7D)"), 0);
  EXPECT_EQ(prometheus.value("windhover_rows_total%7Boutcome=%22accepted%22%7D"), 2500);
  EXPECT_EQ(prometheus.value("windhover_posterior_state%20==%201"), 1);
  EXPECT_EQ(prometheus.value("windhover_build_info"), 1);
  const json targets = prometheus.ask("targets");
  ASSERT_EQ(targets.at("activeTargets").size(), 1U);
  EXPECT_EQ(targets.at("activeTargets")[0].at("lastError"), "");
  EXPECT_EQ(daemon.stop().exit_code, 0);
}

}  // namespace monitoring_test
}  // namespace windhover
