// A day in the life of a daemon, in a minute and a half (ten with --long): rows for several models,
// questions, a Prometheus that scrapes, peers that misbehave, strangers and others, models that
// come and go, certificates and identities that change, kills and comebacks. In the end every row
// is there once, and none of those that were wrong.
#include <signal.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/io/client.h"
#include "windhover/tests/io/access/identities.h"
#include "windhover/tests/io/http/http_peer.h"
#include "windhover/tests/io/tls/certificates.h"
#include "windhover/tests/system/day_peers.h"
#include "windhover/tests/system/live_daemon.h"
#include "windhover/tests/system/prometheus.h"
#include "windhover/tests/system/run_program.h"
#include "windhover/tests/system/several_models.h"
#include "windhover/tests/temporary_folder.h"
#include "windhover/tools/daemon/child_daemon.h"

namespace windhover::testing::day_test {
namespace {

namespace fs = std::filesystem;
using Time = std::chrono::steady_clock::time_point;

Time now() { return std::chrono::steady_clock::now(); }

std::chrono::seconds length_of_day() {
  const char* asked = std::getenv("WINDHOVER_LONG");
  return std::chrono::seconds(asked != nullptr && *asked == '1' ? 600 : 90);
}

// The folder that one daemon's lives share: its sockets keep their names and ports.
class Place {
 public:
  Place() : folder_(temporary_path("day")) {
    fs::create_directories(folder_);
    certificate(0);
    write("all.toml",
          "[engine]\nwindow_size = 5000\n"
          "[server]\nmax_sessions = 24\nidentities_file = \"" +
              identities(0) +
              "\"\nadded.memory = 40000000\nadded.max_models = 2\nadded.max_parameters = 20\n" +
              "tls.certificate = \"" + certificate_->certificate() + "\"\ntls.key = \"" +
              certificate_->key() + "\"\n[server.observe]\ntcp_address = \"\"\nunix_path = \"" +
              path("observe") + "\"\n[server.query]\ntcp_port = " + std::to_string(query_port_) +
              "\nunix_path = \"" + path("query") +
              "\"\n[server.http]\ntcp_port = " + std::to_string(http_port_) + "\nunix_path = \"" +
              path("http") + "\"\n[data]\nfolder = \"" + path("data") +
              "\"\nlog_bytes = 33554432\nsegment_bytes = 2097152\ncommit_bytes = 524288\n"
              "checkpoint_period = 3000\n"
              "[process]\nlog_file = \"" +
              path("log") +
              "\"\n[models]\nprice = \"two.toml\"\nclicks = \"labels.toml\"\n"
              "price-b = {file = \"short.toml\", follows = \"price\"}\n");
    write("two.toml", "[model]\nfeatures = 2\n");
    write("labels.toml", "[model]\nfeatures = 1\nname = \"logistic\"\n");
    write("visitor.toml", "[model]\nfeatures = 1\n");
    write("short.toml", "[model]\nfeatures = 2\n[engine]\nwindow_size = 500\n");
  }
  // Who may do what; reader's token is another one each time.
  std::string identities(int turn) const {
    return write_identities(
        "day.identities", token_line("feeder", "observe") + token_line("operator", "admin,query") +
                              token_line("reader-" + std::to_string(turn), "query"));
  }
  // The server's: another one each time, for a name of its own too.
  void certificate(int turn) {
    certificate_.emplace("day-server", "IP:127.0.0.1,DNS:day" + std::to_string(turn), &authority_);
  }
  std::string tls_query() const { return "tls://127.0.0.1:" + std::to_string(query_port_); }
  const std::string& authority() const { return authority_.certificate(); }
  // Null where it is not installed.
  std::unique_ptr<Prometheus> prometheus() const {
    if (!has_program(kPrometheus)) return nullptr;
    return std::make_unique<Prometheus>("127.0.0.1:" + std::to_string(http_port_),
                                        "    scheme: https\n    tls_config: {ca_file: \"" +
                                            authority() +
                                            "\"}\n    authorization: {credentials: "
                                            "operator-token}\n");
  }
  void start() { daemon_.emplace(WINDHOVER_DAEMON, std::vector<std::string>{path("all.toml")}); }
  ChildDaemon& daemon() { return *daemon_; }
  void end(int signal) {
    daemon_->stop(signal);
    daemon_.reset();
  }
  std::string address(const std::string& of) const { return "unix:" + path(of); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  fs::path folder_;
  const std::uint16_t query_port_ = free_port();
  const std::uint16_t http_port_ = free_port();
  const TestCertificate authority_{"day-authority", "", nullptr};
  std::optional<TestCertificate> certificate_;
  std::optional<ChildDaemon> daemon_;
};

// Sends rows of one producer until it is told to end, whatever becomes of the server. A row of each
// sixteenth frame is wrong, and known to be.
class Feeder {
 public:
  Feeder(const Place& place, const std::string& model, std::size_t columns)
      : columns_(columns), address_(place.address("observe")), options_(as("feeder", model, 7)) {
    thread_ = std::thread([this] { run(); });
  }
  ~Feeder() { end(); }
  Feeder(const Feeder&) = delete;
  Feeder& operator=(const Feeder&) = delete;

  void end() {
    ending_ = true;
    if (thread_.joinable()) thread_.join();
  }
  const ObserveTotals& totals() const { return client_.totals(); }
  std::uint64_t wrong() const { return wrong_; }
  std::uint64_t reconnections() const { return reconnections_; }
  const std::string& failure() const { return failure_; }

 private:
  void run() {
    if (!carry(client_.connect(address_, options_))) return;
    std::mt19937_64 random(columns_);
    std::vector<double> x(kRows * columns_);
    std::vector<double> y(kRows);
    std::uint64_t frames = 0;
    while (!ending_) {
      for (double& value : x) value = static_cast<double>(random() % 1000) / 250 - 2;
      for (double& value : y) value = static_cast<double>(random() % 2);
      if (++frames % 16 == 0) {
        y[random() % kRows] = std::numeric_limits<double>::quiet_NaN();
        ++wrong_;
      }
      std::size_t done = 0;
      while (done < kRows) {
        const std::uint64_t before = client_.totals().sent;
        const Status status = client_.send_observe(
            {std::span(x).subspan(done * columns_), std::span(y).subspan(done), {}, {}});
        done += client_.totals().sent - before;
        if (!carry(status)) return;
      }
      if (!carry(client_.poll_acknowledgements())) return;
      std::this_thread::sleep_for(milliseconds(5));
    }
    while (!ok(client_.wait_acknowledged())) {
      if (!carry(Status::kClosed)) return;
    }
  }
  // False: it cannot go on.
  bool carry(Status status) {
    while (status == Status::kClosed || status == Status::kTimeout) {
      ++reconnections_;
      status = client_.reconnect();
    }
    if (!ok(status)) failure_ = client_.error_text();
    return ok(status);
  }

  static constexpr std::size_t kRows = 40;
  std::size_t columns_;
  std::string address_;
  ClientOptions options_;
  Client client_;
  std::atomic<bool> ending_{false};
  std::uint64_t wrong_ = 0;
  std::uint64_t reconnections_ = 0;
  std::string failure_;
  std::thread thread_;
};

// Does something again and again beside the rest.
class Beside {
 public:
  Beside(milliseconds pause, std::function<void(int turn)> act)
      : thread_([this, pause, act = std::move(act)] {
          for (int turn = 0; !ending_; ++turn) {
            act(turn);
            std::this_thread::sleep_for(pause);
          }
        }) {}
  ~Beside() {
    ending_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

// A model that comes with rows of its own.
void add_visitor(const Place& place) {
  const ProgramRun run = run_program(
      WINDHOVER_PROGRAM,
      {"model", "add", "visitor", place.path("visitor.toml"), "--to", place.address("query")});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  Client client;
  ASSERT_EQ(client.connect(place.address("observe"), about("visitor", 7)), Status::kOk)
      << client.error_text();
  send(client, 1, 300);
}

void expect_visitor(const Place& place, bool there) {
  Client client;
  const Status status = client.connect(place.address("observe"), about("visitor"));
  EXPECT_EQ(ok(status), there) << client.error_text();
  if (there) {
    EXPECT_EQ(client.welcome().head(), 300U);
  } else {
    EXPECT_EQ(client.refusal(), v1::REASON_UNKNOWN_MODEL);
  }
}

// The certificate is the newest, whoever connects.
void expect_certificate(const Place& place, int turn) {
  ClientOptions options = as("operator", "price");
  options.tls.ca_file = place.authority();
  Client client;
  EXPECT_TRUE(comes_true([&] {
    options.tls.server_name = "day" + std::to_string(turn);
    return ok(client.connect(place.tls_query(), options));
  })) << client.error_text();
  options.tls.server_name = "day" + std::to_string(turn - 6);
  EXPECT_EQ(client.connect(place.tls_query(), options), Status::kNotPermitted);
}

// It has seen the daemon since now.
void expect_scraped(const Prometheus& prometheus) {
  const auto since =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_TRUE(comes_true([&] { return prometheus.value("timestamp(up%20==%201)") > since; }))
      << prometheus.ask("targets") << prometheus.log();
}

TEST(Day, EveryRowIsThereOnceInTheEnd) {
  Place place;
  place.start();
  const auto length = length_of_day();
  std::atomic<std::uint64_t> answers{0};
  std::atomic<std::uint64_t> scrapes{0};
  std::atomic<int> unread{0};
  std::atomic<int> dripped{0};
  const std::unique_ptr<Prometheus> prometheus = place.prometheus();
  Feeder price(place, "price", 2);
  Feeder clicks(place, "clicks", 1);
  {
    Client asker;
    ClientOptions asks = as("operator", "price");
    asks.tls.ca_file = place.authority();
    const Beside questions(milliseconds(10), [&](int) {
      if (!asker.connected() && !ok(asker.connect(place.tls_query(), asks))) {
        return;
      }
      PredictRequest request;
      const std::vector<double> x = {1, -1};
      request.rows = 1;
      request.features = x;
      std::vector<PredictiveSummary> summaries;
      Provenance provenance;
      if (!ok(asker.predict(request, summaries, provenance))) return asker.close();
      EXPECT_TRUE(std::isfinite(summaries.at(0).mean));
      ++answers;
    });
    const DayAddresses at{place.address("observe"), place.address("query")};
    const Beside strangers(milliseconds(30), [&](int turn) { misbehave(at, turn); });
    Client deaf;
    const Beside never_reads(milliseconds(100),
                             [&](int) { unread += ask_and_never_read(at, deaf); });
    std::unique_ptr<HttpPeer> slow;
    const Beside drips(milliseconds(500), [&](int) { dripped += drip(at, slow) ? 1 : 0; });
    const Beside scraper(milliseconds(200), [&](int) {
      HttpPeer peer(place.address("http"));
      if (!peer.connected()) return;
      const HttpResponse response =
          peer.get("/metrics", "Authorization: Bearer operator-token\r\n");
      if (response.status == 0) return;  // it went meanwhile
      EXPECT_EQ(response.status, 200) << response.body;
      EXPECT_NE(response.body.find("windhover_head_rows{model=\"price\"}"), std::string::npos);
      ++scrapes;
    });
    const auto change = [&](const std::string& model, const v1::ChangeModel& what) {
      Client client;
      v1::ModelState state;
      return ok(client.connect(place.address("query"), as("operator", model))) &&
             ok(client.change_model(what, state));
    };
    const Time begin = now();
    for (int turn = 1; now() - begin < length; ++turn) {
      std::this_thread::sleep_for(length / 12);
      v1::ChangeModel what;
      switch (turn % 6) {
        case 1:
          what.set_answered_by("price-b");
          EXPECT_TRUE(change("price", what));
          add_visitor(place);
          break;
        case 2:
          place.end(SIGKILL);
          place.start();
          break;
        case 3:
          what.set_pause(v1::PAUSE_CHANGE_PAUSE);
          EXPECT_TRUE(change("clicks", what));
          expect_visitor(place, true);
          place.identities(turn);
          place.certificate(turn);
          ASSERT_EQ(::kill(place.daemon().pid(), SIGHUP), 0);
          break;
        case 4: {
          what.set_pause(v1::PAUSE_CHANGE_GO_ON);
          EXPECT_TRUE(change("clicks", what));
          Client reader;
          EXPECT_TRUE(ok(reader.connect(place.address("query"),
                                        as("reader-" + std::to_string(turn - 1), "clicks"))))
              << reader.error_text();
          expect_certificate(place, turn - 1);
          const ProgramRun run = run_program(
              WINDHOVER_PROGRAM,
              {"model", "remove", "visitor", "--delete-data", "--to", place.address("query")});
          EXPECT_EQ(run.exit_code, 0) << run.error;
          break;
        }
        case 5:
          place.end(SIGTERM);
          place.start();
          expect_visitor(place, false);
          break;
        default:
          what.set_answered_by("price");
          EXPECT_TRUE(change("price", what));
      }
      if (prometheus != nullptr) expect_scraped(*prometheus);
    }
  }
  price.end();
  clicks.end();
  EXPECT_GT(answers, 100U);
  EXPECT_GT(scrapes, 10U);
  EXPECT_GT(unread, 100);
  EXPECT_GT(dripped, 20);
  for (const auto& [feeder, model] :
       {std::pair<const Feeder*, const char*>{&price, "price"}, {&clicks, "clicks"}}) {
    const ObserveTotals& t = feeder->totals();
    EXPECT_EQ(feeder->failure(), "") << model;
    EXPECT_GT(feeder->reconnections(), 0U) << model;
    EXPECT_EQ(t.lost, 0U) << model;
    EXPECT_EQ(t.unknown, 0U) << model;
    EXPECT_GT(feeder->wrong(), 10U) << model;
    EXPECT_LE(t.refused, feeder->wrong()) << model;
    Client client;
    ASSERT_EQ(client.connect(place.address("observe"), as("feeder", model)), Status::kOk)
        << client.error_text();
    v1::ProducerStatusResult where;
    ASSERT_EQ(client.producer_status(7, where), Status::kOk) << client.error_text();
    EXPECT_EQ(where.next(), t.sent) << model;
    const std::uint64_t right = t.sent - feeder->wrong();
    EXPECT_EQ(client.welcome().head(), right) << model << ": each row once";
    const std::string of_model = "%7Bmodel=%22" + std::string(model) + "%22%7D";
    EXPECT_TRUE(prometheus == nullptr || comes_true([&] {
                  return prometheus->value("windhover_head_rows" + of_model) ==
                         static_cast<double>(right);
                }));
  }
  EXPECT_EQ(place.daemon().stop().exit_code, 0);
}

}  // namespace
}  // namespace windhover::testing::day_test
