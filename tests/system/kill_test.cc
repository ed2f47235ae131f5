// windhoverd killed at any moment under load, again and again: what it acknowledged is there, once.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <Eigen/Cholesky>

#include "windhover/io/client.h"
#include "windhover/tests/long_tests.h"
#include "windhover/tests/system/heap_calls.h"
#include "windhover/tests/temporary_folder.h"
#include "windhover/tools/daemon/child_daemon.h"

namespace windhover::kill_test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kFeatures = 4;
constexpr std::size_t kProducers = 16;
constexpr std::size_t kFrame = 32;

// Row `sequence` of a producer: features and a target that no other row has.
struct Row {
  Row(std::uint64_t producer, std::uint64_t sequence) {
    std::minstd_rand random(static_cast<unsigned>(producer * 7919 + sequence * 104'729 + 1));
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (double& value : x) value = uniform(random);
    y = x[0] - 2 * x[1] + 0.5 * x[3] + uniform(random);
  }
  std::array<double, kFeatures> x;
  double y;
};

// One sender: frames one after another until told to end, whatever happens to the server.
class Sender {
 public:
  Sender(std::uint64_t producer, const std::string& address, std::chrono::milliseconds pause)
      : producer_(producer), address_(address), pause_(pause), thread_([this] { run(); }) {}
  ~Sender() {
    end_ = true;
    if (thread_.joinable()) thread_.join();
  }
  // All that it sent is acknowledged, or why not.
  std::string finish() {
    end_ = true;
    thread_.join();
    return error_;
  }
  std::uint64_t producer() const { return producer_; }
  std::uint64_t sent() const { return client_.next_sequence(); }
  const ObserveTotals& totals() const { return client_.totals(); }

 private:
  // Again and again, while the server is gone or not there yet.
  bool take_up_again() {
    if (ok(client_.reconnect())) return true;
    error_ = client_.error_text();
    return false;
  }
  void run() {
    const ClientOptions options = {.producer = producer_,
                                   .durability = v1::DURABILITY_LOGGED,
                                   .connect_timeout = 500ms,
                                   .retry_for = 120s};
    while (!ok(client_.connect(address_, options))) {
      if (end_) return;
      std::this_thread::sleep_for(20ms);
    }
    std::uint64_t next = 0;
    while (!end_) {
      std::vector<double> features, targets;
      for (std::size_t i = 0; i < kFrame; ++i) {
        const Row row(producer_, next + i);
        features.insert(features.end(), row.x.begin(), row.x.end());
        targets.push_back(row.y);
      }
      Status status = client_.send_observe({features, targets, {}, {}});
      next += kFrame;
      if (ok(status)) status = client_.flush();
      if (ok(status)) status = client_.poll_acknowledgements();
      if (!ok(status) && !take_up_again()) return;
      std::this_thread::sleep_for(pause_);
    }
    while (!ok(client_.wait_acknowledged())) {
      if (!take_up_again()) return;
    }
  }

  const std::uint64_t producer_;
  const std::string address_;
  const std::chrono::milliseconds pause_;  // between frames
  Client client_;
  std::atomic<bool> end_{false};
  std::string error_;
  std::thread thread_;
};

// Asks all the time; a server that is gone is no failure, a wrong answer is.
class Asker {
 public:
  explicit Asker(const std::string& address) : address_(address), thread_([this] { run(); }) {}
  ~Asker() {
    end_ = true;
    thread_.join();
  }
  std::uint64_t answers() const { return answers_; }
  std::uint64_t wrong() const { return wrong_; }

 private:
  void run() {
    const std::array<double, kFeatures> x = {0.1, 0.2, 0.3, 0.4};
    while (!end_) {
      Client client;
      bool open = ok(client.connect(address_, {.connect_timeout = 500ms, .reply_timeout = 5s}));
      while (open && !end_) {
        PredictRequest request;
        request.rows = 1;
        request.features = x;
        std::vector<PredictiveSummary> summaries;
        Provenance provenance;
        open = ok(client.predict(request, summaries, provenance));
        if (!open) break;
        ++answers_;
        if (!std::isfinite(summaries[0].mean) || !(summaries[0].sd > 0)) ++wrong_;
      }
      std::this_thread::sleep_for(2ms);
    }
  }
  const std::string address_;
  std::atomic<bool> end_{false};
  std::atomic<std::uint64_t> answers_{0}, wrong_{0};
  std::thread thread_;
};

// The mode of the posterior of the rows below `next` of each producer, exactly.
Eigen::VectorXd exact_mode(const std::vector<std::uint64_t>& next) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Identity(kFeatures, kFeatures);
  Eigen::VectorXd b = Eigen::VectorXd::Zero(kFeatures);
  for (std::size_t p = 0; p < next.size(); ++p) {
    for (std::uint64_t sequence = 0; sequence < next[p]; ++sequence) {
      const Row row(p + 1, sequence);
      const Eigen::Map<const Eigen::VectorXd> x(row.x.data(), kFeatures);
      a += x * x.transpose();
      b += row.y * x;
    }
  }
  return a.llt().solve(b);
}

void kill_again_and_again(int kills, std::chrono::milliseconds pause, const std::string& window) {
  const std::string folder = testing::temporary_path("killed");
  const std::string observe = testing::temporary_path("observe.socket");
  const std::string query = testing::temporary_path("query.socket");
  const std::vector<std::string> arguments = {"--model.features",
                                              std::to_string(kFeatures),
                                              "--model.name",
                                              "linear",
                                              "--model.noise_variance",
                                              "1",
                                              "--model.prior_precision",
                                              "1",
                                              "--model.intercept",
                                              "false",
                                              "--engine.standardize",
                                              "off",
                                              "--engine.standardize_target",
                                              "off",
                                              "--engine.window_size",
                                              window,
                                              "--process.prefault",
                                              "false",
                                              "--server.observe.tcp_address",
                                              "",
                                              "--server.query.tcp_address",
                                              "",
                                              "--server.observe.unix_path",
                                              observe,
                                              "--server.query.unix_path",
                                              query,
                                              "--data.folder",
                                              folder,
                                              "--data.log_bytes",
                                              "12582912",
                                              "--data.segment_bytes",
                                              "1048576",
                                              "--data.commit_bytes",
                                              "524288",
                                              "--data.checkpoint_period",
                                              "300"};
  auto daemon =
      std::make_unique<ChildDaemon>(WINDHOVER_DAEMON, arguments, WINDHOVER_HEAP_COUNTER_PRELOAD);
  std::vector<std::unique_ptr<Sender>> senders;
  for (std::uint64_t p = 1; p <= kProducers; ++p) {
    senders.push_back(std::make_unique<Sender>(p, "unix:" + observe, pause));
  }
  Asker asker("unix:" + query);
  std::mt19937 random(20'240'917);
  std::uniform_int_distribution<int> pause_us(500, 250'000);
  for (int i = 0; i < kills; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(pause_us(random)));
    (void)daemon->stop(SIGKILL);
    // Some die again while they come back.
    daemon =
        std::make_unique<ChildDaemon>(WINDHOVER_DAEMON, arguments, WINDHOVER_HEAP_COUNTER_PRELOAD);
  }
  std::vector<std::uint64_t> next;
  std::uint64_t rows = 0;
  for (const auto& sender : senders) {
    ASSERT_EQ(sender->finish(), "");
    EXPECT_EQ(sender->totals().lost, 0U) << sender->producer();
    EXPECT_EQ(sender->totals().histories, 0U) << sender->producer();
    next.push_back(sender->sent());
    rows += next.back();
  }
  Client client;
  ASSERT_EQ(client.connect("unix:" + observe), Status::kOk) << client.error_text();
  for (std::size_t p = 0; p < kProducers; ++p) {
    v1::ProducerStatusResult standing;
    ASSERT_EQ(client.producer_status(p + 1, standing), Status::kOk) << client.error_text();
    EXPECT_EQ(standing.next(), next[p]) << "producer " << p + 1;
    EXPECT_EQ(standing.durable_next(), next[p]) << "producer " << p + 1;
  }
  ASSERT_EQ(client.connect("unix:" + query), Status::kOk) << client.error_text();
  EXPECT_EQ(client.welcome().head(), rows) << "lost, or learned twice";
  std::vector<ParameterSummary> parameters;
  Provenance provenance;
  for (int i = 0; i < 2'000 && provenance.sequence < rows; ++i) {
    ASSERT_EQ(client.posterior(parameters, provenance), Status::kOk) << client.error_text();
    std::this_thread::sleep_for(5ms);
  }
  ASSERT_EQ(provenance.sequence, rows);
  ASSERT_EQ(provenance.n_eff, rows);
  const Eigen::VectorXd mode = exact_mode(next);
  for (std::uint32_t j = 0; j < kFeatures; ++j) {
    EXPECT_NEAR(parameters[j].mode, mode[j], 1e-9 * std::max(1.0, std::abs(mode[j])));
  }
  EXPECT_GT(asker.answers(), 0U);
  EXPECT_EQ(asker.wrong(), 0U);
  client.close();
  const ChildDaemon::Stopped stopped = daemon->stop();
  EXPECT_EQ(stopped.exit_code, 0);
  testing::expect_no_heap_call(stopped);
}

TEST(Kill, TwentyFiveTimesUnderLoadLosesAndRepeatsNothing) {
  kill_again_and_again(25, 5ms, "2000000");
}

TEST(LongKill, AThousandTimesUnderLoadLosesAndRepeatsNothing) {
  WINDHOVER_SKIP_UNLESS_LONG();
  kill_again_and_again(1'000, 50ms, "6000000");
}

}  // namespace
}  // namespace windhover::kill_test
