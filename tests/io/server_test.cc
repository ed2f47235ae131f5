#include "windhover/io/server.h"

#include <cerrno>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/server_fixture.h"

namespace windhover {
namespace {

using testing::eventually;
using testing::kFeatures;
using testing::small_engine;
using testing::small_server;
using testing::TestRows;
using testing::TestServer;

const double kNaN = std::numeric_limits<double>::quiet_NaN();

// --- Configuration and memory

TEST(Server, FootprintIsExactAndOneByteLessIsRefused) {
  RealClock clock;
  const EngineConfig engine_config = small_engine();
  MappedBlock engine_block(Engine::footprint(engine_config).value());
  Engine* engine = Engine::create(engine_config, engine_block.bytes(), clock).value();
  const std::size_t bytes = Server::footprint(small_server(), engine_config).value();
  MappedBlock block(bytes);
  const auto refused =
      Server::create(small_server(), *engine, block.bytes().first(bytes - 1), clock);
  EXPECT_EQ(refused.status(), Status::kArenaTooSmall);
  EXPECT_EQ(refused.error().number, static_cast<double>(bytes));
  EXPECT_TRUE(Server::create(small_server(), *engine, block.bytes(), clock).ok());
}

TEST(Server, ImpossibleConfigurationsAreRefusedWithASentence) {
  const EngineConfig engine = small_engine();
  const auto status_with = [&](auto change) {
    ServerConfig config = small_server();
    change(config);
    const Result<bool> checked = check(config, engine);
    EXPECT_FALSE(std::string(checked.error().sentence).empty());
    return checked.status();
  };
  EXPECT_TRUE(check(small_server(), engine).ok());
  EXPECT_EQ(status_with([](ServerConfig& c) { c.frame_cap = 100; }), Status::kInvalidConfig);
  EXPECT_EQ(status_with([](ServerConfig& c) { c.max_sessions = 0; }), Status::kInvalidConfig);
  for (const auto timeout : {&ServerConfig::hello_timeout, &ServerConfig::frame_timeout,
                             &ServerConfig::answer_timeout, &ServerConfig::wait_timeout}) {
    EXPECT_EQ(status_with([timeout](ServerConfig& c) { c.*timeout = {}; }), Status::kInvalidConfig);
  }
  EXPECT_EQ(status_with([](ServerConfig& c) { c.idle_timeout = {}; }), Status::kInvalidConfig);
  EXPECT_EQ(status_with([](ServerConfig& c) { c.query.tcp_address = "localhost"; }),
            Status::kInvalidConfig);
  EXPECT_EQ(status_with([](ServerConfig& c) { c.observe.tcp_address = {}; }),
            Status::kInvalidConfig);
  EXPECT_EQ(status_with([](ServerConfig& c) { c.observe.tcp_address = "0.0.0.0"; }),
            Status::kNotPermitted);
  ServerConfig any = small_server();
  any.observe.tcp_address = "0.0.0.0";
  any.serve_anyone = true;
  EXPECT_TRUE(check(any, engine).ok());
  any.identities_file = "some file";
  EXPECT_EQ(check(any, engine).status(), Status::kInvalidConfig);
  any.serve_anyone = false;
  EXPECT_TRUE(check(any, engine).ok());
  EngineConfig few_readers = small_engine();
  few_readers.max_readers = kServerReaders - 1;
  EXPECT_EQ(check(small_server(), few_readers).status(), Status::kInvalidConfig);
  EngineConfig few_watchers = small_engine();
  few_watchers.max_readers = kServerReaders;
  few_watchers.max_watchers = kServerWatchers - 1;
  EXPECT_EQ(check(small_server(), few_watchers).status(), Status::kInvalidConfig);
  few_watchers.max_readers = kServerReaders + 1;  // which watch as well
  EXPECT_TRUE(check(small_server(), few_watchers).ok());
}

TEST(Server, TakenPortIsRefusedByOpen) {
  TestServer first;
  RealClock clock;
  EngineConfig engine_config = small_engine();
  MappedBlock engine_block(Engine::footprint(engine_config).value());
  Engine* engine = Engine::create(engine_config, engine_block.bytes(), clock).value();
  ServerConfig config = small_server();
  config.observe.tcp_port = first.server().observe().port;
  MappedBlock block(Server::footprint(config, engine_config).value());
  auto server = Server::create(config, *engine, block.bytes(), clock);
  const Result<bool> opened = server.value()->open();
  EXPECT_EQ(opened.status(), Status::kUnavailable);
  EXPECT_EQ(std::string(opened.error().sentence),
            "observe.tcp_address 127.0.0.1 with tcp_port " +
                std::to_string(first.server().observe().port) + " cannot be bound");
  EXPECT_EQ(errno_of(opened.error()), EADDRINUSE);
}

TEST(Server, StopBeforeStartReturnsAtOnce) {
  RealClock clock;
  const EngineConfig engine_config = small_engine();
  MappedBlock engine_block(Engine::footprint(engine_config).value());
  Engine* engine = Engine::create(engine_config, engine_block.bytes(), clock).value();
  MappedBlock block(Server::footprint(small_server(), engine_config).value());
  auto server = Server::create(small_server(), *engine, block.bytes(), clock);
  ASSERT_TRUE(server.value()->open().ok());
  server.value()->request_stop();
  server.value()->run_observe();
  server.value()->run_query();
}

// --- Observing

TEST(Server, WelcomeDescribesTheModelAndTheLimits) {
  TestServer server;
  Client client;
  ASSERT_EQ(client.connect(server.observe_address()), Status::kOk) << client.error_text();
  EXPECT_EQ(client.welcome().version(), 1U);
  EXPECT_EQ(client.welcome().features(), kFeatures);
  EXPECT_EQ(client.welcome().dimension(), kFeatures + 1);
  EXPECT_EQ(client.welcome().model(), v1::MODEL_KIND_LINEAR);
  EXPECT_EQ(client.welcome().max_rows(), 4096U);
  EXPECT_EQ(client.welcome().fingerprint(), server.engine().fingerprint());
  EXPECT_TRUE(client.welcome().observes());
  Client other;
  ASSERT_EQ(other.connect(server.query_address()), Status::kOk);
  EXPECT_FALSE(other.welcome().observes());
}

TEST(Server, RowsAreAcceptedOrRefusedOneByOne) {
  TestServer server;
  Client client;
  ASSERT_EQ(client.connect(server.observe_address()), Status::kOk);
  TestRows rows(100);
  rows.features[10 * kFeatures + 1] = kNaN;
  rows.targets[20] = kNaN;
  ASSERT_EQ(client.observe(rows.rows()), Status::kOk) << client.error_text();
  EXPECT_EQ(client.totals().sent, 100U);
  EXPECT_EQ(client.totals().accepted, 98U);
  EXPECT_EQ(client.totals().refused, 2U);
  EXPECT_EQ(server.engine().head(), 98U);
  const auto refused = client.take_refused_rows();
  ASSERT_EQ(refused.size(), 2U);
  EXPECT_EQ(refused[0].row, 10U);
  EXPECT_EQ(refused[1].row, 20U);
  EXPECT_EQ(refused[1].reason, Status::kNotFinite);
}

TEST(Server, FloatsOnTheWireAndSmallFramesGiveTheSame) {
  TestServer server;
  Client client;
  ClientOptions options;
  options.wire_float = true;
  options.max_rows_per_frame = 7;
  ASSERT_EQ(client.connect(server.observe_address(), options), Status::kOk);
  ASSERT_EQ(client.observe(TestRows(1000).rows()), Status::kOk);
  EXPECT_EQ(client.totals().accepted, 1000U);
  EXPECT_EQ(client.totals().frames_sent, 143U);
}

TEST(Server, WrongDimensionRefusesEveryRowOfTheFrameAndTheStreamGoesOn) {
  TestServer server;
  Client client;
  ASSERT_EQ(client.connect(server.observe_address(), {.producer = 5}), Status::kOk);
  const std::vector<double> two_columns(20, 1.0);
  const std::vector<double> targets(10, 1.0);
  ASSERT_EQ(client.observe({two_columns, targets, {}, {}}), Status::kOk);
  EXPECT_EQ(client.totals().refused, 10U);
  const auto refused = client.take_refused_rows();
  ASSERT_EQ(refused.size(), 10U);
  EXPECT_EQ(refused[9].row, 9U);
  EXPECT_EQ(refused[9].reason, Status::kWrongDimension);
  ASSERT_EQ(client.observe(TestRows(10).rows()), Status::kOk);
  EXPECT_EQ(client.totals().accepted, 10U);
}

TEST(Server, SparseRowsTravel) {
  EngineConfig engine_config = small_engine();
  engine_config.model.features = 1000;
  engine_config.model.max_nonzeros = 4;
  engine_config.sampler.name = "sgfs-d";
  if (!check(engine_config).ok()) GTEST_SKIP() << check(engine_config).error().sentence;
  TestServer server(small_server(), engine_config, false);
  Client client;
  ASSERT_EQ(client.connect(server.observe_address()), Status::kOk);
  const std::vector<double> values = {1, 2, 3, 4, 5};
  const std::vector<std::uint32_t> indices = {0, 999, 5, 4, 1000};
  const std::vector<std::uint32_t> row_ends = {2, 2, 4, 5};
  const std::vector<double> targets = {1, 2, 3, 4};
  ASSERT_EQ(client.observe({values, targets, indices, row_ends}), Status::kOk);
  EXPECT_EQ(client.totals().accepted, 2U);  // the third decreases, the fourth is out of range
  const auto refused = client.take_refused_rows();
  ASSERT_EQ(refused.size(), 2U);
  EXPECT_EQ(refused[0].reason, Status::kIndicesNotIncreasing);
  EXPECT_EQ(refused[1].reason, Status::kIndexOutOfRange);
}

TEST(Server, FullWindowHoldsTheSenderBackAndLosesNothing) {
  EngineConfig engine_config = small_engine();
  TestServer server(small_server(), engine_config, false);  // nobody learns: the window fills
  std::thread sender([&] {
    Client client;
    ASSERT_EQ(client.connect(server.observe_address()), Status::kOk);
    ASSERT_EQ(client.observe(TestRows(50'000).rows()), Status::kOk) << client.error_text();
    EXPECT_EQ(client.totals().accepted, 50'000U);
  });
  EXPECT_TRUE(eventually([&] { return server.counter(IoCounter::kWindowFullWaits) > 3; }));
  EXPECT_LE(server.engine().head(), engine_config.window_size + engine_config.window_slack);
  // Questions on the other endpoint do not wait.
  Client questions;
  ASSERT_EQ(questions.connect(server.query_address()), Status::kOk);
  v1::StatusResult status;
  EXPECT_EQ(questions.status(status), Status::kOk);
  server.learn(true);
  sender.join();
}

// --- Producers

TEST(Server, RowsSentTwiceAreDuplicates) {
  TestServer server;
  {
    Client client;
    ASSERT_EQ(client.connect(server.observe_address(), {.producer = 9}), Status::kOk);
    ASSERT_EQ(client.observe(TestRows(100).rows()), Status::kOk);
    EXPECT_EQ(client.totals().producer_next, 100U);
  }
  ASSERT_TRUE(eventually([&] { return server.server().observe().sessions == 0; }));
  Client again;
  ASSERT_EQ(again.connect(server.observe_address(), {.producer = 9, .first_sequence = 40}),
            Status::kOk);
  EXPECT_EQ(again.totals().producer_next, 100U);
  ASSERT_EQ(again.observe(TestRows(100).rows()), Status::kOk);
  EXPECT_EQ(again.totals().duplicate, 60U);
  EXPECT_EQ(again.totals().accepted, 40U);
  EXPECT_EQ(server.engine().head(), 140U);
}

TEST(Server, GapIsRefusedWithTheNumberExpected) {
  TestServer server;
  {
    Client client;
    ASSERT_EQ(client.connect(server.observe_address(), {.producer = 9}), Status::kOk);
    ASSERT_EQ(client.observe(TestRows(100).rows()), Status::kOk);
  }
  ASSERT_TRUE(eventually([&] { return server.server().observe().sessions == 0; }));
  Client again;
  ASSERT_EQ(again.connect(server.observe_address(), {.producer = 9, .first_sequence = 101}),
            Status::kOk);
  EXPECT_EQ(again.observe(TestRows(5).rows()), Status::kRefused);
  EXPECT_EQ(again.refusal(), v1::REASON_SEQUENCE_GAP);
  EXPECT_EQ(again.error_text(), "the server refuses: sequence_gap");
  EXPECT_EQ(again.error_number(), 100U);
  EXPECT_EQ(again.totals().refused, 5U);
  EXPECT_EQ(server.engine().head(), 100U);
}

TEST(Server, SecondLiveConnectionOfAProducerIsRefused) {
  TestServer server;
  Client first;
  ASSERT_EQ(first.connect(server.observe_address(), {.producer = 3}), Status::kOk);
  Client second;
  ASSERT_EQ(second.connect(server.observe_address(), {.producer = 3}), Status::kOk);
  ASSERT_EQ(first.observe(TestRows(5).rows()), Status::kOk);
  EXPECT_EQ(second.observe(TestRows(5).rows()), Status::kRefused);
  EXPECT_EQ(second.refusal(), v1::REASON_PRODUCER_BUSY);
  EXPECT_EQ(second.connect(server.observe_address(), {.producer = 3}), Status::kRefused);
  EXPECT_EQ(second.refusal(), v1::REASON_PRODUCER_BUSY);
  first.close();
  EXPECT_TRUE(
      eventually([&] { return ok(second.connect(server.observe_address(), {.producer = 3})); }));
}

TEST(Server, FullProducerTableRefuses) {
  TestServer server;
  for (std::uint64_t producer = 1; producer <= 15; ++producer) {  // one of 16 places is kept
    Client client;
    ASSERT_EQ(client.connect(server.observe_address(), {.producer = producer}), Status::kOk);
    ASSERT_EQ(client.observe(TestRows(10).rows()), Status::kOk);
    client.close();
    ASSERT_TRUE(eventually([&] { return server.server().observe().sessions == 0; }));
  }
  Client one_more;
  ASSERT_EQ(one_more.connect(server.observe_address(), {.producer = 16}), Status::kOk);
  EXPECT_EQ(one_more.observe(TestRows(10).rows()), Status::kRefused);
  EXPECT_EQ(one_more.refusal(), v1::REASON_TABLE_FULL);
  EXPECT_EQ(server.counter(IoCounter::kFramesRefusedTableFull), 1U);
  EXPECT_EQ(one_more.connect(server.observe_address(), {.producer = 15, .first_sequence = 10}),
            Status::kOk);
  EXPECT_EQ(one_more.observe(TestRows(10).rows()), Status::kOk);
  EXPECT_EQ(one_more.totals().accepted, 10U);
  Client drawn;  // for whom it is
  ASSERT_EQ(drawn.connect(server.observe_address()), Status::kOk);
  EXPECT_EQ(drawn.observe(TestRows(10).rows()), Status::kOk) << drawn.error_text();
}

}  // namespace
}  // namespace windhover
