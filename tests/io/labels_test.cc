// Labels that come late, over the wire: what is asked with a key, and what happened then.
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/access/identities.h"
#include "windhover/tests/io/conversation_fixture.h"
#include "windhover/tests/io/durable/server_on_disk.h"
#include "windhover/tests/io/http/http_peer.h"
#include "windhover/tests/io/served_models.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover::testing::labels_test {
namespace {

EngineConfig with_labels(EngineConfig config = small_engine(), std::uint32_t pending = 64) {
  config.labels.pending = pending;
  config.labels.timeout_seconds = 60;
  return config;
}

v1::Request keyed(std::vector<std::string> keys) {
  v1::Request request = predict_of(static_cast<std::uint32_t>(keys.size()), false);
  for (const std::string& key : keys) request.mutable_predict()->add_keys(key);
  return request;
}

v1::Request outcome_of(const std::vector<std::string>& keys, double target = 1) {
  v1::Request request;
  request.mutable_outcome();
  for (const std::string& key : keys) {
    request.mutable_outcome()->add_keys(key);
    request.mutable_outcome()->add_targets(target);
  }
  return request;
}

TEST(LateLabels, AKeyIsKeptAndItsOutcomeBecomesARow) {
  Shared shared(8, EndpointKind::kObserve, with_labels());
  Peer peer(shared);
  EXPECT_TRUE(peer.welcome.welcome().takes_keys());
  const v1::PredictResult asked = peer.ask(keyed({"a", "", "b"})).predict_result();
  ASSERT_EQ(asked.predictions_size(), 3);
  EXPECT_EQ(asked.predictions(0).pending(), v1::PENDING_KEY_KEPT);
  EXPECT_EQ(asked.predictions(1).pending(), v1::PENDING_KEY_NONE);
  EXPECT_EQ(asked.predictions(2).pending(), v1::PENDING_KEY_KEPT);
  EXPECT_EQ(peer.ask(keyed({"a"})).predict_result().predictions(0).pending(),
            v1::PENDING_KEY_REPLACED);
  v1::Request status;
  status.mutable_status();
  EXPECT_EQ(peer.ask(status).status_result().pending_keys(), 2U);
  const v1::OutcomeResult told = peer.ask(outcome_of({"b", "x", "a", "a"})).outcome_result();
  EXPECT_EQ(told.accepted(), 2U);
  EXPECT_EQ(told.refused(), 1U);
  EXPECT_EQ(told.duplicate(), 1U);
  EXPECT_EQ(told.head(), 2U);
  ASSERT_EQ(told.refused_key_size(), 1);
  EXPECT_EQ(told.refused_key(0), 1U);
  EXPECT_EQ(told.refused_reason(0), v1::REASON_UNKNOWN_KEY);
  EXPECT_EQ(shared.engine->head(), 2U);
  EXPECT_EQ(shared.count(IoCounter::kRowsReceived), 4U);
  EXPECT_EQ(shared.count(IoCounter::kRowsAccepted), 2U);
  EXPECT_EQ(shared.count(IoCounter::kRowsRefused), 1U);
  EXPECT_EQ(shared.count(IoCounter::kRowsDuplicate), 1U);
  EXPECT_EQ(peer.ask(outcome_of({})).outcome_result().head(), 2U);
}

// Rows and outcomes by turns: each Outcome has an answer of its own, in the order of all.
TEST(LateLabels, AnOutcomesAnswerMergesWithNoOther) {
  Shared shared(8, EndpointKind::kObserve, with_labels());
  Peer peer(shared);
  (void)peer.ask(keyed({"a", "b"}));
  const auto responses = peer.ask_all({observe_of(0, 0, 3), observe_of(0, 0, 2), outcome_of({"a"}),
                                       outcome_of({"b", "c"}), observe_of(0, 0, 1)});
  ASSERT_EQ(responses.size(), 4U);
  EXPECT_EQ(responses[0].observe_ack().accepted(), 5U);
  EXPECT_EQ(responses[1].outcome_result().accepted(), 1U);
  EXPECT_EQ(responses[2].outcome_result().accepted(), 1U);
  EXPECT_EQ(responses[2].outcome_result().refused(), 1U);
  EXPECT_EQ(responses[3].observe_ack().accepted(), 1U);
  for (std::size_t i = 1; i < responses.size(); ++i) {
    EXPECT_LT(responses[i - 1].id(), responses[i].id());
  }
}

TEST(LateLabels, WithoutThemKeysAreRefusedAndTheConnectionGoesOn) {
  Shared shared;
  Peer peer(shared);
  EXPECT_FALSE(peer.welcome.welcome().takes_keys());
  EXPECT_EQ(peer.ask(keyed({"a"})).refusal().reason(), v1::REASON_KEY_NOT_TAKEN);
  const v1::Refusal refusal = peer.ask(outcome_of({"a", "b"})).refusal();
  EXPECT_EQ(refusal.reason(), v1::REASON_KEY_NOT_TAKEN);
  EXPECT_FALSE(refusal.closing());
  EXPECT_EQ(shared.count(IoCounter::kRowsRefused), 2U);
  EXPECT_TRUE(peer.ask(predict_of(1, false)).has_predict_result());
}

TEST(LateLabels, WhatCannotBeIsRefused) {
  Shared shared(8, EndpointKind::kObserve, with_labels());
  Peer peer(shared);
  EXPECT_EQ(peer.ask(keyed({std::string(65, 'k')})).refusal().reason(),
            v1::REASON_INVALID_ARGUMENT);
  EXPECT_TRUE(peer.ask(keyed({std::string(64, 'k')})).has_predict_result());
  v1::Request many = outcome_of(std::vector<std::string>(small_engine().max_frame_rows + 1, "k"));
  const v1::Refusal refusal = peer.ask(many).refusal();
  EXPECT_EQ(refusal.reason(), v1::REASON_TOO_LARGE);
  EXPECT_EQ(refusal.number(), small_engine().max_frame_rows);
  v1::Request fewer = outcome_of({"a", "b"});
  fewer.mutable_outcome()->mutable_targets()->Truncate(1);
  EXPECT_EQ(peer.ask(fewer).refusal().reason(), v1::REASON_MALFORMED);
}

TEST(LateLabels, TheQueryEndpointKeepsKeysAndTakesNoOutcomes) {
  Shared shared(8, EndpointKind::kQuery, with_labels());
  Peer peer(shared);
  EXPECT_EQ(peer.ask(keyed({"a"})).predict_result().predictions(0).pending(), v1::PENDING_KEY_KEPT);
  EXPECT_EQ(peer.ask(outcome_of({"a"})).refusal().reason(), v1::REASON_UNSUPPORTED);
  EXPECT_EQ(shared.engine->pending_labels(), 1U);
}

TEST(LateLabels, AnOutcomeWaitsForTheWindow) {
  EngineConfig config = with_labels();
  config.window_slack = 64;
  config.max_frame_rows = 32;
  Shared shared(8, EndpointKind::kObserve, config);
  Peer peer(shared);
  (void)peer.ask(keyed({"a"}));
  EXPECT_EQ(peer.send(0, 0, 32).observe_ack().accepted(), 32U);
  EXPECT_EQ(peer.send(0, 0, 32).observe_ack().accepted(), 32U);
  EXPECT_TRUE(peer.ask_all({outcome_of({"a"})}).empty());
  EXPECT_EQ(peer.end, TurnEnd::kWindowFull);
  EXPECT_EQ(shared.engine->pending_labels(), 1U);
  while (shared.engine->poll(100) > 0) {
  }
  const auto responses = peer.take_turn(kTurnNs);
  ASSERT_EQ(responses.size(), 1U);
  EXPECT_EQ(responses[0].outcome_result().accepted(), 1U);
}

// A question that is answered in pieces, while its frame may move in the connection's buffer.
TEST(LateLabels, ALongQuestionKeepsItsKeysAtItsEnd) {
  Shared shared(8, EndpointKind::kObserve, with_labels());
  shared.model.limits.cost.row_ns = kTurnNs;
  Peer peer(shared);
  std::vector<std::string> keys;
  for (int i = 0; i < 20; ++i) keys.push_back("key " + std::to_string(i));
  peer.add(keyed(keys));
  std::vector<v1::Response> responses;
  int turns = 0;
  while (responses.empty() && turns < 100) {
    responses = peer.take_turn(kTurnNs);
    if (responses.empty()) {
      EXPECT_EQ(shared.engine->pending_labels(), 0U);
    }
    ++turns;
  }
  EXPECT_GT(turns, 2);
  ASSERT_EQ(responses.size(), 1U);
  for (const v1::Prediction& p : responses[0].predict_result().predictions()) {
    EXPECT_EQ(p.pending(), v1::PENDING_KEY_KEPT);
  }
  EXPECT_EQ(peer.ask(outcome_of(keys)).outcome_result().accepted(), 20U);
}

TEST(LateLabels, TimeoutsAreSettledByTheEndpoint) {
  for (const bool has_outcome : {false, true}) {
    EngineConfig config = with_labels();
    if (has_outcome) config.labels.timeout_outcome = 0;
    Shared shared(8, EndpointKind::kObserve, config);
    Peer peer(shared);
    (void)peer.ask(keyed({"a", "b"}));
    shared.clock.advance_ns(59 * kSecond);
    settle_labels(shared.about, shared.state);
    EXPECT_EQ(shared.engine->pending_labels(), 2U);
    shared.clock.advance_ns(kSecond);
    settle_labels(shared.about, shared.state);
    EXPECT_EQ(shared.engine->pending_labels(), 0U);
    EXPECT_EQ(shared.engine->head(), has_outcome ? 2U : 0U);
    EXPECT_EQ(shared.count(IoCounter::kRowsAccepted), shared.engine->head());
    EXPECT_EQ(shared.count(IoCounter::kRowsReceived), shared.engine->head());
    const v1::OutcomeResult late = peer.ask(outcome_of({"a"})).outcome_result();
    EXPECT_EQ(late.refused(), 1U);
    EXPECT_EQ(late.refused_reason(0), v1::REASON_KEY_TIMED_OUT);
  }
}

// --- Over sockets

PredictRequest about_row(const TestRows& rows, std::size_t row, const std::string_view& key) {
  PredictRequest request;
  request.rows = 1;
  request.features = std::span(rows.features).subspan(row * kFeatures, kFeatures);
  request.keys = {&key, 1};
  return request;
}

// Asked on one endpoint, told on the other: what is learned and scored is what was asked then.
TEST(LateLabels, FromAskingToTheScoreOverTcp) {
  EngineConfig engine = with_labels(small_engine(), 1'024);
  engine.score_predictions = true;
  TestServer server(small_server(), engine);
  Client asks;
  Client tells;
  ASSERT_EQ(asks.connect(server.query_address()), Status::kOk) << asks.error_text();
  ASSERT_EQ(tells.connect(server.observe_address()), Status::kOk) << tells.error_text();
  const auto scores_of = [&](std::uint64_t rows) {
    PredictionScores scores;
    EXPECT_TRUE(
        eventually([&] { return server.engine().scores(scores) && scores.offered == rows; }));
    // Counted before they are scored: a round later they are.
    const std::uint64_t polls = server.engine().polls();
    EXPECT_TRUE(eventually([&] { return server.engine().polls() > polls + 1; }));
    EXPECT_TRUE(server.engine().scores(scores));
    return scores.means.back();
  };
  const auto sum_of = [](const ScoreMeans& means) {
    return means.log_score * static_cast<double>(means.rows);
  };
  const TestRows rows(110);
  ASSERT_EQ(tells.observe(TestRows(10).rows()), Status::kOk);
  const ScoreMeans before = scores_of(10);
  std::vector<double> then;
  std::vector<std::string> names;
  std::vector<PredictiveSummary> answers;
  Provenance provenance;
  const auto ask = [&](std::size_t i, const std::string_view key) {
    PredictRequest request = about_row(rows, i, key);
    request.outcomes = {&rows.targets[i], 1};
    EXPECT_EQ(asks.predict(request, answers, provenance), Status::kOk) << asks.error_text();
    return answers[0];
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
  EXPECT_EQ(server.engine().head(), 110U);
  const ScoreMeans after = scores_of(110);
  double sum = 0;
  for (const double score : then) sum += score;
  EXPECT_TRUE(eventually([&] { return std::abs(ask(109, "").log_score - then[99]) > 1e-3; }))
      << "by now it would say something else";
  // A machine that is too busy leaves rows unscored.
  if (after.rows == before.rows + 100) {
    EXPECT_NEAR(sum_of(after) - sum_of(before), sum, 1e-9);
  }
  v1::StatusResult status;
  ASSERT_EQ(tells.status(status), Status::kOk);
  EXPECT_EQ(status.pending_keys(), 0U);
}

TEST(LateLabels, AClientSaysWhatIsMissing) {
  TestServer server;
  Client client;
  ASSERT_EQ(client.connect(server.observe_address()), Status::kOk);
  const TestRows rows(1);
  std::vector<PredictiveSummary> answers;
  Provenance provenance;
  EXPECT_EQ(client.predict(about_row(rows, 0, "a"), answers, provenance), Status::kKeyNotTaken);
  EXPECT_NE(client.error_text().find("labels.pending"), std::string::npos);
  const std::string_view key = "a";
  const double y = 1;
  v1::OutcomeResult told;
  EXPECT_EQ(client.outcomes({&key, 1}, {&y, 1}, told), Status::kKeyNotTaken);
  EXPECT_TRUE(client.connected());
}

TEST(LateLabels, TheServerSettlesWhatHasTimedOut) {
  EngineConfig engine = with_labels();
  engine.labels.timeout_seconds = 0.001;
  engine.labels.timeout_outcome = 0.25;
  TestServer server(small_server(), engine);
  Client client;
  ASSERT_EQ(client.connect(server.query_address()), Status::kOk);
  const TestRows rows(1);
  std::vector<PredictiveSummary> answers;
  Provenance provenance;
  ASSERT_EQ(client.predict(about_row(rows, 0, "a"), answers, provenance), Status::kOk);
  EXPECT_TRUE(eventually([&] { return server.engine().head() == 1; }));
  EXPECT_EQ(server.engine().pending_labels(), 0U);
  EXPECT_EQ(server.engine().counters().get(RuntimeCounter::kLabelsTimedOut), 1U);
}

// What is asked with a key becomes a row: it takes both roles.
TEST(LateLabels, KeysTakeBothRolesAndOutcomesThatOfRows) {
  const std::string file = write_identities("late_labels", token_line("feeder", "observe") +
                                                               token_line("reader", "query") +
                                                               token_line("shop", "observe,query"));
  ServerConfig config = small_server();
  config.identities_file = file;
  config.http.listen.tcp_address = "127.0.0.1";
  EngineConfig engine = with_labels();
  engine.max_readers = kServerReaders + kHttpReaders + 1;
  TestServer server(config, engine);
  const auto as = [](const char* name) {
    ClientOptions options;
    options.token = std::string(name) + "-token";
    return options;
  };
  const TestRows rows(1);
  std::vector<PredictiveSummary> answers;
  Provenance provenance;
  v1::OutcomeResult told;
  const std::string_view key = "a";
  const double y = 1;
  Client reader;
  ASSERT_EQ(reader.connect(server.observe_address(), as("reader")), Status::kOk);
  EXPECT_EQ(reader.predict(about_row(rows, 0, key), answers, provenance), Status::kNotPermitted);
  EXPECT_EQ(reader.error_number(), 1U) << "the role observe";
  PredictRequest plain = about_row(rows, 0, key);
  plain.keys = {};
  EXPECT_EQ(reader.predict(plain, answers, provenance), Status::kOk);
  EXPECT_EQ(reader.outcomes({&key, 1}, {&y, 1}, told), Status::kNotPermitted);
  Client feeder;
  ASSERT_EQ(feeder.connect(server.observe_address(), as("feeder")), Status::kOk);
  EXPECT_EQ(feeder.predict(about_row(rows, 0, key), answers, provenance), Status::kNotPermitted);
  EXPECT_EQ(feeder.error_number(), 2U) << "the role query";
  EXPECT_EQ(server.engine().pending_labels(), 0U);
  Client shop;
  ASSERT_EQ(shop.connect(server.observe_address(), as("shop")), Status::kOk);
  EXPECT_EQ(shop.predict(about_row(rows, 0, key), answers, provenance), Status::kOk);
  EXPECT_EQ(feeder.outcomes({&key, 1}, {&y, 1}, told), Status::kOk) << "who asked may be another";
  EXPECT_EQ(told.accepted(), 1U);
  EXPECT_EQ(shop.predict(about_row(rows, 0, "\xc3\xa4"), answers, provenance),
            Status::kInvalidArgument);
  EXPECT_TRUE(shop.connected());

  // Over HTTP likewise.
  HttpPeer http("127.0.0.1:" + std::to_string(server.server().http_port()));
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
TEST(LateLabels, EachModelHasItsOwnKeys) {
  ServedModels models({{"one", with_labels(small_engine_of(3))},
                       {"two", with_labels(small_engine_of(3), 1)},
                       {"none", small_engine_of(3)}},
                      small_server());
  const TestRows rows(1);
  std::vector<PredictiveSummary> answers;
  Provenance provenance;
  v1::OutcomeResult told;
  const std::string_view key = "a";
  const double y = 1;
  Client one, two, none;
  ASSERT_EQ(one.connect(models.observe_address(), about("one")), Status::kOk);
  ASSERT_EQ(two.connect(models.observe_address(), about("two")), Status::kOk);
  ASSERT_EQ(none.connect(models.observe_address(), about("none")), Status::kOk);
  EXPECT_FALSE(none.welcome().takes_keys());
  ASSERT_EQ(one.predict(about_row(rows, 0, key), answers, provenance), Status::kOk);
  ASSERT_EQ(two.outcomes({&key, 1}, {&y, 1}, told), Status::kOk);
  EXPECT_EQ(told.refused(), 1U);
  ASSERT_EQ(two.predict(about_row(rows, 0, key), answers, provenance), Status::kOk);
  EXPECT_EQ(answers[0].pending, PendingKey::kKept);
  ASSERT_EQ(two.predict(about_row(rows, 0, "b"), answers, provenance), Status::kOk);
  EXPECT_EQ(answers[0].pending, PendingKey::kTableFull);
  ASSERT_EQ(two.outcomes({&key, 1}, {&y, 1}, told), Status::kOk);
  ASSERT_EQ(one.outcomes({&key, 1}, {&y, 1}, told), Status::kOk);
  EXPECT_EQ(told.accepted(), 1U);
  EXPECT_EQ(models.engine(0).head(), 1U);
  EXPECT_EQ(models.engine(1).head(), 1U);
}

// Another model answers; the one that was asked about keeps the row, which is its own.
TEST(LateLabels, RowsAreKeptByTheModelAskedAbout) {
  EngineConfig champion = with_labels(small_engine_of(3));
  champion.max_followers = 1;
  EngineConfig challenger = small_engine_of(3);
  challenger.follows = true;
  ServedModels models({{"sales", champion}, {"sales-new", challenger, "sales"}}, small_server());
  Client client;
  ASSERT_EQ(client.connect(models.observe_address(), about("sales")), Status::kOk);
  v1::ChangeModel change;
  change.set_answered_by("sales-new");
  v1::ModelState state;
  ASSERT_EQ(client.change_model(change, state), Status::kOk) << client.error_text();
  const TestRows rows(1);
  std::vector<PredictiveSummary> answers;
  Provenance provenance;
  const std::string_view key = "a";
  const double y = 1;
  ASSERT_EQ(client.predict(about_row(rows, 0, key), answers, provenance), Status::kOk);
  EXPECT_EQ(answers[0].pending, PendingKey::kKept);
  EXPECT_EQ(models.engine(0).pending_labels(), 1U);
  v1::OutcomeResult told;
  ASSERT_EQ(client.outcomes({&key, 1}, {&y, 1}, told), Status::kOk);
  EXPECT_EQ(told.accepted(), 1U);
  EXPECT_TRUE(eventually([&] { return models.engine(1).head() == 1; }));
}

// An Outcome that was acknowledged is an observation that was: it is on disk. Keys are not.
TEST(LateLabels, JoinedRowsOutliveARestartAndPendingKeysDoNot) {
  const std::string folder = temporary_path("late_labels_kept");
  const EngineConfig engine = with_labels(engine_on_disk(), 1'024);
  const ServerConfig config = server_on_disk(folder);
  const TestRows rows(240);
  v1::OutcomeResult told;
  std::vector<ParameterSummary> before;
  {
    ServerLife life(config, engine);
    ASSERT_TRUE(life.opens()) << life.error();
    Client client;
    ASSERT_EQ(client.connect(life.observe()), Status::kOk);
    EXPECT_EQ(client.welcome().durability(), v1::DURABILITY_LOGGED);
    std::vector<PredictiveSummary> answers;
    Provenance provenance;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < 240; ++i) {
      names.push_back(std::to_string(i));
      const std::string_view key = names.back();
      ASSERT_EQ(client.predict(about_row(rows, i, key), answers, provenance), Status::kOk);
      if (i % 2 != 0) continue;
      ASSERT_EQ(client.outcomes({&key, 1}, {&rows.targets[i], 1}, told), Status::kOk);
      ASSERT_EQ(told.accepted(), 1U);
      EXPECT_EQ(told.durable_through(), told.head()) << "acknowledged is on disk";
    }
    EXPECT_EQ(life.engine().pending_labels(), 120U);
    before = life.settled(120);
  }
  ServerLife again(config, engine);
  ASSERT_TRUE(again.opens()) << again.error();
  const std::vector<ParameterSummary> after = again.settled(120);
  EXPECT_EQ(again.engine().head(), 120U);
  EXPECT_EQ(again.engine().pending_labels(), 0U);
  for (std::size_t j = 0; j < before.size(); ++j) {
    EXPECT_NEAR(before[j].mode, after[j].mode, 1e-6) << "as far as Newton's method has come";
  }
  Client client;
  ASSERT_EQ(client.connect(again.observe()), Status::kOk);
  const std::string_view joined = "0", pending = "1";
  ASSERT_EQ(client.outcomes({&joined, 1}, {rows.targets.data(), 1}, told), Status::kOk);
  EXPECT_EQ(told.refused_reason(0), v1::REASON_UNKNOWN_KEY) << "and its row is not there twice";
  ASSERT_EQ(client.outcomes({&pending, 1}, {rows.targets.data(), 1}, told), Status::kOk);
  EXPECT_EQ(told.refused_reason(0), v1::REASON_UNKNOWN_KEY);
  EXPECT_EQ(again.engine().head(), 120U);
}

}  // namespace
}  // namespace windhover::testing::labels_test
