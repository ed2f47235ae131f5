// Labels that come late, in a conversation: what is asked with a key, and what happened then.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/labels_fixture.h"

namespace windhover::testing::labels_test {
namespace {

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
  EXPECT_EQ(shared.engine->labels().pending(), 1U);
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
  EXPECT_EQ(shared.engine->labels().pending(), 1U);
  while (shared.engine->poll(100) > 0) {
  }
  const auto responses = peer.take_turn(kTurnNs);
  ASSERT_EQ(responses.size(), 1U);
  EXPECT_EQ(responses[0].outcome_result().accepted(), 1U);
}

// Two keys are overdue, and the outcome of one of them, which waited, is joined first.
void expect_joined_before_silence(Shared& shared, Peer& peer) {
  settle_labels(shared.about, shared.state);
  EXPECT_EQ(shared.engine->labels().pending(), 2U);
  const auto responses = peer.take_turn(kTurnNs);
  ASSERT_EQ(responses.size(), 1U);
  EXPECT_EQ(responses[0].outcome_result().accepted(), 1U);
  settle_labels(shared.about, shared.state);
  EXPECT_EQ(shared.engine->labels().pending(), 0U);
}

// The outcome counts past its deadline too: it was told in time, and nobody settles while it waits.
TEST(LateLabels, AnOutcomeThatWaitsForTheWindowGoesBeforeSilence) {
  EngineConfig config = with_labels();
  config.window_slack = 64;
  config.max_frame_rows = 32;
  config.labels.timeout_outcome = 0;
  Shared shared(8, EndpointKind::kObserve, config);
  Peer peer(shared);
  (void)peer.ask(keyed({"a", "b"}));
  EXPECT_EQ(peer.send(0, 0, 32).observe_ack().accepted(), 32U);
  EXPECT_EQ(peer.send(0, 0, 32).observe_ack().accepted(), 32U);
  EXPECT_TRUE(peer.ask_all({outcome_of({"a"})}).empty());
  shared.clock.advance_ns(60 * kSecond);
  while (shared.engine->poll(100) > 0) {
  }
  expect_joined_before_silence(shared, peer);
}

TEST(LateLabels, AnOutcomeThatWaitsForTheLogGoesBeforeSilence) {
  EngineConfig config = with_labels();
  config.labels.timeout_outcome = 0;
  Shared shared(8, EndpointKind::kObserve, config);
  const LogProgress progress;
  FrameFeed feed(nullptr, progress, nullptr, {});
  shared.about.feed = &feed;
  Peer peer(shared);
  (void)peer.ask(keyed({"a", "b"}));
  EXPECT_TRUE(peer.ask_all({outcome_of({"a"})}).empty());
  EXPECT_EQ(peer.end, TurnEnd::kWindowFull) << "what the log holds is not learned again yet";
  shared.clock.advance_ns(60 * kSecond);
  feed.open(0);
  expect_joined_before_silence(shared, peer);
}

// Its frame moves in the connection's buffer meanwhile.
TEST(LateLabels, ALongQuestionKeepsItsKeysAsItIsAnswered) {
  Shared shared(8, EndpointKind::kObserve, with_labels());
  shared.model.limits.cost.row_ns = kTurnNs;
  Peer peer(shared);
  std::vector<std::string> keys;
  for (int i = 0; i < 20; ++i) keys.push_back("key " + std::to_string(i));
  peer.add(keyed(keys));
  std::vector<v1::Response> responses;
  std::uint64_t turns = 0;
  while (responses.empty() && turns < 100) {
    responses = peer.take_turn(kTurnNs);
    EXPECT_EQ(shared.engine->labels().pending(), ++turns) << "a row a turn";
    peer.move_input();
  }
  ASSERT_EQ(responses.size(), 1U);
  for (const v1::Prediction& p : responses[0].predict_result().predictions()) {
    EXPECT_EQ(p.pending(), v1::PENDING_KEY_KEPT);
  }
  EXPECT_EQ(peer.ask(outcome_of(keys)).outcome_result().accepted(), 20U);
}

TEST(LateLabels, AKeyIsCharged) {
  Shared shared(8, EndpointKind::kObserve, with_labels());
  Peer peer(shared);
  (void)peer.ask(predict_of(3, false));
  const std::int64_t without = peer.cost;
  (void)peer.ask(keyed({"a", "b", ""}));
  EXPECT_EQ(peer.cost - without, 3 * QuestionCost::kKeyNs);
}

TEST(LateLabels, TimeoutsAreSettledByTheEndpoint) {
  for (const bool has_outcome : {false, true}) {
    EngineConfig config = with_labels();
    if (has_outcome) config.labels.timeout_outcome = 0;
    Shared shared(8, EndpointKind::kObserve, config);
    Peer peer(shared);
    (void)peer.ask(keyed({"a", "b"}));
    shared.clock.advance_ns(59 * kSecond);
    EXPECT_FALSE(settle_labels(shared.about, shared.state));
    EXPECT_EQ(shared.engine->labels().pending(), 2U);
    shared.clock.advance_ns(kSecond);
    EXPECT_TRUE(settle_labels(shared.about, shared.state));
    EXPECT_FALSE(settle_labels(shared.about, shared.state));
    EXPECT_EQ(shared.engine->labels().pending(), 0U);
    EXPECT_EQ(shared.engine->head(), has_outcome ? 2U : 0U);
    EXPECT_EQ(shared.count(IoCounter::kRowsAccepted), shared.engine->head());
    EXPECT_EQ(shared.count(IoCounter::kRowsReceived), shared.engine->head());
    const v1::OutcomeResult late = peer.ask(outcome_of({"a"})).outcome_result();
    EXPECT_EQ(late.refused(), 1U);
    EXPECT_EQ(late.refused_reason(0), v1::REASON_KEY_TIMED_OUT);
  }
}

// Others have their turns in between.
TEST(LateLabels, TimeoutsAreSettledALittleAtATime) {
  for (const bool has_outcome : {false, true}) {
    EngineConfig config = with_labels(small_engine(), 1'024);
    if (has_outcome) config.labels.timeout_outcome = 0;
    Shared shared(8, EndpointKind::kObserve, config);
    Peer peer(shared);
    for (int first = 0; first < 960; first += 8) {
      std::vector<std::string> keys;
      for (int i = first; i < first + 8; ++i) keys.push_back(std::to_string(i));
      (void)peer.ask(keyed(keys));
    }
    shared.clock.advance_ns(60 * kSecond);
    std::uint64_t pending = 960;
    int steps = 0;
    while (settle_labels(shared.about, shared.state)) {
      EXPECT_LE(pending - shared.engine->labels().pending(), 256U);
      pending = shared.engine->labels().pending();
      ++steps;
    }
    EXPECT_EQ(pending, 0U);
    EXPECT_EQ(steps, 4);
    EXPECT_EQ(shared.engine->head(), has_outcome ? 960U : 0U);
  }
}

// Room for the keys of a question or an outcome, whichever may be longer, where any are kept.
TEST(LateLabels, ThereIsRoomForAsManyKeysAsThereMayBe) {
  const ServerConfig server = small_server();
  const auto limits_with = [&](std::uint32_t pending, std::uint32_t query, std::uint32_t rows) {
    EngineConfig config = with_labels(small_engine(), pending);
    config.max_query_rows = query;
    config.max_frame_rows = rows;
    return limits_of(server, with_defaults(config));
  };
  const auto bytes_of = [](const Limits& limits) {
    Arena arena = Arena::measuring();
    PredictScratch scratch(arena, limits);
    return arena.used();
  };
  EXPECT_EQ(limits_with(0, 1'024, 128).max_keys, 0U);
  EXPECT_EQ(limits_with(1, 1'024, 128).max_keys, 1'024U);
  EXPECT_EQ(limits_with(1, 128, 1'024).max_keys, 1'024U);
  EXPECT_EQ(bytes_of(limits_with(1, 1'024, 128)) - bytes_of(limits_with(0, 1'024, 128)),
            1'024 * sizeof(std::string_view));
  // No frame holds more.
  EngineConfig large = with_labels();
  large.max_frame_rows = 1 << 20;
  EXPECT_EQ(limits_of(server, large).max_keys, server.frame_cap / 10);

  EngineConfig config = with_labels();
  config.max_query_rows = 1;
  config.max_frame_rows = 1'024;
  Shared shared(8, EndpointKind::kObserve, config);
  Peer peer(shared);
  EXPECT_EQ(peer.ask(outcome_of(std::vector<std::string>(1'024))).outcome_result().refused(),
            1'024U);
}

}  // namespace
}  // namespace windhover::testing::labels_test
