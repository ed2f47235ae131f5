// Labels that come late, over sockets: roles, several models, a restart, and the score of then.
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/access/identities.h"
#include "windhover/tests/io/durable/server_on_disk.h"
#include "windhover/tests/io/http/http_peer.h"
#include "windhover/tests/io/labels_fixture.h"
#include "windhover/tests/io/served_models.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover::testing::labels_test {
namespace {

// A client, and what it was answered last.
struct LabelClient {
  // Asks about a row with a key, "" for none.
  Status ask(const TestRows& rows, std::size_t row, std::string_view key) {
    PredictRequest request;
    request.rows = 1;
    request.features = std::span(rows.features).subspan(row * kFeatures, kFeatures);
    request.outcomes = {&rows.targets[row], 1};
    if (!key.empty()) request.keys = {&key, 1};
    return client.predict(request, answers, provenance);
  }
  Status tell(std::string_view key, double y) { return client.outcomes({&key, 1}, {&y, 1}, told); }

  Client client;
  std::vector<PredictiveSummary> answers;
  Provenance provenance;
  v1::OutcomeResult told;
};

// Asked on one endpoint, told on the other: what is learned and scored is what was asked then.
TEST(LateLabelsOverSockets, FromAskingToTheScoreOverTcp) {
  EngineConfig engine = with_labels(small_engine(), 1'024);
  engine.score_predictions = true;
  ServedModels models({{"late", engine}}, small_server());
  // No time is spent on scores, so there is always some left for more.
  models.clock().stop();
  LabelClient asks;
  Client tells;
  ASSERT_EQ(asks.client.connect(models.query_address()), Status::kOk);
  ASSERT_EQ(tells.connect(models.observe_address()), Status::kOk) << tells.error_text();
  const auto scores_of = [&](std::uint64_t rows) {
    PredictionScores scores;
    EXPECT_TRUE(
        eventually([&] { return models.engine(0).scores(scores) && scores.offered == rows; }));
    // Counted before they are scored: a round later they are.
    const std::uint64_t polls = models.engine(0).progress().polls();
    EXPECT_TRUE(eventually([&] { return models.engine(0).progress().polls() > polls + 1; }));
    EXPECT_TRUE(models.engine(0).scores(scores));
    return scores.means.back();
  };
  constexpr double kOff = 1e-9;  // rounding of a sum of 110 scores of about 1 is less
  const auto sum_of = [](const ScoreMeans& means) {
    return means.log_score * static_cast<double>(means.rows);
  };
  const TestRows rows(110);
  ASSERT_EQ(tells.observe(TestRows(10).rows()), Status::kOk);
  const ScoreMeans before = scores_of(10);
  std::vector<double> then;
  std::vector<std::string> names;
  const auto ask = [&](std::size_t i, const std::string_view key) {
    EXPECT_EQ(asks.ask(rows, i, key), Status::kOk) << asks.client.error_text();
    return asks.answers[0];
  };
  for (std::size_t i = 0; i < 100; ++i) {
    names.push_back("view/" + std::to_string(i));
    const PredictiveSummary answer = ask(10 + i, names.back());
    ASSERT_EQ(answer.pending, PendingKey::kKept);
    then.push_back(answer.log_score);
  }
  // The second half is learned from after the first, and scored by what was said before that.
  const std::vector<std::string_view> keys(names.begin(), names.end());
  v1::OutcomeResult told;
  for (const std::size_t first : {std::size_t{0}, std::size_t{50}}) {
    const auto some = std::span(keys).subspan(first, 50);
    const auto targets = std::span(rows.targets).subspan(10 + first, 50);
    ASSERT_EQ(tells.outcomes(some, targets, told), Status::kOk) << tells.error_text();
    EXPECT_EQ(told.accepted(), 50U);
    (void)scores_of(60 + first);
    ASSERT_EQ(tells.outcomes(some, targets, told), Status::kOk);
    EXPECT_EQ(told.duplicate(), 50U);
  }
  EXPECT_EQ(models.engine(0).head(), 110U);
  const ScoreMeans after = scores_of(110);
  double sum = 0;
  for (const double score : then) sum += score;
  EXPECT_TRUE(eventually([&] {
    return std::abs(ask(109, "").log_score - then[99]) > 1'000 * kOff;
  })) << "by now it would say something else";
  EXPECT_EQ(after.rows, before.rows + 100);
  EXPECT_NEAR(sum_of(after) - sum_of(before), sum, kOff);
  v1::StatusResult status;
  ASSERT_EQ(tells.status(status), Status::kOk);
  EXPECT_EQ(status.pending_keys(), 0U);
}

TEST(LateLabelsOverSockets, AClientSaysWhatIsMissing) {
  TestServer server;
  LabelClient client;
  ASSERT_EQ(client.client.connect(server.observe_address()), Status::kOk);
  const TestRows rows(1);
  EXPECT_EQ(client.ask(rows, 0, "a"), Status::kKeyNotTaken);
  EXPECT_NE(client.client.error_text().find("labels.pending"), std::string::npos);
  const std::string_view key = "a";
  const double y = 1;
  EXPECT_EQ(client.tell(key, y), Status::kKeyNotTaken);
  EXPECT_TRUE(client.client.connected());
}

TEST(LateLabelsOverSockets, TheServerSettlesWhatHasTimedOut) {
  EngineConfig engine = with_labels();
  engine.labels.timeout_seconds = 0.001;
  engine.labels.timeout_outcome = 0.25;
  TestServer server(small_server(), engine);
  LabelClient client;
  ASSERT_EQ(client.client.connect(server.query_address()), Status::kOk);
  const TestRows rows(1);
  ASSERT_EQ(client.ask(rows, 0, "a"), Status::kOk);
  EXPECT_TRUE(eventually([&] { return server.engine().head() == 1; }));
  EXPECT_EQ(server.engine().labels().pending(), 0U);
  EXPECT_EQ(server.engine().counters().get(RuntimeCounter::kLabelsTimedOut), 1U);
}

// The server needs more than one step.
TEST(LateLabelsOverSockets, TheServerSettlesManyThatHaveTimedOut) {
  EngineConfig engine = with_labels(small_engine_of(3), 2'048);
  engine.labels.timeout_outcome = 0.25;
  ServedModels models({{"late", engine}}, small_server());
  models.clock().stop();
  LabelClient client;
  ASSERT_EQ(client.client.connect(models.query_address()), Status::kOk);
  const TestRows rows(32);
  for (int first = 0; first < 2'048; first += 32) {
    std::vector<std::string> names;
    for (int i = first; i < first + 32; ++i) names.push_back(std::to_string(i));
    const std::vector<std::string_view> keys(names.begin(), names.end());
    PredictRequest request;
    request.rows = 32;
    request.features = rows.features;
    request.keys = keys;
    ASSERT_EQ(client.client.predict(request, client.answers, client.provenance), Status::kOk);
  }
  EXPECT_EQ(models.engine(0).labels().pending(), 2'048U);
  models.clock().pass(std::chrono::minutes(1));
  EXPECT_TRUE(eventually([&] { return models.engine(0).head() == 2'048; }));
  EXPECT_EQ(models.server().counters().get(IoCounter::kHandlerHeapFallbacks), 0U);
  EXPECT_EQ(models.engine(0).labels().pending(), 0U);
}

// What is asked with a key becomes a row: it takes both roles.
TEST(LateLabelsOverSockets, KeysTakeBothRolesAndOutcomesThatOfRows) {
  const std::string file = write_identities("late_labels", token_line("feeder", "observe") +
                                                               token_line("reader", "query") +
                                                               token_line("shop", "observe,query"));
  ServerConfig config = small_server();
  config.identities_file = file;
  config.http.listen.tcp_address = "127.0.0.1";
  EngineConfig engine = with_labels();
  engine.max_readers = kServerReaders + kHttpReaders + 1;
  engine.max_watchers = kServerWatchers + kHttpWatchers;
  TestServer server(config, engine);
  const auto as = [](const char* name) {
    ClientOptions options;
    options.token = std::string(name) + "-token";
    return options;
  };
  const TestRows rows(1);
  const std::string_view key = "a";
  const double y = 1;
  LabelClient reader;
  ASSERT_EQ(reader.client.connect(server.observe_address(), as("reader")), Status::kOk);
  EXPECT_EQ(reader.ask(rows, 0, key), Status::kNotPermitted);
  EXPECT_EQ(reader.client.error_number(), 1U) << "the role observe";
  EXPECT_EQ(reader.ask(rows, 0, ""), Status::kOk);
  EXPECT_EQ(reader.tell(key, y), Status::kNotPermitted);
  LabelClient feeder;
  ASSERT_EQ(feeder.client.connect(server.observe_address(), as("feeder")), Status::kOk);
  EXPECT_EQ(feeder.ask(rows, 0, key), Status::kNotPermitted);
  EXPECT_EQ(feeder.client.error_number(), 2U) << "the role query";
  EXPECT_EQ(server.engine().labels().pending(), 0U);
  LabelClient shop;
  ASSERT_EQ(shop.client.connect(server.observe_address(), as("shop")), Status::kOk);
  EXPECT_EQ(shop.ask(rows, 0, key), Status::kOk);
  EXPECT_EQ(feeder.tell(key, y), Status::kOk) << "who asked may be another";
  EXPECT_EQ(feeder.told.accepted(), 1U);
  EXPECT_EQ(shop.ask(rows, 0, "\xc3\xa4"), Status::kInvalidArgument);
  EXPECT_TRUE(shop.client.connected());

  // HTTP does the same.
  HttpPeer http("127.0.0.1:" + std::to_string(server.server().http().port));
  const auto post = [&](const char* who, const char* path, const std::string& body) {
    return http
        .ask("POST", path,
             "Content-Type: application/json\r\nAuthorization: Bearer " + std::string(who) +
                 "-token\r\n",
             body)
        .status;
  };
  const std::string question = R"({"rows": 1, "features_f64": [1, 2, 3], "keys": ["b"]})";
  const std::string outcome = R"({"keys": ["b"], "targets": [1]})";
  EXPECT_EQ(post("reader", "/v1/predict", question), 403U);
  EXPECT_EQ(post("feeder", "/v1/predict", question), 403U);
  EXPECT_EQ(post("shop", "/v1/predict", question), 200U);
  EXPECT_EQ(
      post("shop", "/v1/predict", R"({"rows": 1, "features_f64": [1, 2, 3], "keys": ["\u00e4"]})"),
      400U);
  EXPECT_EQ(post("shop", "/v1/outcome", R"({"keys": ["\u00e4"], "targets": [1]})"), 400U);
  EXPECT_EQ(post("shop", "/v1/outcome", R"({"keys": ["b", "c"], "targets": [1]})"), 400U);
  EXPECT_EQ(post("reader", "/v1/outcome", outcome), 403U);
  EXPECT_EQ(post("feeder", "/v1/outcome", outcome), 200U);
  EXPECT_EQ(server.engine().head(), 2U);
}

// Two models have a table each, and the same key in both is two keys.
TEST(LateLabelsOverSockets, EachModelHasItsOwnKeys) {
  ServedModels models({{"one", with_labels(small_engine_of(3))},
                       {"two", with_labels(small_engine_of(3), 1)},
                       {"none", small_engine_of(3)}},
                      small_server());
  const TestRows rows(1);
  const std::string_view key = "a";
  const double y = 1;
  LabelClient one, two, none;
  ASSERT_EQ(one.client.connect(models.observe_address(), about("one")), Status::kOk);
  ASSERT_EQ(two.client.connect(models.observe_address(), about("two")), Status::kOk);
  ASSERT_EQ(none.client.connect(models.observe_address(), about("none")), Status::kOk);
  EXPECT_FALSE(none.client.welcome().takes_keys());
  ASSERT_EQ(one.ask(rows, 0, key), Status::kOk);
  ASSERT_EQ(two.tell(key, y), Status::kOk);
  EXPECT_EQ(two.told.refused(), 1U);
  ASSERT_EQ(two.ask(rows, 0, key), Status::kOk);
  EXPECT_EQ(two.answers[0].pending, PendingKey::kKept);
  ASSERT_EQ(two.ask(rows, 0, "b"), Status::kOk);
  EXPECT_EQ(two.answers[0].pending, PendingKey::kTableFull);
  ASSERT_EQ(two.tell(key, y), Status::kOk);
  ASSERT_EQ(one.tell(key, y), Status::kOk);
  EXPECT_EQ(one.told.accepted(), 1U);
  EXPECT_EQ(models.engine(0).head(), 1U);
  EXPECT_EQ(models.engine(1).head(), 1U);
}

// None of the models that the server began with keeps any.
TEST(LateLabelsOverSockets, AnAddedModelKeepsKeysToo) {
  ServerConfig config = small_server();
  config.added.memory_bytes = 1 << 30;
  config.added.max_models = 2;
  ServedModels models({{"none", small_engine_of(3)}}, config);
  ASSERT_NE(models.add("late", with_labels(small_engine_of(3), 4'096)), nullptr);
  LabelClient client;
  ASSERT_EQ(client.client.connect(models.observe_address(), about("late")), Status::kOk);
  const TestRows rows(1);
  ASSERT_EQ(client.ask(rows, 0, "a"), Status::kOk);
  EXPECT_EQ(client.answers[0].pending, PendingKey::kKept);
  std::vector<std::string_view> keys(4'096, "");
  keys.back() = "a";
  ASSERT_EQ(client.client.outcomes(keys, std::vector<double>(4'096, 1.0), client.told),
            Status::kOk);
  EXPECT_EQ(client.told.accepted(), 1U);
  EXPECT_EQ(client.told.refused(), 4'095U);
}

// Another model answers; the one that was asked about keeps the row, which is its own.
TEST(LateLabelsOverSockets, RowsAreKeptByTheModelAskedAbout) {
  EngineConfig champion = with_labels(small_engine_of(3));
  champion.max_followers = 1;
  EngineConfig challenger = small_engine_of(3);
  challenger.follows = true;
  ServedModels models({{"sales", champion}, {"sales-new", challenger, "sales"}}, small_server());
  LabelClient client;
  ASSERT_EQ(client.client.connect(models.observe_address(), about("sales")), Status::kOk);
  v1::ChangeModel change;
  change.set_answered_by("sales-new");
  v1::ModelState state;
  ASSERT_EQ(client.client.change_model(change, state), Status::kOk) << client.client.error_text();
  const TestRows rows(1);
  const std::string_view key = "a";
  const double y = 1;
  ASSERT_EQ(client.ask(rows, 0, key), Status::kOk);
  EXPECT_EQ(client.answers[0].pending, PendingKey::kKept);
  EXPECT_EQ(models.engine(0).labels().pending(), 1U);
  ASSERT_EQ(client.tell(key, y), Status::kOk);
  EXPECT_EQ(client.told.accepted(), 1U);
  EXPECT_TRUE(eventually([&] { return models.engine(1).head() == 1; }));
}

// The model that answers may be another one in every way but its rows: the one that was asked about
// says beforehand whether it can keep them, and never that a question is too large for itself. Also
// of questions that are answered in pieces.
TEST(LateLabelsOverSockets, AModelKeepsRowsOfQuestionsThatItWouldNotAnswer) {
  constexpr std::size_t kMost = 500;
  EngineConfig champion = with_labels(small_engine_of(3, "poisson"), kMost);
  champion.max_followers = 1;
  champion.max_query_rows = 1;
  champion.model.offset = true;
  EngineConfig challenger = small_engine_of(3);
  challenger.follows = true;
  challenger.max_query_rows = kMost;
  challenger.model.offset = true;
  ServedModels models({{"sales", champion}, {"sales-new", challenger, "sales"}}, small_server());
  Client client;
  ASSERT_EQ(client.connect(models.observe_address(), about("sales")), Status::kOk);
  v1::ChangeModel change;
  change.set_answered_by("sales-new");
  v1::ModelState state;
  ASSERT_EQ(client.change_model(change, state), Status::kOk) << client.error_text();
  const TestRows rows(kMost);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kMost; ++i) names.push_back(std::to_string(i));
  const std::vector<std::string_view> keys(names.begin(), names.end());
  std::vector<double> offsets(kMost, 0.0);
  std::vector<PredictiveSummary> answers;
  Provenance provenance;
  ASSERT_GT(static_cast<std::int64_t>(kMost) * question_cost(challenger).row_ns, kTurnNs);
  for (const std::size_t count : {std::size_t{3}, kMost}) {
    PredictRequest request;
    request.rows = count;
    request.features = std::span(rows.features).first(count * kFeatures);
    request.keys = std::span(keys).first(count);
    offsets[count - 1] = 1'000;  // in range for a number, not for a logarithm
    request.offsets = std::span(offsets).first(count);
    EXPECT_EQ(client.predict(request, answers, provenance), Status::kOffsetOutOfRange);
    EXPECT_EQ(models.engine(0).counters().get(RuntimeCounter::kLabelsKept), 0U);
    request.keys = {};
    EXPECT_EQ(client.predict(request, answers, provenance), Status::kOk) << client.error_text();
  }
  offsets.assign(kMost, 0.0);
  for (const std::size_t count : {std::size_t{3}, kMost}) {
    PredictRequest request;
    request.rows = count;
    request.features = std::span(rows.features).first(count * kFeatures);
    request.keys = std::span(keys).first(count);
    request.offsets = std::span(offsets).first(count);
    ASSERT_EQ(client.predict(request, answers, provenance), Status::kOk) << client.error_text();
    for (std::size_t i = 0; i < count; ++i) EXPECT_NE(answers[i].pending, PendingKey::kNone);
    EXPECT_EQ(models.engine(0).labels().pending(), count);
  }
}

// An Outcome that was acknowledged is an observation that was: it is on disk. Keys asked about
// since the newest checkpoint are not.
TEST(LateLabelsOverSockets, JoinedRowsOutliveAKillAndKeysSinceTheCheckpointDoNot) {
  const std::string folder = temporary_path("late_labels_kept");
  const EngineConfig engine = with_labels(engine_on_disk(), 1'024);
  const ServerConfig config = server_on_disk(folder);
  const TestRows rows(240);
  std::vector<ParameterSummary> before;
  {
    ServerLife life(config, engine);
    ASSERT_TRUE(life.opens()) << life.error();
    LabelClient client;
    ASSERT_EQ(client.client.connect(life.observe()), Status::kOk);
    EXPECT_EQ(client.client.welcome().durability(), v1::DURABILITY_LOGGED);
    for (std::size_t i = 0; i < 240; ++i) {
      const std::string key = std::to_string(i);
      ASSERT_EQ(client.ask(rows, i, key), Status::kOk);
      if (i % 2 != 0) continue;
      ASSERT_EQ(client.tell(key, rows.targets[i]), Status::kOk);
      ASSERT_EQ(client.told.accepted(), 1U);
      EXPECT_EQ(client.told.durable_through(), client.told.head()) << "acknowledged is on disk";
    }
    EXPECT_EQ(life.engine().labels().pending(), 120U);
    before = life.settled(120);
  }
  ServerLife again(config, engine);
  ASSERT_TRUE(again.opens()) << again.error();
  const std::vector<ParameterSummary> after = again.settled(120);
  EXPECT_EQ(again.engine().head(), 120U);
  EXPECT_EQ(again.engine().labels().pending(), 0U);
  for (std::size_t j = 0; j < before.size(); ++j) {
    EXPECT_NEAR(before[j].mode, after[j].mode, 1e-6) << "as far as Newton's method has come";
  }
  LabelClient client;
  ASSERT_EQ(client.client.connect(again.observe()), Status::kOk);
  ASSERT_EQ(client.tell("0", rows.targets[0]), Status::kOk);
  EXPECT_EQ(client.told.refused_reason(0), v1::REASON_UNKNOWN_KEY)
      << "and its row is not there twice";
  ASSERT_EQ(client.tell("1", rows.targets[0]), Status::kOk);
  EXPECT_EQ(client.told.refused_reason(0), v1::REASON_UNKNOWN_KEY);
  EXPECT_EQ(again.engine().head(), 120U);
}

}  // namespace
}  // namespace windhover::testing::labels_test
