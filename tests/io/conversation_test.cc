// What a conversation says of rows, and how they are acknowledged.
#include "windhover/tests/io/conversation_fixture.h"

namespace windhover {
namespace {

using testing::kSecond;
using testing::observe_of;
using testing::Peer;
using testing::predict_of;
using testing::Shared;
using testing::small_engine;

// Endpoints bind a model that comes between two requests: what it shares with others, megabytes of
// it where answers are large, is not written anew.
TEST(QueryHandler, BindingOneMoreLeavesTheScratchAlone) {
  Shared shared;
  shared.scratch.parameters[0].mean = 4711;
  shared.scratch.predict.summaries(1)[0].mean = 4712;
  QueryHandler another;
  another.bind(shared.state, EndpointKind::kQuery, shared.model, shared.scratch,
               shared.engine->reader().value(), shared.engine->reader().value());
  EXPECT_EQ(shared.scratch.parameters[0].mean, 4711);
  EXPECT_EQ(shared.scratch.predict.summaries(1)[0].mean, 4712);
}

// --- Producers

// Found from outside: this made every later row of the producer a duplicate, acknowledged and gone.
TEST(Conversation, ObserveWithoutRowsClaimsNothingAndChangesNothing) {
  Shared shared;
  Peer hostile(shared);
  const v1::Response nothing = hostile.send(42, std::uint64_t{1} << 63, 0);
  EXPECT_EQ(nothing.observe_ack().frames(), 1U);
  EXPECT_EQ(nothing.observe_ack().producer(), 42U);
  EXPECT_EQ(nothing.observe_ack().producer_next(), 0U);
  EXPECT_EQ(shared.producers.size(), 0U);
  Peer peer(shared);
  const v1::Response answer = peer.send(42, 0, 10);
  EXPECT_EQ(answer.observe_ack().accepted(), 10U);
  EXPECT_EQ(answer.observe_ack().duplicate(), 0U);
  EXPECT_EQ(hostile.send(42, 5, 0).observe_ack().producer_next(), 10U);
  EXPECT_EQ(shared.engine->head(), 10U);
}

TEST(Conversation, WelcomeSaysWhetherTheModelIsANetwork) {
  EngineConfig config = small_engine();
  for (const auto& [name, network] : {std::pair("linear", false), std::pair("mlp-linear", true)}) {
    config.model.name = name;
    Shared shared(8, EndpointKind::kQuery, config);
    EXPECT_EQ(Peer(shared).welcome.welcome().network(), network) << name;
  }
}

TEST(Conversation, WelcomeSaysWhichSchemaTheServerHas) {
  EngineConfig config = small_engine();
  for (const std::uint64_t fingerprint : {std::uint64_t{0}, std::uint64_t{0xfedcba9876543210}}) {
    config.schema_fingerprint = fingerprint;
    Shared shared(8, EndpointKind::kQuery, config);
    EXPECT_EQ(Peer(shared).welcome.welcome().schema_fingerprint(), fingerprint);
  }
}

TEST(Conversation, OffsetsAreTakenWhereWelcomeSaysSoAndOtherwiseRefused) {
  EngineConfig config = small_engine();
  for (const bool takes : {true, false}) {
    config.model.offset = takes;
    Shared shared(8, EndpointKind::kObserve, config);
    Peer peer(shared);
    EXPECT_EQ(peer.welcome.welcome().takes_offsets(), takes);
    v1::Request rows = observe_of(0, 0, 2);
    rows.mutable_observe()->add_offsets(0.5);
    rows.mutable_observe()->add_offsets(std::numeric_limits<double>::quiet_NaN());
    const v1::ObserveAck ack = peer.ask(rows).observe_ack();
    EXPECT_EQ(ack.accepted(), takes ? 1U : 0U);
    ASSERT_EQ(ack.refused_reason_size(), 1);
    EXPECT_EQ(ack.refused_reason(0),
              takes ? v1::REASON_OFFSET_OUT_OF_RANGE : v1::REASON_OFFSET_NOT_TAKEN);
    EXPECT_EQ(ack.refused_row(0), takes ? 1U : UINT32_MAX);
    v1::Request question = predict_of(2, false);
    for (const double offset : {0.0, 3.0}) question.mutable_predict()->add_offsets(offset);
    const v1::Response answer = peer.ask(question);
    if (!takes) {
      EXPECT_EQ(answer.refusal().reason(), v1::REASON_OFFSET_NOT_TAKEN);
      continue;
    }
    const v1::Response plain = peer.ask(predict_of(2, false));
    ASSERT_EQ(answer.predict_result().predictions_size(), 2);
    const auto mean = [](const v1::Response& r, int row) {
      return r.predict_result().predictions(row).mean();
    };
    EXPECT_DOUBLE_EQ(mean(answer, 0), mean(plain, 0));
    EXPECT_DOUBLE_EQ(mean(answer, 1), mean(plain, 1) + 3);
  }
}

TEST(Conversation, WeightsAreTakenWhereWelcomeSaysSoAndOtherwiseRefused) {
  EngineConfig config = small_engine();
  for (const bool takes : {true, false}) {
    config.model.weight = takes;
    Shared shared(8, EndpointKind::kObserve, config);
    Peer peer(shared);
    EXPECT_EQ(peer.welcome.welcome().takes_weights(), takes);
    v1::Request rows = observe_of(0, 0, 3);
    for (const double weight : {0.5, 0.0, 1e300}) rows.mutable_observe()->add_weights(weight);
    const v1::ObserveAck ack = peer.ask(rows).observe_ack();
    EXPECT_EQ(ack.accepted(), takes ? 1U : 0U);
    ASSERT_EQ(ack.refused_reason_size(), takes ? 2 : 1);
    EXPECT_EQ(ack.refused_reason(0),
              takes ? v1::REASON_WEIGHT_OUT_OF_RANGE : v1::REASON_WEIGHT_NOT_TAKEN);
    EXPECT_EQ(ack.refused_row(0), takes ? 1U : UINT32_MAX);
    EXPECT_EQ(peer.ask(observe_of(0, 0, 2)).observe_ack().accepted(), 2U);  // each counts as one
  }
}

TEST(Conversation, TrialsAreTakenAndNeededWhereWelcomeSaysSo) {
  EngineConfig config = small_engine();
  for (const bool takes : {true, false}) {
    config.model.name = takes ? "binomial" : "poisson";
    Shared shared(8, EndpointKind::kObserve, config);
    Peer peer(shared);
    EXPECT_EQ(peer.welcome.welcome().takes_trials(), takes);
    EXPECT_FALSE(peer.welcome.welcome().takes_offsets());
    EXPECT_EQ(peer.welcome.welcome().model(),
              takes ? v1::MODEL_KIND_BINOMIAL : v1::MODEL_KIND_POISSON);
    v1::Request rows = observe_of(0, 0, 4);
    for (const double trials : {5.0, 0.0, 2.5, 1e9}) rows.mutable_observe()->add_trials(trials);
    rows.mutable_observe()->set_targets_f64(3, 1e9 + 1);
    const v1::ObserveAck ack = peer.ask(rows).observe_ack();
    EXPECT_EQ(ack.accepted(), takes ? 1U : 0U);
    ASSERT_EQ(ack.refused_reason_size(), takes ? 3 : 1);
    EXPECT_EQ(ack.refused_reason(0),
              takes ? v1::REASON_TRIALS_OUT_OF_RANGE : v1::REASON_TRIALS_NOT_TAKEN);
    if (takes) {
      EXPECT_EQ(ack.refused_reason(2), v1::REASON_TARGET_OUT_OF_DOMAIN);
    }
    const v1::ObserveAck without = peer.ask(observe_of(0, 0, 2)).observe_ack();
    EXPECT_EQ(without.accepted(), takes ? 0U : 2U);
    if (takes) {
      EXPECT_EQ(without.refused_reason(0), v1::REASON_TRIALS_MISSING);
    }
    v1::Request question = predict_of(2, false);
    for (const double trials : {1.0, 200.0}) question.mutable_predict()->add_trials(trials);
    const v1::Response answer = peer.ask(question);
    if (!takes) {
      EXPECT_EQ(answer.refusal().reason(), v1::REASON_TRIALS_NOT_TAKEN);
      continue;
    }
    const v1::Response plain = peer.ask(predict_of(2, false));  // of 1 trial
    const auto mean = [](const v1::Response& r, int row) {
      return r.predict_result().predictions(row).mean();
    };
    EXPECT_DOUBLE_EQ(mean(answer, 0), mean(plain, 0));
    EXPECT_DOUBLE_EQ(mean(answer, 1), 200 * mean(plain, 1));
  }
}

// --- Acknowledgements

// Found from outside: merged, they named one producer for the rows of all.
TEST(Conversation, AcknowledgementCoversOneProducer) {
  Shared shared;
  Peer peer(shared);
  const std::vector<v1::Response> acks =
      peer.ask_all({observe_of(1, 0, 3), observe_of(1, 3, 4), observe_of(2, 0, 5),
                    observe_of(0, 0, 6), observe_of(1, 7, 1), observe_of(1, 8, 1)});
  ASSERT_EQ(acks.size(), 4U);
  const std::vector<std::vector<std::uint64_t>> expected = {
      {2 + 1, 1, 7, 2, 7}, {3 + 1, 2, 5, 1, 5}, {4 + 1, 0, 0, 1, 6}, {6 + 1, 1, 9, 2, 2}};
  for (std::size_t i = 0; i < acks.size(); ++i) {
    const v1::ObserveAck& ack = acks[i].observe_ack();
    EXPECT_EQ((std::vector<std::uint64_t>{acks[i].id(), ack.producer(), ack.producer_next(),
                                          ack.frames(), ack.accepted()}),
              expected[i]);
    EXPECT_EQ(ack.durable_through(), 0U);
  }
}

// The rows that it lists are those of its own frames.
TEST(Conversation, RefusedRowsAreListedWithTheirProducer) {
  Shared shared;
  Peer peer(shared);
  v1::Request bad = observe_of(2, 0, 2);
  bad.mutable_observe()->set_targets_f64(1, std::numeric_limits<double>::quiet_NaN());
  v1::Request wrong = observe_of(1, 0, 1);
  wrong.mutable_observe()->add_features_f64(1);
  const std::vector<v1::Response> acks = peer.ask_all({wrong, bad});
  ASSERT_EQ(acks.size(), 2U);
  ASSERT_EQ(acks[0].observe_ack().refused_row_size(), 1);
  EXPECT_EQ(acks[0].observe_ack().refused_row(0), UINT32_MAX);
  EXPECT_EQ(acks[0].observe_ack().producer_next(), 1U);
  ASSERT_EQ(acks[1].observe_ack().refused_row_size(), 1);
  EXPECT_EQ(acks[1].observe_ack().refused_request(0), acks[1].id());
  EXPECT_EQ(acks[1].observe_ack().refused_row(0), 1U);
}

// Many producers by turns, none of whose acknowledgements merge: the sender that does not read them
// is held back, and none is lost.
TEST(Conversation, AcknowledgementsOfManyProducersFindRoomOrWait) {
  Shared shared;
  Peer peer(shared);
  std::vector<v1::Request> frames;
  for (std::uint64_t i = 0; i < 2000; ++i) frames.push_back(observe_of(1 + i % 2, i / 2, 1));
  std::uint64_t acknowledged = 0;
  int turns = 0;
  for (; acknowledged < frames.size() && turns < 1000; ++turns) {
    const std::vector<v1::Request> rest(frames.begin() + static_cast<std::ptrdiff_t>(acknowledged),
                                        frames.end());
    for (const v1::Response& response : peer.ask_all(rest)) {
      acknowledged += response.observe_ack().frames();
    }
  }
  EXPECT_GT(turns, 1);
  EXPECT_EQ(acknowledged, frames.size());
  EXPECT_EQ(shared.engine->head(), frames.size());
}

// --- Rows only

TEST(Conversation, EndpointForRowsOnlyRefusesQuestionsButStatus) {
  Shared shared;
  shared.context.rows_only = true;
  Peer peer(shared);
  EXPECT_EQ(peer.send(7, 0, 3).observe_ack().accepted(), 3U);
  EXPECT_EQ(peer.where(7).next(), 3U);
  v1::Request request;
  request.mutable_status();
  EXPECT_TRUE(peer.ask(request).has_status_result());
  std::vector<v1::Request> refused = {predict_of(1, false), {}, {}, {}};
  refused[1].mutable_posterior_summary();
  refused[2].mutable_draws();
  refused[3].mutable_take_checkpoint();
  for (const v1::Request& question : refused) {
    const v1::Response answer = peer.ask(question);
    EXPECT_EQ(answer.refusal().reason(), v1::REASON_UNSUPPORTED) << question.ShortDebugString();
    EXPECT_FALSE(answer.refusal().closing());
  }
  EXPECT_EQ(shared.count(IoCounter::kUnsupportedRequests), 4U);
  EXPECT_EQ(peer.send(7, 3, 3).observe_ack().accepted(), 3U);
}

}  // namespace
}  // namespace windhover
