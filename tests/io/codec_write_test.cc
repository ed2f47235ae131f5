#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/io/client.h"
#include "windhover/io/codec.h"
#include "windhover/io/framing.h"
#include "windhover/io/windhover.pb.h"

namespace windhover {
namespace {

v1::Response parse(std::span<const std::byte> bytes) {
  const FrameScan scan = scan_frame(bytes, UINT32_MAX);
  EXPECT_EQ(scan.kind, FrameScan::kFrame);
  EXPECT_EQ(scan.consumed, bytes.size());
  v1::Response response;
  EXPECT_TRUE(response.ParseFromArray(scan.frame.data(), static_cast<int>(scan.frame.size())));
  // What the server leaves out and what it writes is what a generated class would.
  EXPECT_EQ(response.ByteSizeLong(), scan.frame.size());
  return response;
}

template <class... Args>
v1::Response round_trip(std::size_t bound, Args&&... args) {
  std::vector<std::byte> out(bound);
  const std::size_t size = encode(args..., out);
  EXPECT_GT(size, 0U);
  EXPECT_LE(size, bound);
  // Exactly enough room is enough, one byte less is refused with nothing written.
  std::vector<std::byte> exact(size);
  EXPECT_EQ(encode(args..., exact), size);
  EXPECT_EQ(encode(args..., std::span(exact).first(size - 1)), 0U);
  return parse(exact);
}

Provenance full_provenance() {
  Provenance p;
  p.snapshot_id = p.sequence = p.n_seen = p.n_eff = p.steps = UINT64_MAX;
  p.age_ns = -5;
  p.draws = UINT32_MAX;
  p.ess_bulk = 1.5;
  p.r_hat = 1.01;
  p.draws_per_observation = 4;
  p.ou_ratio = -0.0;
  p.misspecification_index = std::numeric_limits<double>::infinity();
  p.noise_variance = 0.5;
  p.noise_variance_sd = 0.1;
  p.ess_tail = 2.5;
  p.autocorrelation_time = 21;
  p.score_autocorrelation = std::numeric_limits<double>::quiet_NaN();
  p.drift_score = 4.5;
  p.drift_onset = UINT64_MAX;
  p.drift_onset_time_ns = INT64_MIN;
  p.repeated_rows = 0.125;
  p.divergences = p.recovery_target = UINT64_MAX;
  p.status = PosteriorStatus::kDrifting;
  p.reason = StatusReason::kLostChains;
  p.law_ratio = 1.75;
  p.prior_conflict = 0.25;
  p.coverage_90 = 0.875;
  p.conformal_coverage_90 = 0.9375;
  p.horizon = Horizon::kAll;
  return p;
}

ScoresReply full_scores() {
  ScoresReply reply;
  reply.any = true;
  reply.scores.offered = UINT64_MAX;
  for (ScoreMeans& means : reply.scores.means) {
    means.memory = means.rows = UINT64_MAX;
    means.log_score = means.reference = -1.5;
    means.coverage.fill(0.75);
    means.pit.fill(0.125);
    means.conformal_coverage.fill(0.875);
    means.conformal_size = 1.25;
  }
  return reply;
}

void expect_same(const v1::Provenance& theirs, const Provenance& ours) {
  EXPECT_EQ(theirs.snapshot_id(), ours.snapshot_id);
  EXPECT_EQ(theirs.sequence(), ours.sequence);
  EXPECT_EQ(theirs.age_ns(), ours.age_ns);
  EXPECT_EQ(theirs.draws(), ours.draws);
  EXPECT_EQ(theirs.r_hat(), ours.r_hat);
  EXPECT_TRUE(std::signbit(theirs.ou_ratio()));
  EXPECT_EQ(theirs.misspecification_index(), ours.misspecification_index);
  EXPECT_EQ(theirs.noise_variance_sd(), ours.noise_variance_sd);
  EXPECT_EQ(theirs.ess_tail(), ours.ess_tail);
  EXPECT_EQ(theirs.autocorrelation_time(), ours.autocorrelation_time);
  EXPECT_TRUE(std::isnan(theirs.score_autocorrelation()));
  EXPECT_EQ(theirs.drift_score(), ours.drift_score);
  EXPECT_EQ(theirs.drift_onset(), ours.drift_onset);
  EXPECT_EQ(theirs.drift_onset_time_ns(), ours.drift_onset_time_ns);
  EXPECT_EQ(theirs.repeated_rows(), ours.repeated_rows);
  EXPECT_EQ(theirs.divergences(), ours.divergences);
  EXPECT_EQ(static_cast<int>(theirs.state()), static_cast<int>(ours.status));
  EXPECT_EQ(static_cast<int>(theirs.reason()), static_cast<int>(ours.reason));
  EXPECT_EQ(theirs.law_ratio(), ours.law_ratio);
  EXPECT_EQ(theirs.prior_conflict(), ours.prior_conflict);
  EXPECT_EQ(theirs.recovery_target(), ours.recovery_target);
  EXPECT_EQ(theirs.coverage_90(), ours.coverage_90);
  EXPECT_EQ(theirs.conformal_coverage_90(), ours.conformal_coverage_90);
  EXPECT_EQ(static_cast<int>(theirs.horizon()), static_cast<int>(ours.horizon));
}

TEST(Codec, WelcomeSurvivesTheWire) {
  WelcomeReply welcome;
  welcome.features = welcome.dimension = welcome.frame_cap = welcome.reply_cap = UINT32_MAX;
  welcome.max_rows = welcome.max_nonzeros = welcome.max_query_rows = UINT32_MAX;
  welcome.head = welcome.fingerprint = UINT64_MAX;
  welcome.model = ModelKind::kLogistic;
  welcome.observes = true;
  welcome.instance_id = welcome.durable_through = UINT64_MAX;
  welcome.durability = Durability::kLogged;
  welcome.max_producers = UINT32_MAX;
  const v1::Response response = round_trip(kSmallReplyBound, std::uint64_t{UINT64_MAX}, welcome);
  EXPECT_EQ(response.id(), UINT64_MAX);
  EXPECT_EQ(response.welcome().version(), 1U);
  EXPECT_EQ(response.welcome().fingerprint(), UINT64_MAX);
  EXPECT_EQ(response.welcome().model(), v1::MODEL_KIND_LOGISTIC);
  EXPECT_TRUE(response.welcome().observes());
  EXPECT_EQ(response.welcome().max_quantiles(), kMaxQuantiles);
  EXPECT_EQ(response.welcome().instance_id(), UINT64_MAX);
  EXPECT_EQ(response.welcome().durability(), v1::DURABILITY_LOGGED);
  EXPECT_EQ(response.welcome().durable_through(), UINT64_MAX);
  EXPECT_EQ(response.welcome().max_producers(), UINT32_MAX);
}

TEST(Codec, LargestAcknowledgementFitsItsBound) {
  ObserveAckReply ack;
  ack.id = ack.producer = ack.producer_next = ack.accepted = ack.refused = ack.duplicate =
      UINT64_MAX;
  ack.head = ack.durable_through = UINT64_MAX;
  ack.frames = UINT32_MAX;
  ack.listed_count = ObserveAckReply::kMaxListed;
  ack.listed.fill({UINT64_MAX, ObserveAckReply::kWholeFrame, Status::kIoError});
  const v1::Response response = round_trip(kSmallReplyBound, ack);
  EXPECT_EQ(response.observe_ack().accepted(), UINT64_MAX);
  EXPECT_EQ(response.observe_ack().producer(), UINT64_MAX);
  ASSERT_EQ(response.observe_ack().refused_row_size(), 64);
  EXPECT_EQ(response.observe_ack().refused_request(63), UINT64_MAX);
  EXPECT_EQ(response.observe_ack().refused_reason(0), static_cast<std::uint32_t>(Status::kIoError));
}

TEST(Codec, PredictionsSurviveTheWireWithinTheirBound) {
  const Provenance provenance = full_provenance();
  std::vector<PredictiveSummary> summaries(3);
  for (PredictiveSummary& s : summaries) {
    double next = 1;
    for (double* field : {&s.linpred_mean,
                          &s.linpred_sd,
                          &s.epred_mean,
                          &s.epred_sd,
                          &s.mean,
                          &s.sd,
                          &s.var_epistemic,
                          &s.var_aleatoric,
                          &s.interval_lower,
                          &s.interval_upper,
                          &s.entropy,
                          &s.expected_entropy,
                          &s.mutual_information,
                          &s.log_score,
                          &s.pit,
                          &s.crps,
                          &s.brier,
                          &s.prob_best,
                          &s.expected_regret,
                          &s.thompson,
                          &s.conformal_lower,
                          &s.conformal_upper,
                          &s.conformal_alpha}) {
      *field = next++;
    }
    for (double& q : s.quantiles) q = next++;
    for (double& e : s.exceedance) e = next++;
    s.classes = kMaxClasses;
    s.conformal_set = ~std::uint64_t{0};
    for (auto* list : {&s.probs, &s.probs_sd, &s.probs_eti_lower, &s.probs_eti_upper}) {
      for (double& value : *list) value = next++;
    }
  }
  const v1::Response response = round_trip(
      predict_reply_bound(3, kMaxQuantiles, kMaxThresholds, kMaxClasses), std::uint64_t{7},
      PredictReply{&provenance, summaries, kMaxQuantiles, kMaxThresholds});
  expect_same(response.predict_result().provenance(), provenance);
  ASSERT_EQ(response.predict_result().predictions_size(), 3);
  const v1::Prediction& p = response.predict_result().predictions(2);
  EXPECT_EQ(p.linpred_mean(), 1);
  EXPECT_EQ(p.interval_upper(), 10);
  EXPECT_EQ(p.entropy(), 11);
  EXPECT_EQ(p.thompson(), 20);
  EXPECT_EQ(p.conformal_lower(), 21);
  EXPECT_EQ(p.conformal_upper(), 22);
  EXPECT_EQ(p.conformal_alpha(), 23);
  ASSERT_EQ(p.conformal_set_size(), 64);
  for (int c = 0; c < 64; ++c) EXPECT_EQ(p.conformal_set(c), static_cast<std::uint32_t>(c));
  ASSERT_EQ(p.quantiles_size(), 16);
  EXPECT_EQ(p.quantiles(15), 39);
  ASSERT_EQ(p.exceedance_size(), 8);
  EXPECT_EQ(p.exceedance(7), 47);
  ASSERT_EQ(p.probs_size(), 64);
  EXPECT_EQ(p.probs(63), 111);
  EXPECT_EQ(p.probs_sd(63), 175);
  EXPECT_EQ(p.probs_eti_lower(63), 239);
  EXPECT_EQ(p.probs_eti_upper(63), 303);
}

TEST(Codec, PosteriorAndDrawsSurviveTheWireWithinTheirBounds) {
  const Provenance provenance = full_provenance();
  const std::vector<ParameterSummary> parameters(100,
                                                 {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14});
  const v1::Response posterior = round_trip(posterior_reply_bound(100), std::uint64_t{7},
                                            PosteriorReply{&provenance, parameters});
  const v1::PosteriorSummaryResult& p = posterior.posterior_summary_result();
  expect_same(p.provenance(), provenance);
  ASSERT_EQ(p.r_hat_size(), 100);
  EXPECT_EQ(p.mean(99), 1);
  EXPECT_EQ(p.sd_robust(99), 4);
  EXPECT_EQ(p.r_hat(99), 9);
  EXPECT_EQ(p.ess_tail(99), 10);
  EXPECT_EQ(p.mcse_mean(99), 11);
  EXPECT_EQ(p.autocorrelation_time(99), 12);
  EXPECT_EQ(p.prior_precision(99), 13);
  EXPECT_EQ(p.drift_score(99), 14);

  std::vector<double> theta(100 * 7);
  for (std::size_t i = 0; i < theta.size(); ++i) theta[i] = static_cast<double>(i);
  const v1::Response draws = round_trip(draws_reply_bound(100, 7), std::uint64_t{7},
                                        DrawsReply{&provenance, 100, UINT32_MAX, theta});
  expect_same(draws.draws_result().provenance(), provenance);
  ASSERT_EQ(draws.draws_result().theta_size(), 700);
  EXPECT_EQ(draws.draws_result().theta(699), 699);
}

TEST(Codec, ProducerStatusSurvivesTheWire) {
  const v1::Response response =
      round_trip(kSmallReplyBound, std::uint64_t{7},
                 ProducerStatusReply{UINT64_MAX, true, UINT64_MAX - 1, UINT64_MAX - 2, true});
  const v1::ProducerStatusResult& status = response.producer_status_result();
  EXPECT_EQ(status.producer(), UINT64_MAX);
  EXPECT_TRUE(status.known());
  EXPECT_EQ(status.next(), UINT64_MAX - 1);
  EXPECT_EQ(status.durable_next(), UINT64_MAX - 2);
  EXPECT_TRUE(status.live());
}

TEST(Codec, TakeCheckpointSurvivesTheWire) {
  const v1::Response response =
      round_trip(kSmallReplyBound, std::uint64_t{7},
                 TakeCheckpointReply{UINT64_MAX, true, UINT64_MAX - 1, Status::kTimeout});
  const v1::TakeCheckpointResult& result = response.take_checkpoint_result();
  EXPECT_EQ(result.request(), UINT64_MAX);
  EXPECT_TRUE(result.answered());
  EXPECT_EQ(result.taken(), UINT64_MAX - 1);
  EXPECT_EQ(result.status(), v1::REASON_TIMEOUT);
}

TEST(Codec, StatesOfModelsSurviveTheWire) {
  const std::string name(63, 'n');
  ModelStateReply state;
  state.name = state.follows = state.answered_by = name;
  state.model = ModelKind::kSoftmax;
  state.features = state.dimension = UINT32_MAX;
  state.fingerprint = state.head = UINT64_MAX;
  state.provenance = full_provenance();
  state.paused = true;
  state.scores = full_scores();
  const std::vector<ModelStateReply> states(ListModelsReply::kMostStates, state);
  const v1::Response response = round_trip(kStatusReplyBound, std::uint64_t{7},
                                           ListModelsReply{UINT32_MAX, UINT32_MAX - 1, states});
  const v1::ListModelsResult& result = response.list_models_result();
  EXPECT_EQ(result.models(), UINT32_MAX);
  EXPECT_EQ(result.first(), UINT32_MAX - 1);
  ASSERT_EQ(result.states_size(), static_cast<int>(states.size()));
  const v1::ModelState& last = result.states(result.states_size() - 1);
  EXPECT_EQ(last.name(), name);
  EXPECT_EQ(last.follows(), name);
  EXPECT_EQ(last.answered_by(), name);
  EXPECT_EQ(last.model(), v1::MODEL_KIND_SOFTMAX);
  EXPECT_EQ(last.fingerprint(), UINT64_MAX);
  EXPECT_TRUE(last.paused());
  EXPECT_EQ(last.score().rows(), UINT64_MAX);
  EXPECT_EQ(last.score().log_score(), -1.5);
  EXPECT_EQ(last.score().coverage_95(), 0.75);
  EXPECT_EQ(last.score().conformal_coverage_50(), 0.875);
  EXPECT_EQ(last.score().conformal_coverage_95(), 0.875);
  EXPECT_EQ(last.score().conformal_size(), 1.25);
  EXPECT_EQ(last.score().pit_size(), 0);  // of Status alone
  expect_same(last.provenance(), state.provenance);
  const v1::Response changed =
      round_trip(kStatusReplyBound, std::uint64_t{7}, ChangeModelReply{&state});
  EXPECT_EQ(changed.change_model_result().state().name(), name);
}

TEST(Codec, EventsSurviveTheWire) {
  Event event;
  event.id = event.times = event.row = event.drift_onset = UINT64_MAX;
  event.time_ns = event.first_time_ns = event.drift_onset_time_ns = INT64_MIN;
  event.kind = EventKind::kWentOn;
  event.from = PosteriorStatus::kRecovering;
  event.status = PosteriorStatus::kDrifting;
  event.reason = StatusReason::kPredictive;
  event.number = 4.5;
  event.before = -0.0;
  const std::vector<Event> events(kMostEvents, event);
  const v1::Response response = round_trip(kStatusReplyBound, UINT64_MAX, ListEventsReply{events});
  ASSERT_EQ(response.list_events_result().events_size(), static_cast<int>(events.size()));
  const v1::Event& last = *response.list_events_result().events().rbegin();
  EXPECT_EQ(last.times(), event.times);
  EXPECT_EQ(last.time_ns(), event.time_ns);
  EXPECT_EQ(last.kind(), v1::EVENT_KIND_WENT_ON);
  const Event read = event_of(last);
  EXPECT_EQ(read.id, event.id);
  EXPECT_EQ(read.first_time_ns, event.first_time_ns);
  EXPECT_EQ(read.row, event.row);
  EXPECT_EQ(read.kind, event.kind);
  EXPECT_EQ(read.from, event.from);
  EXPECT_EQ(read.status, event.status);
  EXPECT_EQ(read.reason, event.reason);
  EXPECT_EQ(read.number, event.number);
  EXPECT_TRUE(std::signbit(read.before));
  EXPECT_EQ(read.drift_onset, event.drift_onset);
  EXPECT_EQ(read.drift_onset_time_ns, event.drift_onset_time_ns);
}

TEST(Codec, WhatBecameOfAnOrderSurvivesTheWire) {
  const std::string error(HostModelReply::kMostError, 'e');
  const v1::Response response =
      round_trip(kSmallReplyBound, std::uint64_t{9},
                 HostModelReply{UINT64_MAX, true, Status::kArenaTooSmall, error, 7, UINT64_MAX});
  const v1::HostModelResult& result = response.host_model_result();
  EXPECT_EQ(result.request(), UINT64_MAX);
  EXPECT_TRUE(result.finished());
  EXPECT_EQ(result.reason(), v1::REASON_ARENA_TOO_SMALL);
  EXPECT_EQ(result.error(), error);
  EXPECT_EQ(result.needed_bytes(), 7U);
  EXPECT_EQ(result.free_bytes(), UINT64_MAX);
}

TEST(Codec, StatusAndRefusalSurviveTheWire) {
  const Provenance provenance = full_provenance();
  const std::vector<CounterValue> counters(60, {"a_counter_with_quite_a_long_label", UINT64_MAX});
  StatusReply status;
  status.provenance = &provenance;
  status.head = status.uptime_ns = status.footprint_bytes = status.resident_bytes = UINT64_MAX;
  status.observe_sessions = status.query_sessions = UINT32_MAX;
  status.runtime_counters = counters;
  status.io_counters = counters;
  status.query_latency = {1, 2, 3, 4, 5};
  status.scores = full_scores();
  status.durable = {true,
                    Durability::kLogged,
                    UINT64_MAX,
                    UINT64_MAX - 1,
                    UINT64_MAX - 2,
                    UINT64_MAX - 3,
                    UINT64_MAX - 4,
                    UINT64_MAX - 5,
                    UINT64_MAX - 6,
                    Status::kLogFull,
                    INT32_MAX,
                    UINT64_MAX - 7,
                    UINT64_MAX - 8,
                    UINT64_MAX - 9,
                    INT64_MIN,
                    INT64_MAX,
                    Status::kIoError,
                    28,
                    UINT64_MAX - 10};
  const v1::Response response = round_trip(kStatusReplyBound, std::uint64_t{1}, status);
  EXPECT_EQ(response.status_result().io_counters_size(), 60);
  EXPECT_EQ(response.status_result().io_counters(59).label(), counters[0].label);
  EXPECT_EQ(response.status_result().query_latency().max_ns(), 5);
  ASSERT_EQ(response.status_result().scores_size(), 3);
  EXPECT_EQ(response.status_result().scores(2).conformal_size(), 1.25);
  ASSERT_EQ(response.status_result().scores(2).pit_size(), static_cast<int>(kPitBins));
  EXPECT_EQ(response.status_result().scores(2).pit(kPitBins - 1), 0.125);
  const v1::Durable& durable = response.status_result().durable();
  EXPECT_TRUE(durable.keeps_folder());
  EXPECT_EQ(durable.durability(), v1::DURABILITY_LOGGED);
  EXPECT_EQ(durable.instance_id(), UINT64_MAX);
  EXPECT_EQ(durable.durable_through(), UINT64_MAX - 1);
  EXPECT_EQ(durable.recovering_through(), UINT64_MAX - 2);
  EXPECT_EQ(durable.log_used_bytes(), UINT64_MAX - 3);
  EXPECT_EQ(durable.log_capacity_bytes(), UINT64_MAX - 4);
  EXPECT_EQ(durable.commits(), UINT64_MAX - 5);
  EXPECT_EQ(durable.log_failures(), UINT64_MAX - 6);
  EXPECT_EQ(durable.log_status(), v1::REASON_LOG_FULL);
  EXPECT_EQ(durable.log_errno(), INT32_MAX);
  EXPECT_EQ(durable.checkpoints_taken(), UINT64_MAX - 7);
  EXPECT_EQ(durable.checkpoint_failures(), UINT64_MAX - 8);
  EXPECT_EQ(durable.checkpoint_head(), UINT64_MAX - 9);
  EXPECT_EQ(durable.checkpoint_age_ns(), INT64_MIN);
  EXPECT_EQ(durable.checkpoint_lasted_ns(), INT64_MAX);
  EXPECT_EQ(durable.checkpoint_status(), v1::REASON_IO_ERROR);
  EXPECT_EQ(durable.checkpoint_errno(), 28);
  EXPECT_EQ(durable.producers_known(), UINT64_MAX - 10);

  const v1::Response refusal =
      round_trip(64, std::uint64_t{3}, RefusalReply{Refusal::kSequenceGap, 1000, true});
  EXPECT_EQ(refusal.refusal().reason(), v1::REASON_SEQUENCE_GAP);
  EXPECT_EQ(refusal.refusal().number(), 1000U);
  EXPECT_TRUE(refusal.refusal().closing());
}

}  // namespace
}  // namespace windhover
