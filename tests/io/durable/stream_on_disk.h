// Rows of several producers that follow from their number, what a log holds of them, and the
// posterior that follows from that.
#ifndef WINDHOVER_TESTS_IO_DURABLE_STREAM_ON_DISK_H_
#define WINDHOVER_TESTS_IO_DURABLE_STREAM_ON_DISK_H_

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <Eigen/Cholesky>

#include "windhover/io/durable/log_reader.h"
#include "windhover/tests/io/durable/log_rig.h"
#include "windhover/tests/io/durable/server_on_disk.h"

namespace windhover::testing {

inline constexpr std::size_t kStreams = 3;  // producers 1, 2, 3

// Row `sequence` of a producer. One in 64 is refused.
struct StreamRow {
  StreamRow(std::uint64_t producer, std::uint64_t sequence) {
    const std::uint64_t n = mixed(producer << 40 | sequence);
    const auto uniform = [&](std::uint64_t i) {
      return static_cast<double>(mixed(n + i) >> 11) * 0x1p-52 - 1.0;
    };
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = uniform(j + 1);
    y = refused(producer, sequence) ? std::numeric_limits<double>::quiet_NaN()
                                    : x[0] - 2 * x[1] + 0.5 * x[2] + uniform(9);
  }
  static bool refused(std::uint64_t producer, std::uint64_t sequence) {
    return mixed(producer << 40 | sequence) % 64 == 0;
  }
  std::array<double, kFeatures> x;
  double y;
};

// A linear model whose posterior is known in closed form, on a window smaller than the history.
inline EngineConfig exact_engine() {
  EngineConfig config = engine_on_disk();
  config.model.prior_precision = 1.0;
  config.model.intercept = false;
  config.standardize = Standardize::kOff;
  config.standardize_target = Standardize::kOff;
  config.window_size = 600;
  config.window_slack = 2'048;
  config.max_frame_rows = 256;
  return config;
}

// A log of which a life writes less than all.
inline ServerConfig small_log_on_disk(Folder* disk) {
  static const std::string kName = "disk";
  ServerConfig config = server_on_disk(kName, disk);
  config.max_sessions = 5;
  config.frame_cap = 8 << 10;
  config.drain_timeout = std::chrono::milliseconds(2);
  config.durable.log_options = {
      .bytes = 12 * (64 << 10), .segment_bytes = 64 << 10, .commit_bytes = 32 << 10};
  return config;
}

// What the log has been seen to hold, in its order.
class LoggedHistory {
 public:
  // Takes in what is new. Empty, or what is wrong: something is there twice, or gone.
  std::string read(Folder& folder) {
    const Result<LogIdentity> identity = read_log_identity(folder);
    if (!identity.ok()) {
      const bool none = identity.error().status == Status::kUnavailable && frames_ == 0;
      return none ? "" : identity.error().sentence;
    }
    if (frames_ > 0 && identity.value().instance != instance_) return "another history";
    instance_ = identity.value().instance;
    LogMemory memory(LogReader::footprint(identity.value().options));
    Result<LogReader> reader = LogReader::open(folder, frames_, memory.arena());
    if (!reader.ok()) return reader.error().sentence;
    LoggedFrame frame;
    std::span<const std::byte> payload;
    while (ok(reader.value().next(frame, payload))) {
      if (frame.head != rows_.size()) return "a frame with another head";
      std::uint64_t& next = next_[frame.producer - 1];
      const std::uint64_t begin = frame.next - frame.accepted - frame.refused;
      if (begin < next) return "rows of a producer twice";
      if (begin > next) return "rows of a producer missing";
      for (; next < frame.next; ++next) {
        if (!StreamRow::refused(frame.producer, next)) rows_.emplace_back(frame.producer, next);
      }
      if (rows_.size() != frame.head + frame.accepted) return "other rows than were sent";
      ++frames_;
    }
    const Error& end = reader.value().error();
    return end.status == Status::kClosed ? "" : end.sentence;
  }

  std::uint64_t instance() const { return instance_; }
  std::uint64_t rows() const { return rows_.size(); }  // accepted
  std::uint64_t next(std::uint64_t producer) const { return next_[producer - 1]; }

  // The mode of the posterior of the newest `window` rows.
  Eigen::VectorXd mode(std::size_t window) const {
    Eigen::MatrixXd a = Eigen::MatrixXd::Identity(kFeatures, kFeatures);
    Eigen::VectorXd b = Eigen::VectorXd::Zero(kFeatures);
    for (std::size_t i = rows_.size() - std::min(window, rows_.size()); i < rows_.size(); ++i) {
      const StreamRow row(rows_[i].first, rows_[i].second);
      const Eigen::Map<const Eigen::VectorXd> x(row.x.data(), kFeatures);
      a += x * x.transpose();
      b += row.y * x;
    }
    return a.llt().solve(b);
  }

 private:
  std::uint64_t instance_ = 0;
  std::uint64_t frames_ = 0;
  std::array<std::uint64_t, kStreams> next_{};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> rows_;  // producer and sequence number
};

// The server stands where the log ends: every producer, the rows, and the posterior of them.
inline void expect_stands_at(ServerLife& life, const LoggedHistory& history,
                             std::size_t window = exact_engine().window_size) {
  Client client;
  ASSERT_EQ(client.connect(life.observe()), Status::kOk) << client.error_text();
  for (std::uint64_t producer = 1; producer <= kStreams; ++producer) {
    v1::ProducerStatusResult standing;
    ASSERT_EQ(client.producer_status(producer, standing), Status::kOk) << client.error_text();
    ASSERT_EQ(standing.next(), history.next(producer)) << "producer " << producer;
    ASSERT_EQ(standing.durable_next(), history.next(producer)) << "producer " << producer;
  }
  client.close();
  ASSERT_EQ(life.engine().head(), history.rows()) << "lost, or learned twice";
  ASSERT_EQ(client.connect(life.query()), Status::kOk) << client.error_text();
  ASSERT_EQ(client.welcome().head(), history.rows());
  if (history.rows() < window / 2) return;  // a cold start waits for more
  std::vector<ParameterSummary> parameters;
  Provenance provenance;
  const std::uint64_t worth = std::min<std::uint64_t>(window, history.rows());
  const Eigen::VectorXd mode = history.mode(window);
  const auto is_there = [&](std::uint32_t j) {
    return std::abs(parameters[j].mode - mode[j]) <= 1e-9 * std::max(1.0, std::abs(mode[j]));
  };
  // A third of the window that comes at once joins the sums before what it replaces has left them:
  // the next pass, without any further row, puts them right.
  Status status = Status::kOk;
  const auto all_in = [&] {
    status = client.posterior(parameters, provenance);
    if (!ok(status)) return true;
    if (provenance.sequence != history.rows() || provenance.n_eff != worth) return false;
    for (std::uint32_t j = 0; j < kFeatures; ++j) {
      if (!is_there(j)) return false;
    }
    return true;
  };
  ASSERT_TRUE(eventually(all_in)) << provenance.sequence << " of " << history.rows() << ", n_eff "
                                  << provenance.n_eff << ", mode " << parameters[0].mode
                                  << " where " << mode[0] << " is right";
  ASSERT_EQ(status, Status::kOk) << client.error_text();
}

// A producer of a stream: where it stands after connecting, and what it has heard.
class StreamSender {
 public:
  StreamSender(std::uint64_t producer, ServerLife& life, std::uint64_t first) {
    producer_ = producer;
    next_ = first;
    const ClientOptions options = {
        .producer = producer, .first_sequence = first, .durability = v1::DURABILITY_LOGGED};
    error_ = client_.connect(life.observe(), options);
  }
  bool connected() const { return ok(error_); }
  // A frame, on its way.
  bool send(std::uint64_t rows) {
    std::vector<double> features;
    std::vector<double> targets;
    for (const std::uint64_t end = next_ + rows; next_ < end; ++next_) {
      const StreamRow row(producer_, next_);
      features.insert(features.end(), row.x.begin(), row.x.end());
      targets.push_back(row.y);
    }
    return ok(client_.send_observe({features, targets, {}, {}})) && ok(client_.flush());
  }
  // What has come, without waiting.
  bool listen() { return ok(client_.poll_acknowledgements()); }
  // What comes within a while: long enough to hear what a server sends that should not.
  bool listen_awhile() {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    do {
      if (!listen()) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } while (std::chrono::steady_clock::now() < until);
    return true;
  }
  // What comes until nothing is outstanding or the server has closed the connection.
  void listen_to_the_end() { (void)client_.wait_acknowledged(); }
  // What it has heard so far: these two do not listen.
  std::uint64_t outstanding() const { return client_.outstanding_frames(); }
  // Rows below are on disk, as it was told.
  std::uint64_t acknowledged() const {
    return client_.totals().frames_acknowledged > 0 ? client_.totals().producer_next : 0;
  }
  std::uint64_t duplicates() const { return client_.totals().duplicate; }
  std::uint64_t producer() const { return producer_; }
  Client& client() { return client_; }

 private:
  std::uint64_t producer_ = 0;
  std::uint64_t next_ = 0;
  Client client_;
  Status error_ = Status::kOk;
};

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_DURABLE_STREAM_ON_DISK_H_
