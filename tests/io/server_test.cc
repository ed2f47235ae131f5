#include "windhover/io/server.h"

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
  EXPECT_EQ(status_with([](ServerConfig& c) { c.idle_timeout = {}; }), Status::kInvalidConfig);
  EXPECT_EQ(status_with([](ServerConfig& c) { c.query.tcp_address = "localhost"; }),
            Status::kInvalidConfig);
  EXPECT_EQ(status_with([](ServerConfig& c) { c.observe.tcp_address = {}; }),
            Status::kInvalidConfig);
  EXPECT_EQ(status_with([](ServerConfig& c) { c.observe.tcp_address = "0.0.0.0"; }),
            Status::kNotPermitted);
  ServerConfig any = small_server();
  any.observe.tcp_address = "0.0.0.0";
  any.allow_any_address = true;
  EXPECT_TRUE(check(any, engine).ok());
  EngineConfig few_readers = small_engine();
  few_readers.max_readers = kServerReaders - 1;
  EXPECT_EQ(check(small_server(), few_readers).status(), Status::kInvalidConfig);
}

TEST(Server, TakenPortIsRefusedByOpen) {
  TestServer first;
  RealClock clock;
  EngineConfig engine_config = small_engine();
  MappedBlock engine_block(Engine::footprint(engine_config).value());
  Engine* engine = Engine::create(engine_config, engine_block.bytes(), clock).value();
  ServerConfig config = small_server();
  config.observe.tcp_port = first.server().observe_port();
  MappedBlock block(Server::footprint(config, engine_config).value());
  auto server = Server::create(config, *engine, block.bytes(), clock);
  EXPECT_EQ(server.value()->open().status(), Status::kUnavailable);
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
  ASSERT_TRUE(eventually([&] { return server.server().observe_sessions() == 0; }));
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
  ASSERT_TRUE(eventually([&] { return server.server().observe_sessions() == 0; }));
  Client again;
  ASSERT_EQ(again.connect(server.observe_address(), {.producer = 9, .first_sequence = 101}),
            Status::kOk);
  EXPECT_EQ(again.observe(TestRows(5).rows()), Status::kSequenceGap);
  EXPECT_EQ(again.error_number(), 100U);
  EXPECT_EQ(again.totals().refused, 5U);
  EXPECT_EQ(server.engine().head(), 100U);
}

TEST(Server, SecondLiveConnectionOfAProducerIsRefused) {
  TestServer server;
  Client first;
  ASSERT_EQ(first.connect(server.observe_address(), {.producer = 3}), Status::kOk);
  Client second;
  EXPECT_EQ(second.connect(server.observe_address(), {.producer = 3}), Status::kProducerBusy);
  first.close();
  EXPECT_TRUE(
      eventually([&] { return ok(second.connect(server.observe_address(), {.producer = 3})); }));
}

TEST(Server, FullProducerTableRefuses) {
  TestServer server;
  for (std::uint64_t producer = 1; producer <= 16; ++producer) {
    Client client;
    ASSERT_EQ(client.connect(server.observe_address(), {.producer = producer}), Status::kOk);
    client.close();
    ASSERT_TRUE(eventually([&] { return server.server().observe_sessions() == 0; }));
  }
  Client one_more;
  EXPECT_EQ(one_more.connect(server.observe_address(), {.producer = 17}), Status::kTableFull);
  EXPECT_EQ(one_more.connect(server.observe_address(), {.producer = 16}), Status::kOk);
}

// --- Questions

TEST(Server, QuestionsAreAnsweredOnBothEndpoints) {
  TestServer server;
  Client client;
  ASSERT_EQ(client.connect(server.observe_address()), Status::kOk);
  ASSERT_EQ(client.observe(TestRows(3000).rows()), Status::kOk);
  for (const std::string& address : {server.observe_address(), server.query_address()}) {
    Client asker;
    ASSERT_EQ(asker.connect(address), Status::kOk);
    const std::vector<double> x = {0.5, 0.25, 0.5, 1, 1, 0};
    const std::vector<double> probabilities = {0.1, 0.9};
    PredictRequest request;
    request.rows = 2;
    request.features = x;
    request.quantile_probabilities = probabilities;
    std::vector<PredictiveSummary> summaries;
    Provenance provenance;
    ASSERT_EQ(asker.predict(request, summaries, provenance), Status::kOk) << asker.error_text();
    ASSERT_EQ(summaries.size(), 2U);
    EXPECT_LT(summaries[0].quantiles[0], summaries[0].quantiles[1]);

    std::vector<ParameterSummary> parameters;
    ASSERT_EQ(asker.posterior(parameters, provenance), Status::kOk);
    EXPECT_EQ(parameters.size(), kFeatures + 1);

    std::vector<double> theta;
    ASSERT_EQ(asker.draws(theta, provenance), Status::kOk) << asker.error_text();
    EXPECT_EQ(theta.size(), 64U * (kFeatures + 1));
    EXPECT_EQ(provenance.draws, 64U);

    v1::StatusResult status;
    ASSERT_EQ(asker.status(status), Status::kOk);
    EXPECT_EQ(status.head(), 3000U);
    EXPECT_EQ(status.io_counters_size(), static_cast<int>(IoCounter::kCount));
    EXPECT_EQ(status.observe_sessions() + status.query_sessions(), 2U);
    EXPECT_GT(status.resident_bytes(), status.footprint_bytes() / 100);
    asker.close();
    ASSERT_TRUE(eventually([&] {
      return server.server().observe_sessions() + server.server().query_sessions() == 1;
    }));
  }
}

TEST(Server, ClassProbabilitiesOfTheLargestQuestionFitAndAreThoseOfTheEngine) {
  EngineConfig config = small_engine();
  config.model.name = "softmax";
  config.model.classes = kMaxClasses;
  TestServer server(small_server(), config);
  Client client;
  ASSERT_EQ(client.connect(server.observe_address()), Status::kOk);
  EXPECT_EQ(client.welcome().model(), v1::MODEL_KIND_SOFTMAX);
  EXPECT_EQ(client.welcome().classes(), kMaxClasses);
  EXPECT_EQ(client.welcome().dimension(), (kMaxClasses - 1) * (kFeatures + 1));
  TestRows rows(300);
  for (std::size_t i = 0; i < 300; ++i) rows.targets[i] = static_cast<double>(i % 3);
  ASSERT_EQ(client.observe(rows.rows()), Status::kOk);
  const std::vector<double> x(32 * kFeatures, 0.5);
  const std::vector<double> outcomes(32, 2.0);
  PredictRequest request;
  request.rows = 32;
  request.features = x;
  request.outcomes = outcomes;
  std::vector<PredictiveSummary> summaries;
  Provenance provenance;
  ASSERT_EQ(client.predict(request, summaries, provenance), Status::kOk) << client.error_text();
  for (const PredictiveSummary& s : summaries) {
    ASSERT_EQ(s.classes, kMaxClasses);
    double total = 0;
    for (std::size_t c = 0; c < s.classes; ++c) {
      total += s.probs[c];
      EXPECT_GT(s.probs_sd[c], 0);
      EXPECT_LT(s.probs_eti_lower[c], s.probs_eti_upper[c]);
    }
    EXPECT_NEAR(total, 1.0, 1e-9);
    EXPECT_LT(s.log_score, 0);
  }
  request.thompson_id = 1;
  EXPECT_EQ(client.predict(request, summaries, provenance), Status::kUnsupported);
  rows.targets.back() = kMaxClasses;  // one too many
  ASSERT_EQ(client.observe(rows.rows()), Status::kOk);
  EXPECT_EQ(client.totals().refused, 1U);
}

TEST(Server, WrongQuestionIsRefusedAndTheConnectionStays) {
  TestServer server;
  Client client;
  ASSERT_EQ(client.connect(server.query_address()), Status::kOk);
  std::vector<PredictiveSummary> summaries;
  Provenance provenance;
  const std::vector<double> x(kFeatures + 1, 1.0);
  PredictRequest request;
  request.rows = 1;
  request.features = x;
  EXPECT_EQ(client.predict(request, summaries, provenance), Status::kWrongDimension);
  const std::vector<double> many(33 * kFeatures, 1.0);
  request.rows = 33;
  request.features = many;
  EXPECT_EQ(client.predict(request, summaries, provenance), Status::kTooLarge);
  EXPECT_EQ(client.error_number(), 32U);
  request.rows = 32;
  request.features = std::span(many).first(32 * kFeatures);
  EXPECT_EQ(client.predict(request, summaries, provenance), Status::kOk) << client.error_text();
}

TEST(Server, ObservingOnTheQueryEndpointIsUnsupported) {
  TestServer server;
  Client client;
  ASSERT_EQ(client.connect(server.query_address()), Status::kOk);
  EXPECT_EQ(client.observe(TestRows(5).rows()), Status::kUnsupported);
  v1::StatusResult status;
  EXPECT_EQ(client.status(status), Status::kOk);
}

TEST(Server, PipelinedQuestionsAreAnsweredInOrder) {
  TestServer server;
  Client client;
  ASSERT_EQ(client.connect(server.query_address()), Status::kOk);
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < 2000; ++i) {
    v1::Request request;
    request.mutable_predict()->set_rows(1);
    for (const double value : {1.0, 2.0, 3.0}) request.mutable_predict()->add_features_f64(value);
    ASSERT_EQ(client.send(request), Status::kOk);
    ids.push_back(request.id());
  }
  for (const std::uint64_t id : ids) {
    v1::Response response;
    ASSERT_EQ(client.receive(response), Status::kOk);
    EXPECT_EQ(response.id(), id);
    EXPECT_TRUE(response.has_predict_result());
  }
}

TEST(Server, LargestAnswersFitWhateverIsBehindThem) {
  // Pipelined answers larger than the reply buffer in sum: the session waits for room each time.
  TestServer server;
  Client client;
  ASSERT_EQ(client.connect(server.query_address()), Status::kOk);
  for (int i = 0; i < 100; ++i) {
    v1::Request request;
    v1::Predict* predict = request.mutable_predict();
    predict->set_rows(32);
    for (std::uint32_t j = 0; j < 32 * kFeatures; ++j) predict->add_features_f64(1.0);
    for (int j = 0; j < 16; ++j) predict->add_quantile_probabilities(0.5);
    for (int j = 0; j < 8; ++j) predict->add_thresholds(0.5);
    ASSERT_EQ(client.send(request), Status::kOk);
  }
  for (int i = 0; i < 100; ++i) {
    v1::Response response;
    ASSERT_EQ(client.receive(response), Status::kOk);
    ASSERT_EQ(response.predict_result().predictions_size(), 32);
    EXPECT_EQ(response.predict_result().predictions(31).exceedance_size(), 8);
  }
}

TEST(Server, TwoClientsPagingThroughDrawsBothFinish) {
  TestServer server;
  Client feeder;
  ASSERT_EQ(feeder.connect(server.observe_address()), Status::kOk);
  ASSERT_EQ(feeder.observe(TestRows(3000).rows()), Status::kOk);
  std::vector<std::thread> pagers;
  for (int i = 0; i < 2; ++i) {
    pagers.emplace_back([&] {
      Client client;
      ASSERT_EQ(client.connect(server.query_address()), Status::kOk);
      for (int round = 0; round < 20; ++round) {
        std::uint64_t snapshot = 0;
        for (std::uint32_t first = 0; first < 64; first += 4) {
          v1::Request request;
          request.mutable_draws()->set_snapshot_id(snapshot);
          request.mutable_draws()->set_first(first);
          request.mutable_draws()->set_count(4);
          v1::Response response;
          ASSERT_EQ(client.send(request), Status::kOk);
          ASSERT_EQ(client.receive(response), Status::kOk);
          ASSERT_TRUE(response.has_draws_result()) << response.DebugString();
          snapshot = response.draws_result().provenance().snapshot_id();
        }
      }
    });
  }
  for (std::thread& pager : pagers) pager.join();
}

}  // namespace
}  // namespace windhover
