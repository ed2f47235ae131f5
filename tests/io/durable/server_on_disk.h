// A server that keeps a folder, in lives one after another.
#ifndef WINDHOVER_TESTS_IO_DURABLE_SERVER_ON_DISK_H_
#define WINDHOVER_TESTS_IO_DURABLE_SERVER_ON_DISK_H_

#include <algorithm>
#include <deque>
#include <fstream>
#include <functional>
#include <memory>
#include <string>

#include "windhover/tests/io/server_fixture.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover::testing {

inline EngineConfig engine_on_disk() {
  EngineConfig config = small_engine();
  config.checkpoints = true;
  config.max_followers = 1;
  return config;
}

inline ServerConfig server_on_disk(const std::string& folder, Folder* disk = nullptr) {
  ServerConfig config = small_server();
  config.durable.folder = folder;
  config.durable.disk = disk;
  config.durable.log_options = {
      .bytes = 16 << 20, .segment_bytes = 1 << 20, .commit_bytes = 512 << 10};
  config.durable.checkpoint_period = std::chrono::milliseconds(0);
  return config;
}

// Turns one byte over.
inline void flip(const std::string& path, std::streamoff at) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(at);
  const auto byte = static_cast<char>(file.get() ^ 0x20);
  file.seekp(at);
  file.put(byte);
  ASSERT_TRUE(file.good()) << path;
}

// The real one, set forward and back as a test likes.
class SteppedClock final : public Clock {
 public:
  std::int64_t now_ns() noexcept override { return real_.now_ns() + offset_ns_.load(); }
  void step(std::chrono::nanoseconds by) noexcept { offset_ns_ += by.count(); }

 private:
  RealClock real_;
  std::atomic<std::int64_t> offset_ns_{0};
};

// One life. Ending it writes no checkpoint unless asked: what is in the log is all there is.
class ServerLife {
 public:
  // `opened` is called when it is open and no thread is at work yet.
  explicit ServerLife(
      const ServerConfig& config, const EngineConfig& engine = engine_on_disk(),
      const std::function<void()>& opened = [] {})
      : engine_block_(Engine::footprint(engine).value()),
        server_block_(Server::footprint(config, engine).value()),
        engine_(Engine::create(engine, engine_block_.bytes(), clock_).value()),
        server_(Server::create(config, *engine_, server_block_.bytes(), clock_).value()) {
    if (const Result<bool> opens = server_->open(); !opens.ok()) {
      error_ = opens.error().sentence;
      if (error_.empty()) error_ = to_string(opens.error().status);
      error_number_ = errno_of(opens.error());
      return;
    }
    opened();
    EXPECT_EQ(server_->start(), Status::kOk);
    learner_ = std::thread([this] {
      IdleStrategy idle;
      while (!done_) {
        const int rounds = engine_->poll(64);
        if (rounds == 0) ++rests_;
        idle.idle(rounds);
      }
    });
  }
  ~ServerLife() { (void)end(false); }

  // kOk, or why there is no checkpoint.
  Status end(bool with_checkpoint) {
    if (!learner_.joinable()) return Status::kClosed;
    server_->request_stop();
    server_->join();
    done_ = true;
    learner_.join();
    EXPECT_EQ(server_->counters().get(IoCounter::kHandlerHeapFallbacks), 0U);
    return with_checkpoint ? server_->kept().checkpoint_at_rest() : Status::kOk;
  }

  bool opens() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  int error_number() const { return error_number_; }
  std::string observe() const { return "127.0.0.1:" + std::to_string(server_->observe().port); }
  std::string query() const { return "127.0.0.1:" + std::to_string(server_->query().port); }
  Server& server() { return *server_; }
  Engine& engine() { return *engine_; }
  SteppedClock& clock() { return clock_; }

  // Waits until all rows are in an answer, chains have made draws of it, and the learner has
  // nothing more to do: the first such answer may be of a refresh that the next one betters.
  std::vector<ParameterSummary> settled(std::uint64_t rows) {
    Client client;
    EXPECT_EQ(client.connect(query()), Status::kOk) << client.error_text();
    std::vector<ParameterSummary> summaries;
    Provenance provenance;
    const auto answered = [&] {
      return ok(client.posterior(summaries, provenance)) && provenance.sequence >= rows &&
             provenance.status != PosteriorStatus::kWarmingUp &&
             provenance.status != PosteriorStatus::kRecovering;
    };
    EXPECT_TRUE(eventually(answered))
        << "sequence " << provenance.sequence << " " << to_string(provenance.status) << " "
        << to_string(provenance.reason);
    // The second of two rests began after the answer.
    const std::uint64_t rests = rests_ + 2;
    EXPECT_TRUE(eventually([&] { return rests_ >= rests; }));
    EXPECT_TRUE(answered());
    return summaries;
  }
  // Asks for a checkpoint and waits for it.
  bool checkpoint() {
    const std::uint64_t number = server_->kept().request_checkpoint().value();
    return eventually([&] { return server_->kept().checkpoints().answered.load() >= number; }) &&
           server_->kept().checkpoints().status.load() == Status::kOk;
  }

 private:
  SteppedClock clock_;
  MappedBlock engine_block_;
  MappedBlock server_block_;
  Engine* engine_;
  std::unique_ptr<Server> server_;
  std::atomic<bool> done_{false};
  std::atomic<std::uint64_t> rests_{0};  // polls that found nothing to do
  std::thread learner_;
  std::string error_;
  int error_number_ = 0;
};

// What it tells of its disk, asked over the wire.
inline v1::Durable durable_of(ServerLife& life) {
  Client client;
  EXPECT_EQ(client.connect(life.query()), Status::kOk) << client.error_text();
  v1::StatusResult status;
  EXPECT_EQ(client.status(status), Status::kOk) << client.error_text();
  return status.durable();
}

// Lives on: configurations only point to it.
inline const std::string& new_folder() {
  static std::deque<std::string> folders;
  return folders.emplace_back(temporary_path("kept-" + std::to_string(folders.size())));
}

// Rows [first, first + count) of a producer, whose sequence numbers they are.
inline void send_rows(Client& client, std::size_t first, std::size_t count) {
  for (std::size_t at = first; at < first + count; at += 100) {
    const TestRows rows(std::min<std::size_t>(100, first + count - at), at);
    ASSERT_EQ(client.send_observe(rows.rows()), Status::kOk) << client.error_text();
  }
  ASSERT_EQ(client.wait_acknowledged(), Status::kOk) << client.error_text();
}

// Where a producer stands.
inline v1::ProducerStatusResult standing(ServerLife& life, std::uint64_t producer) {
  Client client;
  EXPECT_EQ(client.connect(life.observe()), Status::kOk) << client.error_text();
  v1::Request request;
  request.mutable_producer_status()->set_producer(producer);
  v1::Response response;
  EXPECT_EQ(client.send(request), Status::kOk);
  EXPECT_EQ(client.receive(response), Status::kOk);
  return response.producer_status_result();
}

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_DURABLE_SERVER_ON_DISK_H_
