// No heap call from ready on, over the whole daemon, counted inside it and from outside.
#include <gtest/gtest.h>

#include <signal.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/io/framing.h"
#include "windhover/tests/io/access/identities.h"
#include "windhover/tests/io/raw_peer.h"
#include "windhover/tests/io/tls/certificates.h"
#include "windhover/tests/system/run_program.h"
#include "windhover/tests/temporary_folder.h"
#include "windhover/tools/bench/frame_source.h"
#include "windhover/tools/daemon/child_daemon.h"

namespace windhover {
namespace {

constexpr std::uint32_t kFeatures = 9;
constexpr int kSessions = 40;
constexpr std::chrono::minutes kPatience{4};

const std::vector<std::string> kArguments = {
    "--model.features",          "9",  "--engine.window_size",     "20000",
    "--server.max_sessions",     "40", "--server.idle_timeout",    "5000",
    "--server.observe.tcp_port", "0",  "--server.query.tcp_port",  "0",
    "--process.learner_threads", "2",  "--labels.pending",         "64",
    "--labels.timeout_seconds",  "1",  "--labels.timeout_outcome", "0"};

const std::string kInjecting =
    std::string(WINDHOVER_INJECT_PRELOAD) + ":" + WINDHOVER_HEAP_COUNTER_PRELOAD;

// All that there is to say is said, too.
std::vector<std::string> arguments_with_log(const std::string& file) {
  std::vector<std::string> arguments = kArguments;
  arguments.insert(arguments.end(), {"--process.log_level", "debug", "--process.log_format", "json",
                                     "--process.log_file", file});
  return arguments;
}

// Opens more connections than there are sessions, all at once.
void burst(const std::string& address) {
  std::vector<std::unique_ptr<testing::RawPeer>> peers;
  for (int i = 0; i < 2 * kSessions; ++i) {
    peers.push_back(std::make_unique<testing::RawPeer>(address));
  }
}

v1::Request rows(std::uint32_t count, double target) {
  v1::Request request;
  v1::Observe& observe = *request.mutable_observe();
  observe.set_rows(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    for (std::uint32_t j = 0; j < kFeatures; ++j) observe.add_features_f64(0.1 * j);
    observe.add_targets_f64(target);
  }
  return request;
}

void misbehave(const std::string& address) {
  {
    testing::RawPeer before_hello(address);
    EXPECT_TRUE(before_hello.send(rows(1, 1)));
    EXPECT_TRUE(before_hello.ends());
  }
  {
    testing::RawPeer oversized(address);
    EXPECT_TRUE(oversized.hello());
    oversized.send(std::string("\xff\xff\xff\x7f"));
    EXPECT_TRUE(oversized.ends());
  }
  {
    testing::RawPeer garbage(address);
    EXPECT_TRUE(garbage.hello());
    garbage.send(std::string("\x05\x00\x00\x00\x00\x00", 6));
    EXPECT_TRUE(garbage.ends());
  }
  testing::RawPeer unknown(address);
  EXPECT_TRUE(unknown.hello());
  // A thousand fields that no version knows: varint fields number 1000, of value 1.
  std::string body = rows(1, 1).SerializeAsString();
  for (int i = 0; i < 1000; ++i) body += std::string("\xc0\x3e\x01", 3);
  std::array<std::byte, kMaxFrameHeader> header{};
  const std::size_t size =
      write_frame_header(static_cast<std::uint32_t>(body.size()), header.data());
  EXPECT_TRUE(unknown.send(std::string(reinterpret_cast<const char*>(header.data()), size) + body));
  v1::Response response;
  EXPECT_TRUE(unknown.receive(response) && response.has_observe_ack());
}

// Ingest of a million messages on a connection of its own, questions on others, and 32 sessions
// that say Hello and then let their idle timers run.
void load(ChildDaemon& daemon) {
  burst(daemon.observe_address());
  burst(daemon.query_address());
  const FrameSource source(daemon.observe_address(), {.features = kFeatures}, {});
  std::vector<std::unique_ptr<testing::RawPeer>> idle;
  for (int i = 0; i < 32; ++i) {
    idle.push_back(std::make_unique<testing::RawPeer>(daemon.observe_address()));
    EXPECT_TRUE(idle.back()->hello());
  }
  Client client;
  ASSERT_EQ(client.connect(daemon.query_address()), Status::kOk) << client.error_text();
  const std::vector<double> x(2 * kFeatures, 0.1);
  PredictRequest request;
  request.rows = 2;
  request.features = x;
  const double quantiles[] = {0.05, 0.95};
  request.quantile_probabilities = quantiles;
  // One is told, the other times out.
  const std::string_view keys[] = {"told", "left"};
  request.keys = keys;
  const double happened = 1;
  v1::OutcomeResult outcome;
  Client teller;
  ASSERT_EQ(teller.connect(daemon.observe_address()), Status::kOk) << teller.error_text();
  std::vector<PredictiveSummary> answers;
  std::vector<ParameterSummary> parameters;
  std::vector<double> draws;
  v1::StatusResult status;
  Provenance provenance;
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (int turn = 0; provenance.n_seen < 1'000'000 || turn < 200; ++turn) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline)
        << "the daemon has seen " << provenance.n_seen << " rows after " << turn << " questions";
    request.thompson_id = static_cast<std::uint64_t>(turn) + 1;
    ASSERT_EQ(client.predict(request, answers, provenance), Status::kOk) << client.error_text();
    if (turn % 20 != 0) continue;
    ASSERT_EQ(teller.outcomes({keys, 1}, {&happened, 1}, outcome), Status::kOk)
        << teller.error_text();
    EXPECT_EQ(outcome.accepted(), 1U);
    ASSERT_EQ(client.posterior(parameters, provenance), Status::kOk) << client.error_text();
    ASSERT_EQ(client.draws(draws, provenance), Status::kOk) << client.error_text();
    ASSERT_EQ(client.status(status), Status::kOk) << client.error_text();
    misbehave(daemon.observe_address());
  }
  burst(daemon.query_address());
}

class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() { unsetenv(name_); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
};

std::uint64_t count_in(const std::string& file) {
  std::uint64_t count = 0;
  std::FILE* stream = std::fopen(file.c_str(), "rb");
  if (stream == nullptr || std::fread(&count, sizeof(count), 1, stream) != 1) count = 0;
  if (stream != nullptr) std::fclose(stream);
  return count;
}

TEST(HeapCalls, MixedLoadFromReadyOn_None) {
  const std::string file = testing::temporary_path("heap_calls");
  const std::string log = testing::temporary_path("heap_calls.log");
  std::unique_ptr<ChildDaemon> daemon;
  {
    const ScopedVariable count("WINDHOVER_HEAP_COUNT_FILE", file);
    daemon = std::make_unique<ChildDaemon>(WINDHOVER_DAEMON, arguments_with_log(log),
                                           WINDHOVER_HEAP_COUNTER_PRELOAD);
  }
  const std::uint64_t at_ready = count_in(file);
  EXPECT_GT(at_ready, 0U) << "nothing was counted from outside";
  load(*daemon);
  // The log has its say while heap calls are counted.
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (const char* event : {"\"requests_refused\"", "\"status_changed\""}) {
    while (testing::content_of(log).find(event) == std::string::npos) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << event;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  EXPECT_EQ(count_in(file) - at_ready, 0U) << "counted from outside";
  const ChildDaemon::Stopped stopped = daemon->stop();
  EXPECT_EQ(stopped.exit_code, 0);
  ASSERT_TRUE(stopped.heap_calls.has_value());
  EXPECT_EQ(*stopped.heap_calls, 0U) << "counted inside";
  EXPECT_GE(stopped.observations, 500'000U);
}

// Handshakes good and bad, rows, questions, and the files taken up anew.
void load_under_tls(ChildDaemon& daemon, const ClientOptions& options) {
  const std::string observe = "tls://" + daemon.observe_address();
  const std::string query = "tls://" + daemon.query_address();
  const std::vector<double> x(200 * kFeatures, 0.1);
  const std::vector<double> y(200, 1.0);
  Client feeder;
  ASSERT_EQ(feeder.connect(observe, options), Status::kOk) << feeder.error_text();
  for (int turn = 0; turn < 60; ++turn) {
    ASSERT_EQ(feeder.observe({x, y, {}, {}}), Status::kOk) << feeder.error_text();
    Client client;
    ASSERT_EQ(client.connect(query, options), Status::kOk) << client.error_text();
    std::vector<ParameterSummary> parameters;
    std::vector<double> draws;
    Provenance provenance;
    ASSERT_EQ(client.posterior(parameters, provenance), Status::kOk) << client.error_text();
    ASSERT_EQ(client.draws(draws, provenance), Status::kOk) << client.error_text();
    testing::RawPeer plain(daemon.query_address());
    plain.hello();
    testing::RawPeer garbage(daemon.query_address());
    garbage.send(std::string(static_cast<std::size_t>(1 + 37 * turn), static_cast<char>(turn)));
    testing::RawPeer begun(daemon.observe_address());
    begun.send(std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11));
    if (turn % 20 == 0) {
      ClientOptions distrustful = options;
      distrustful.tls.server_name = "other.example";
      EXPECT_EQ(client.connect(query, distrustful), Status::kNotPermitted);
      ASSERT_EQ(kill(daemon.pid(), SIGHUP), 0);
      burst(daemon.query_address());
    }
  }
}

TEST(HeapCalls, UnderTls_None) {
  const testing::TestCertificate root("heap-authority", "", nullptr);
  const testing::TestCertificate own("heap-server", "IP:127.0.0.1", &root);
  const testing::TestCertificate ada("ada", "", &root);
  const std::string identities =
      testing::write_identities("heap.identities", "cert:ada query,observe *\n");
  std::vector<std::string> arguments = kArguments;
  arguments.insert(arguments.end(),
                   {"--server.tls.certificate", own.certificate(), "--server.tls.key", own.key(),
                    "--server.tls.client_ca", root.certificate(), "--server.identities_file",
                    identities, "--server.write_timeout", "2000"});
  ChildDaemon daemon(WINDHOVER_DAEMON, arguments, WINDHOVER_HEAP_COUNTER_PRELOAD);
  ClientOptions options;
  options.tls = {true, root.certificate(), "", ada.certificate(), ada.key()};
  load_under_tls(daemon, options);
  const ChildDaemon::Stopped stopped = daemon.stop();
  EXPECT_EQ(stopped.exit_code, 0);
  EXPECT_EQ(stopped.observations, 60U * 200U);
  ASSERT_TRUE(stopped.heap_calls.has_value());
  EXPECT_EQ(*stopped.heap_calls, 0U);
}

// The HTTP thread looks at its clock eighty times a second meanwhile.
TEST(HeapCalls, HttpOnAndNobodyAsking_None) {
  std::vector<std::string> arguments = kArguments;
  arguments.insert(arguments.end(), {"--server.http.tcp_address", "127.0.0.1",
                                     "--server.http.header_timeout", "100"});
  ChildDaemon daemon(WINDHOVER_DAEMON, arguments, WINDHOVER_HEAP_COUNTER_PRELOAD);
  ASSERT_FALSE(daemon.http_address().empty()) << daemon.ready_line();
  Client client;
  ASSERT_EQ(client.connect(daemon.observe_address()), Status::kOk) << client.error_text();
  const std::vector<double> x(kFeatures, 0.1);
  const std::vector<double> y = {1};
  v1::StatusResult status;
  // The server is asked until it has been up for two seconds.
  while (status.uptime_ns() < 2'000'000'000) {
    ASSERT_EQ(client.observe({x, y, {}, {}}), Status::kOk) << client.error_text();
    ASSERT_EQ(client.status(status), Status::kOk) << client.error_text();
  }
  const ChildDaemon::Stopped stopped = daemon.stop();
  EXPECT_EQ(stopped.exit_code, 0);
  ASSERT_TRUE(stopped.heap_calls.has_value());
  EXPECT_EQ(*stopped.heap_calls, 0U);
}

TEST(HeapCalls, NotCountedWhereNobodyAsks) {
  ChildDaemon daemon(WINDHOVER_DAEMON, kArguments);
  const ChildDaemon::Stopped stopped = daemon.stop();
  EXPECT_EQ(stopped.exit_code, 0);
  EXPECT_FALSE(stopped.heap_calls.has_value());
}

// The heap call comes with the first message after the file is there, and the file after "ready".
TEST(HeapCalls, OneInjected_Seen) {
  const std::string file = testing::temporary_path("inject_now");
  std::unique_ptr<ChildDaemon> daemon;
  {
    const ScopedVariable after("WINDHOVER_INJECT_AFTER", file);
    daemon = std::make_unique<ChildDaemon>(WINDHOVER_DAEMON, kArguments, kInjecting);
  }
  std::ofstream(file) << "now";
  Client client;
  ASSERT_EQ(client.connect(daemon->query_address()), Status::kOk) << client.error_text();
  const std::vector<double> x(kFeatures, 0.1);
  PredictRequest request;
  request.rows = 1;
  request.features = x;
  std::vector<PredictiveSummary> answers;
  Provenance provenance;
  ASSERT_EQ(client.predict(request, answers, provenance), Status::kOk) << client.error_text();
  const ChildDaemon::Stopped stopped = daemon->stop();
  ASSERT_TRUE(stopped.heap_calls.has_value());
  EXPECT_EQ(*stopped.heap_calls, 2U);  // malloc() and free()
}

// What is counted begins where the line "ready" is handed to the system, not some time after it.
TEST(HeapCalls, OneRightBehindReady_Seen) {
  const ScopedVariable at_ready("WINDHOVER_INJECT_AT_READY", "1");
  ChildDaemon daemon(WINDHOVER_DAEMON, kArguments, kInjecting);
  const ChildDaemon::Stopped stopped = daemon.stop();
  ASSERT_TRUE(stopped.heap_calls.has_value());
  EXPECT_EQ(*stopped.heap_calls, 2U);
}

}  // namespace
}  // namespace windhover
