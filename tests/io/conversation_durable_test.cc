// What a conversation says of checkpoints, of what is kept, and of itself.
#include "windhover/tests/io/conversation_fixture.h"

namespace windhover {
namespace {

using testing::kSecond;
using testing::Peer;
using testing::Shared;

// --- Checkpoints

TEST(Conversation, ACheckpointIsAskedForAtOnceAndAskedAfter) {
  for (const EndpointKind kind : {EndpointKind::kObserve, EndpointKind::kQuery}) {
    Shared shared(8, kind);
    CheckpointProgress& progress = shared.model.checkpoints;
    Peer peer(shared);
    const auto ask = [&](std::uint64_t number) {
      v1::Request request;
      request.mutable_take_checkpoint()->set_request(number);
      return peer.ask(request);
    };
    EXPECT_EQ(ask(0).refusal().reason(), v1::REASON_UNSUPPORTED);
    EXPECT_EQ(progress.requested.load(), 0U);

    shared.model.keeper = {
        [](void* keeper) noexcept {
          return static_cast<CheckpointProgress*>(keeper)->requested.fetch_add(1) + 1;
        },
        &progress};
    const v1::TakeCheckpointResult first = ask(0).take_checkpoint_result();
    EXPECT_EQ(first.request(), 1U);
    EXPECT_FALSE(first.answered());
    EXPECT_EQ(ask(0).take_checkpoint_result().request(), 2U);
    EXPECT_EQ(ask(3).refusal().reason(), v1::REASON_INVALID_ARGUMENT);

    progress.taken = 5;
    progress.status.store(Status::kIoError);
    progress.answered = 1;
    const v1::TakeCheckpointResult failed = ask(1).take_checkpoint_result();
    EXPECT_EQ(failed.request(), 1U);
    EXPECT_TRUE(failed.answered());
    EXPECT_EQ(failed.taken(), 5U);
    EXPECT_EQ(failed.status(), v1::REASON_IO_ERROR);
    EXPECT_FALSE(ask(2).take_checkpoint_result().answered());
    EXPECT_EQ(progress.requested.load(), 2U) << "asking after one asks for none";
  }
}

TEST(Conversation, StatusSaysWhatIsKept) {
  Shared shared;
  Peer peer(shared);
  v1::Request request;
  request.mutable_status();
  const v1::Durable none = peer.ask(request).status_result().durable();
  EXPECT_FALSE(none.keeps_folder());
  EXPECT_EQ(none.durability(), v1::DURABILITY_MEMORY);
  EXPECT_EQ(none.instance_id(), 77U);
  EXPECT_EQ(none.checkpoint_age_ns(), -1);
  EXPECT_EQ(none.producers_known(), 0U);

  (void)peer.send(7, 0, 10);
  ServedModel& state = shared.model;
  state.keeper = {[](void*) noexcept { return std::uint64_t{1}; }, nullptr};
  state.durability = Durability::kLogged;
  state.log.durable_head = 10;
  state.log.used_bytes = 4'096;
  state.log_capacity_bytes = 1 << 20;
  state.log.commits = 3;
  state.log.failures = 1;
  state.log.seal_failures = 7;
  state.log.status.store(Status::kIoError);
  state.log.error_number = 5;
  state.checkpoints.taken = 2;
  state.checkpoints.failures = 4;
  state.checkpoints.head = 8;
  state.checkpoints.taken_ns = shared.clock.now_ns();
  state.checkpoints.lasted_ns = 6;
  state.checkpoints.status.store(Status::kTimeout);
  state.checkpoints.error_number = 28;
  shared.clock.advance_ns(12 * kSecond);
  const v1::Durable some = peer.ask(request).status_result().durable();
  EXPECT_TRUE(some.keeps_folder());
  EXPECT_EQ(some.durability(), v1::DURABILITY_LOGGED);
  EXPECT_EQ(some.durable_through(), 10U);
  EXPECT_EQ(some.recovering_through(), 0U);
  EXPECT_EQ(some.log_used_bytes(), 4'096U);
  EXPECT_EQ(some.log_capacity_bytes(), 1U << 20);
  EXPECT_EQ(some.commits(), 3U);
  EXPECT_EQ(some.log_failures(), 1U);
  EXPECT_EQ(some.log_seal_failures(), 7U);
  EXPECT_EQ(some.log_status(), v1::REASON_IO_ERROR);
  EXPECT_EQ(some.log_errno(), 5);
  EXPECT_EQ(some.checkpoints_taken(), 2U);
  EXPECT_EQ(some.checkpoint_failures(), 4U);
  EXPECT_EQ(some.checkpoint_head(), 8U);
  EXPECT_EQ(some.checkpoint_age_ns(), 12 * kSecond);
  EXPECT_EQ(some.checkpoint_lasted_ns(), 6);
  EXPECT_EQ(some.checkpoint_status(), v1::REASON_TIMEOUT);
  EXPECT_EQ(some.checkpoint_errno(), 28);
  EXPECT_EQ(some.producers_known(), 1U);
}

// --- Identity and durability

TEST(Conversation, WelcomeNamesTheInstanceAndWhatAcknowledgementsStandFor) {
  Shared shared;
  const Peer any(shared);
  EXPECT_EQ(any.welcome.welcome().instance_id(), 77U);
  EXPECT_EQ(any.welcome.welcome().durability(), v1::DURABILITY_MEMORY);
  EXPECT_EQ(any.welcome.welcome().durable_through(), 0U);
  const Peer logged(shared, v1::DURABILITY_LOGGED);
  EXPECT_EQ(logged.welcome.refusal().reason(), v1::REASON_NOT_DURABLE);
  EXPECT_TRUE(logged.welcome.refusal().closing());
  const Peer later(shared, static_cast<v1::Durability>(3));
  EXPECT_EQ(later.welcome.refusal().reason(), v1::REASON_UNSUPPORTED);

  shared.model.durability = Durability::kLogged;
  shared.model.log.durable_head = 5;
  const Peer same(shared);
  EXPECT_EQ(same.welcome.welcome().durability(), v1::DURABILITY_LOGGED);
  EXPECT_EQ(same.welcome.welcome().durable_through(), 5U);
  Peer at_once(shared, v1::DURABILITY_MEMORY);
  EXPECT_EQ(at_once.welcome.welcome().durability(), v1::DURABILITY_MEMORY);
  EXPECT_EQ(at_once.send(1, 0, 1).observe_ack().durable_through(), 5U);
}

}  // namespace
}  // namespace windhover
