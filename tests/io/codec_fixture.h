// Replies written by our own writer and read by a generated class.
#ifndef WINDHOVER_TESTS_IO_CODEC_FIXTURE_H_
#define WINDHOVER_TESTS_IO_CODEC_FIXTURE_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "windhover/io/codec.h"
#include "windhover/io/framing.h"
#include "windhover/io/windhover.pb.h"

namespace windhover::testing {

inline v1::Response parse(std::span<const std::byte> bytes) {
  const FrameScan scan = scan_frame(bytes, UINT32_MAX);
  EXPECT_EQ(scan.kind, FrameScan::kFrame);
  EXPECT_EQ(scan.consumed, bytes.size());
  v1::Response response;
  EXPECT_TRUE(response.ParseFromArray(scan.frame.data(), static_cast<int>(scan.frame.size())));
  // What the server leaves out and what it writes is what a generated class would.
  EXPECT_EQ(response.ByteSizeLong(), scan.frame.size());
  return response;
}

// What encode(args...) writes, as a generated class reads it.
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

// Every field as large as it can be, or another number than its default.
inline Provenance full_provenance() {
  Provenance p;
  p.snapshot_id = p.sequence = p.n_seen = p.n_eff = p.steps = UINT64_MAX;
  p.age_ns = -5;
  p.draws = UINT32_MAX;
  p.ess_bulk = 1.5;
  p.r_hat = 1.01;
  p.r_hat_chance = 1.25;
  p.robust_spread = true;
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

inline ScoresReply full_scores() {
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

inline void expect_same(const v1::Provenance& theirs, const Provenance& ours) {
  EXPECT_EQ(theirs.snapshot_id(), ours.snapshot_id);
  EXPECT_EQ(theirs.sequence(), ours.sequence);
  EXPECT_EQ(theirs.age_ns(), ours.age_ns);
  EXPECT_EQ(theirs.draws(), ours.draws);
  EXPECT_EQ(theirs.r_hat(), ours.r_hat);
  EXPECT_EQ(theirs.r_hat_chance(), ours.r_hat_chance);
  EXPECT_EQ(theirs.robust_spread(), ours.robust_spread);
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

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_CODEC_FIXTURE_H_
