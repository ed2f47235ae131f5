// Answers to rows and questions, as they are written.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "windhover/io/codec.h"
#include "windhover/io/windhover.pb.h"
#include "windhover/tests/io/codec_fixture.h"

namespace windhover::testing::codec_write_test {
namespace {

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
  welcome.network = true;
  welcome.schema_fingerprint = UINT64_MAX;
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
  EXPECT_TRUE(response.welcome().network());
  EXPECT_EQ(response.welcome().schema_fingerprint(), UINT64_MAX);
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

TEST(Codec, RefusalSurvivesTheWire) {
  const v1::Response refusal =
      round_trip(64, std::uint64_t{3}, RefusalReply{Refusal::kSequenceGap, 1000, true});
  EXPECT_EQ(refusal.refusal().reason(), v1::REASON_SEQUENCE_GAP);
  EXPECT_EQ(refusal.refusal().number(), 1000U);
  EXPECT_TRUE(refusal.refusal().closing());
}

}  // namespace
}  // namespace windhover::testing::codec_write_test
