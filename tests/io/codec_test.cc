#include "windhover/io/codec.h"

#include <cctype>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include "windhover/io/framing.h"
#include "windhover/io/windhover.pb.h"
#include "windhover/io/wire_fields.h"
#include "windhover/tests/io/random_messages.h"

namespace windhover {
namespace {

using testing::as_frame;
using testing::below;
using testing::Random;
using testing::random_request;
using testing::same_request;

// --- The numbers written by hand are those of the definition.

constexpr bool same(int ours, int theirs) { return ours == theirs; }
static_assert(same(request_field::kId, v1::Request::kIdFieldNumber));
static_assert(same(request_field::kHello, v1::Request::kHelloFieldNumber));
static_assert(same(request_field::kObserve, v1::Request::kObserveFieldNumber));
static_assert(same(request_field::kPredict, v1::Request::kPredictFieldNumber));
static_assert(same(request_field::kPosteriorSummary, v1::Request::kPosteriorSummaryFieldNumber));
static_assert(same(request_field::kDraws, v1::Request::kDrawsFieldNumber));
static_assert(same(request_field::kStatus, v1::Request::kStatusFieldNumber));
static_assert(same(response_field::kRefusal, v1::Response::kRefusalFieldNumber));
static_assert(same(hello_field::kModelFingerprint, v1::Hello::kModelFingerprintFieldNumber));
static_assert(same(observe_field::kRowEnds, v1::Observe::kRowEndsFieldNumber));
static_assert(same(predict_field::kThompsonId, v1::Predict::kThompsonIdFieldNumber));
static_assert(same(draws_field::kCount, v1::Draws::kCountFieldNumber));

TEST(Codec, ReasonsAreTheStatuses) {
  ASSERT_EQ(v1::Reason_MAX + 1, static_cast<int>(Status::kCount));
  for (int i = 0; i <= v1::Reason_MAX; ++i) {
    std::string name = v1::Reason_Name(static_cast<v1::Reason>(i)).substr(7);  // "REASON_"
    for (char& c : name) c = static_cast<char>(std::tolower(c));
    EXPECT_EQ(name, to_string(static_cast<Status>(i)));
  }
}

// --- Reading

TEST(Codec, EveryRandomRequestIsReadAsTheGeneratedParserReadsIt) {
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    const v1::Request request = random_request(random);
    const std::string bytes = request.SerializeAsString();
    RequestView view;
    ASSERT_EQ(decode_request(as_frame(bytes), view), Status::kOk) << request.DebugString();
    ASSERT_TRUE(same_request(view, request)) << request.DebugString();
  }
}

TEST(Codec, WhateverIsAcceptedAfterDamageTheGeneratedParserAcceptsAlike) {
  Random random(2);
  int accepted = 0;
  for (int i = 0; i < 40'000; ++i) {
    std::string bytes = random_request(random).SerializeAsString();
    if (bytes.empty()) continue;
    if (below(random, 2) == 0) {
      bytes.resize(below(random, bytes.size()));
    } else {
      for (std::uint64_t flips = 1 + below(random, 3); flips > 0; --flips) {
        bytes[below(random, bytes.size())] ^= static_cast<char>(1U << below(random, 8));
      }
    }
    RequestView view;
    if (!ok(decode_request(as_frame(bytes), view))) continue;
    ++accepted;
    v1::Request request;
    ASSERT_TRUE(request.ParseFromString(bytes));
    ASSERT_TRUE(same_request(view, request)) << request.DebugString();
  }
  EXPECT_GT(accepted, 1000);
}

TEST(Codec, UnknownFieldsAreSkippedAtEveryLevel) {
  Random random(3);
  for (int i = 0; i < 5'000; ++i) {
    v1::Request request = random_request(random);
    const v1::Request plain = request;
    std::vector<google::protobuf::Message*> levels = {&request};
    if (request.has_observe()) levels.push_back(request.mutable_observe());
    if (request.has_predict()) levels.push_back(request.mutable_predict());
    if (request.has_status()) levels.push_back(request.mutable_status());
    for (google::protobuf::Message* level : levels) {
      auto* unknown = level->GetReflection()->MutableUnknownFields(level);
      unknown->AddVarint(100, random());
      unknown->AddFixed32(1000, 7);
      unknown->AddFixed64(20, 8);
      unknown->AddLengthDelimited(536'870'911, std::string(below(random, 200), 'x'));
    }
    const std::string bytes = request.SerializeAsString();
    RequestView view;
    ASSERT_EQ(decode_request(as_frame(bytes), view), Status::kOk);
    ASSERT_TRUE(same_request(view, plain));
  }
}

TEST(Codec, AnUnknownBodyIsUnknownAndKeepsItsId) {
  v1::Request request;
  request.set_id(9);
  request.GetReflection()->MutableUnknownFields(&request)->AddLengthDelimited(15, "from later");
  const std::string bytes = request.SerializeAsString();
  RequestView view;
  ASSERT_EQ(decode_request(as_frame(bytes), view), Status::kOk);
  EXPECT_EQ(view.kind, RequestKind::kUnknown);
  EXPECT_EQ(view.id, 9U);
}

std::string observe_with(const std::string& body) {
  std::string bytes = "\x1a";  // field 3, length-delimited
  bytes += static_cast<char>(body.size());
  return bytes + body;
}

Status decode(const std::string& bytes) {
  RequestView view;
  return decode_request(as_frame(bytes), view);
}

TEST(Codec, PackedArrayGivenTwiceIsMalformed) {
  const std::string once = std::string("\x18\x01", 2) + "\x3a\x08" + std::string(8, '\0');
  EXPECT_EQ(decode(observe_with(once)), Status::kOk);
  EXPECT_EQ(decode(observe_with(once + std::string("\x3a\x00", 2))), Status::kMalformed);
}

TEST(Codec, UnpackedArrayIsMalformed) {
  const std::string unpacked = std::string("\x18\x01\x39", 3) + std::string(8, '\0');
  EXPECT_EQ(decode(observe_with(unpacked)), Status::kMalformed);
}

TEST(Codec, ArrayWithHalfAnElementIsMalformed) {
  EXPECT_EQ(decode(observe_with(std::string("\x3a\x07") + std::string(7, '\0'))),
            Status::kMalformed);
}

TEST(Codec, ArrayRunningOverItsMessageIsMalformed) {
  // Inside the frame, but beyond the Observe it is in.
  const std::string inner = observe_with(std::string("\x3a\x10", 2) + std::string(8, '\0'));
  EXPECT_EQ(decode(inner + std::string(8, '\0')), Status::kMalformed);
}

TEST(Codec, GroupsAreMalformed) {
  EXPECT_EQ(decode(std::string("\xa3\x06\xa4\x06", 4)), Status::kMalformed);  // group 100
}

TEST(Codec, FieldNumberZeroIsMalformed) {
  EXPECT_EQ(decode(std::string("\x00\x01", 2)), Status::kMalformed);
}

TEST(Codec, TwoBodiesAreMalformed) {
  const std::string status("\x3a\x00", 2);
  EXPECT_EQ(decode(status), Status::kOk);
  EXPECT_EQ(decode(status + status), Status::kMalformed);
  EXPECT_EQ(decode(status + std::string("\x2a\x00", 2)), Status::kMalformed);
}

TEST(Codec, RowsThatContradictTheArraysAreMalformed) {
  v1::Request request;
  v1::Observe* observe = request.mutable_observe();
  observe->set_rows(2);
  observe->add_targets_f64(1);
  EXPECT_EQ(decode(request.SerializeAsString()), Status::kMalformed);
  observe->add_targets_f64(1);
  EXPECT_EQ(decode(request.SerializeAsString()), Status::kOk);
  observe->add_features_f64(1);
  EXPECT_EQ(decode(request.SerializeAsString()), Status::kMalformed);  // one value, two rows
  observe->add_features_f64(1);
  EXPECT_EQ(decode(request.SerializeAsString()), Status::kOk);
  observe->add_features_f32(1);
  EXPECT_EQ(decode(request.SerializeAsString()), Status::kMalformed);  // floats and doubles
}

TEST(Codec, NothingIsReadBehindTheFrame) {
  // Under AddressSanitizer a read behind the vector's end stops the test.
  Random random(4);
  for (int i = 0; i < 2'000; ++i) {
    const std::string whole = random_request(random).SerializeAsString();
    for (std::size_t n = 0; n <= whole.size(); n += 1 + below(random, 8)) {
      const std::vector<std::byte> exact(as_frame(whole).begin(),
                                         as_frame(whole).begin() + static_cast<std::ptrdiff_t>(n));
      RequestView view;
      (void)decode_request(exact, view);
    }
  }
}

// --- Writing

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
  p.repeated_rows = 0.125;
  p.divergences = UINT64_MAX;
  p.status = PosteriorStatus::kDrifting;
  p.reason = StatusReason::kLostChains;
  p.law_ratio = 1.75;
  p.horizon = Horizon::kAll;
  return p;
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
  EXPECT_EQ(theirs.repeated_rows(), ours.repeated_rows);
  EXPECT_EQ(theirs.divergences(), ours.divergences);
  EXPECT_EQ(static_cast<int>(theirs.state()), static_cast<int>(ours.status));
  EXPECT_EQ(static_cast<int>(theirs.reason()), static_cast<int>(ours.reason));
  EXPECT_EQ(theirs.law_ratio(), ours.law_ratio);
  EXPECT_EQ(static_cast<int>(theirs.horizon()), static_cast<int>(ours.horizon));
}

TEST(Codec, WelcomeSurvivesTheWire) {
  WelcomeReply welcome;
  welcome.features = welcome.dimension = welcome.frame_cap = welcome.reply_cap = UINT32_MAX;
  welcome.max_rows = welcome.max_nonzeros = welcome.max_query_rows = UINT32_MAX;
  welcome.head = welcome.fingerprint = UINT64_MAX;
  welcome.model = ModelKind::kLogistic;
  welcome.observes = true;
  const v1::Response response = round_trip(kSmallReplyBound, std::uint64_t{UINT64_MAX}, welcome);
  EXPECT_EQ(response.id(), UINT64_MAX);
  EXPECT_EQ(response.welcome().version(), 1U);
  EXPECT_EQ(response.welcome().fingerprint(), UINT64_MAX);
  EXPECT_EQ(response.welcome().model(), v1::MODEL_KIND_LOGISTIC);
  EXPECT_TRUE(response.welcome().observes());
  EXPECT_EQ(response.welcome().max_quantiles(), kMaxQuantiles);
}

TEST(Codec, LargestAcknowledgementFitsItsBound) {
  ObserveAckReply ack;
  ack.id = ack.producer_next = ack.accepted = ack.refused = ack.duplicate = UINT64_MAX;
  ack.head = ack.durable_through = UINT64_MAX;
  ack.frames = UINT32_MAX;
  ack.listed_count = ObserveAckReply::kMaxListed;
  ack.listed.fill({UINT64_MAX, ObserveAckReply::kWholeFrame, Status::kIoError});
  const v1::Response response = round_trip(kSmallReplyBound, ack);
  EXPECT_EQ(response.observe_ack().accepted(), UINT64_MAX);
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
                          &s.thompson}) {
      *field = next++;
    }
    for (double& q : s.quantiles) q = next++;
    for (double& e : s.exceedance) e = next++;
    s.classes = kMaxClasses;
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
  ASSERT_EQ(p.quantiles_size(), 16);
  EXPECT_EQ(p.quantiles(15), 36);
  ASSERT_EQ(p.exceedance_size(), 8);
  EXPECT_EQ(p.exceedance(7), 44);
  ASSERT_EQ(p.probs_size(), 32);
  EXPECT_EQ(p.probs(31), 76);
  EXPECT_EQ(p.probs_sd(31), 108);
  EXPECT_EQ(p.probs_eti_lower(31), 140);
  EXPECT_EQ(p.probs_eti_upper(31), 172);
}

TEST(Codec, PosteriorAndDrawsSurviveTheWireWithinTheirBounds) {
  const Provenance provenance = full_provenance();
  const std::vector<ParameterSummary> parameters(100, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13});
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

  std::vector<double> theta(100 * 7);
  for (std::size_t i = 0; i < theta.size(); ++i) theta[i] = static_cast<double>(i);
  const v1::Response draws = round_trip(draws_reply_bound(100, 7), std::uint64_t{7},
                                        DrawsReply{&provenance, 100, UINT32_MAX, theta});
  expect_same(draws.draws_result().provenance(), provenance);
  ASSERT_EQ(draws.draws_result().theta_size(), 700);
  EXPECT_EQ(draws.draws_result().theta(699), 699);
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
  const v1::Response response = round_trip(kStatusReplyBound, std::uint64_t{1}, status);
  EXPECT_EQ(response.status_result().io_counters_size(), 60);
  EXPECT_EQ(response.status_result().io_counters(59).label(), counters[0].label);
  EXPECT_EQ(response.status_result().query_latency().max_ns(), 5);

  const v1::Response refusal =
      round_trip(64, std::uint64_t{3}, RefusalReply{Status::kSequenceGap, 1000, true});
  EXPECT_EQ(refusal.refusal().reason(), v1::REASON_SEQUENCE_GAP);
  EXPECT_EQ(refusal.refusal().number(), 1000U);
  EXPECT_TRUE(refusal.refusal().closing());
}

}  // namespace
}  // namespace windhover
