// What a server says of itself, its producers and its models, as it is written.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/io/codec.h"
#include "windhover/io/windhover.pb.h"
#include "windhover/tests/io/codec_fixture.h"

namespace windhover::testing::codec_write_server_test {
namespace {

TEST(Codec, ProducerStatusSurvivesTheWire) {
  const v1::Response response = round_trip(
      kSmallReplyBound, std::uint64_t{7},
      ProducerStatusReply{UINT64_MAX, true, UINT64_MAX - 1, UINT64_MAX - 2, true, UINT64_MAX - 3});
  const v1::ProducerStatusResult& status = response.producer_status_result();
  EXPECT_EQ(status.producer(), UINT64_MAX);
  EXPECT_TRUE(status.known());
  EXPECT_EQ(status.next(), UINT64_MAX - 1);
  EXPECT_EQ(status.durable_next(), UINT64_MAX - 2);
  EXPECT_TRUE(status.live());
  EXPECT_EQ(status.forgotten(), UINT64_MAX - 3);
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
  state.log_status = Status::kLogFull;
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
  EXPECT_EQ(last.log_status(), v1::REASON_LOG_FULL);
  EXPECT_EQ(last.score().rows(), UINT64_MAX);
  EXPECT_EQ(last.score().log_score(), -1.5);
  EXPECT_EQ(last.score().coverage_95(), 0.75);
  EXPECT_EQ(last.score().conformal_coverage_50(), 0.875);
  EXPECT_EQ(last.score().conformal_coverage_95(), 0.875);
  EXPECT_EQ(last.score().conformal_size(), 1.25);
  EXPECT_EQ(last.score().pit_size(), 0);  // only Status has it
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

TEST(Codec, StatusSurvivesTheWire) {
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
                    UINT64_MAX - 10,
                    UINT64_MAX - 11};
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
  EXPECT_EQ(durable.log_seal_failures(), UINT64_MAX - 11);
}

}  // namespace
}  // namespace windhover::testing::codec_write_server_test
