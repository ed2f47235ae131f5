// Who gets a place at an endpoint: EndpointPlaces with sessions, and without an endpoint.
#include "windhover/io/endpoint_places.h"

#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/endpoint_rig.h"

namespace windhover::endpoint_places_test {
namespace {

using testing::EndpointRig;
using testing::PairedPeer;

constexpr std::uint32_t kPlaces = 3;
constexpr std::int64_t kMs = 1'000'000;

class EndpointPlacesTest : public ::testing::Test, protected SessionHost {
 protected:
  EndpointPlacesTest() {
    for (Session& session : rig_.memory.sessions) session.bind(rig_.io, *this, turns_);
  }
  ~EndpointPlacesTest() override {
    for (Session& session : rig_.memory.sessions) session.abort();
    rig_.go_on();
    EXPECT_EQ(places_.taken(), 0U);
    EXPECT_EQ(sessions(), 0U);
    EXPECT_EQ(rig_.count(IoCounter::kConnectionsAccepted),
              rig_.count(IoCounter::kConnectionsClosed));
    for (Session& session : rig_.memory.sessions) std::destroy_at(&session);
  }
  void on_pause(Session&) noexcept override {}
  void on_throttle(Session&) noexcept override {}
  void on_free(Session&) noexcept override { places_.give_back(); }

  std::uint32_t sessions() { return rig_.shared.state.of(rig_.kind).sessions; }
  // One more that comes, a millisecond after the one before. False: it has to come again.
  bool come() {
    rig_.shared.clock.advance_ns(kMs);
    peers_.push_back(std::make_unique<PairedPeer>(rig_.io));
    return places_.on_connection(peers_.back()->server_side);
  }
  bool come_again() { return places_.on_connection(peers_.back()->server_side); }
  void greet(PairedPeer& peer) {
    peer.hello();
    rig_.go_on();
    const std::vector<v1::Response> said = peer.receive();
    ASSERT_EQ(said.size(), 1U);
    EXPECT_TRUE(said[0].has_welcome());
  }
  // All places are taken, by peers that are known.
  void fill() {
    for (std::uint32_t i = 0; i < kPlaces; ++i) {
      ASSERT_TRUE(come());
      greet(*peers_[i]);
    }
  }
  bool has_ended(PairedPeer& peer) {
    (void)peer.receive();
    return peer.ended();
  }

  EndpointRig rig_{EndpointKind::kQuery, kPlaces};
  EndpointTurns turns_{rig_.kind, rig_.io, rig_.memory, rig_.shared.state};
  EndpointPlaces places_{rig_.kind, rig_.memory, rig_.shared.state, turns_};
  std::vector<std::unique_ptr<PairedPeer>> peers_;
};

TEST_F(EndpointPlacesTest, APlaceIsTakenUntilItsSessionIsFree) {
  EXPECT_EQ(places_.taken(), 0U);
  for (std::uint32_t i = 1; i <= kPlaces; ++i) {
    EXPECT_TRUE(come());
    EXPECT_EQ(places_.taken(), i);
    EXPECT_EQ(sessions(), i) << "as others are told";
  }
  peers_[1]->close();
  rig_.go_on();
  EXPECT_EQ(places_.taken(), kPlaces - 1);
  EXPECT_TRUE(come());
  EXPECT_EQ(places_.taken(), kPlaces);
  EXPECT_EQ(rig_.count(IoCounter::kConnectionsAccepted), kPlaces + 1U);
  EXPECT_EQ(rig_.count(IoCounter::kConnectionsClosed), 1U);
  EXPECT_EQ(rig_.count(IoCounter::kStrangersLetGo), 0U);
}

TEST_F(EndpointPlacesTest, AStrangerMakesRoomOneForEachThatComesTheOldestFirst) {
  for (std::uint32_t i = 0; i < kPlaces; ++i) ASSERT_TRUE(come());
  EXPECT_FALSE(come()) << "its operations are still coming back";
  EXPECT_FALSE(come_again());
  EXPECT_EQ(rig_.count(IoCounter::kStrangersLetGo), 1U) << "no second one goes for the same";
  EXPECT_EQ(places_.taken(), kPlaces) << "what is closed is not free";
  rig_.go_on();
  EXPECT_EQ(places_.taken(), kPlaces - 1);
  EXPECT_TRUE(come_again());
  EXPECT_TRUE(has_ended(*peers_[0]));
  EXPECT_FALSE(has_ended(*peers_[1]));
  EXPECT_FALSE(come());
  rig_.go_on();
  EXPECT_TRUE(come_again());
  EXPECT_TRUE(has_ended(*peers_[1]));
  EXPECT_EQ(rig_.count(IoCounter::kStrangersLetGo), 2U);
}

TEST_F(EndpointPlacesTest, WhoHasSaidHelloStaysWhoeverComes) {
  ASSERT_TRUE(come());
  greet(*peers_[0]);
  ASSERT_TRUE(come());
  ASSERT_TRUE(come());
  greet(*peers_[2]);
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(come());
    rig_.go_on();
    EXPECT_TRUE(come_again()) << i;
  }
  EXPECT_FALSE(has_ended(*peers_[0]));
  EXPECT_FALSE(has_ended(*peers_[2]));
  EXPECT_EQ(rig_.count(IoCounter::kStrangersLetGo), 4U) << "each came in the place of the last";
  EXPECT_EQ(rig_.count(IoCounter::kConnectionsRefused), 0U);
}

// All that it had to be told has been sent to it.
TEST_F(EndpointPlacesTest, WhoLingersGoesBeforeAStranger) {
  ASSERT_TRUE(come());
  ASSERT_TRUE(come());
  ASSERT_TRUE(come());
  peers_[2]->send(testing::predict_of(1, false));  // no Hello: refused, and its end is waited for
  rig_.go_on();
  ASSERT_EQ(peers_[2]->receive().size(), 1U);
  EXPECT_EQ(places_.taken(), kPlaces);
  EXPECT_FALSE(come());
  rig_.go_on();
  EXPECT_TRUE(come_again());
  EXPECT_FALSE(has_ended(*peers_[0]));
  EXPECT_FALSE(has_ended(*peers_[1]));
}

TEST_F(EndpointPlacesTest, WhenAllAreKnownOneMayAskForTheStatusAndTheNextIsRefused) {
  fill();
  EXPECT_TRUE(come());
  EXPECT_EQ(places_.taken(), kPlaces + 1);
  EXPECT_EQ(rig_.count(IoCounter::kOperatorConnections), 1U);
  EXPECT_EQ(rig_.memory.sessions[kPlaces].conversation().place(), PlaceKind::kStatus);
  greet(*peers_[kPlaces]);
  EXPECT_TRUE(come()) << "refused, and that is the end of it";
  EXPECT_EQ(places_.taken(), kPlaces + 1);
  EXPECT_EQ(rig_.count(IoCounter::kConnectionsRefused), 1U);
  EXPECT_EQ(rig_.count(IoCounter::kConnectionsAccepted), kPlaces + 1U);
  const std::vector<v1::Response> said = peers_.back()->receive();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].refusal().reason(), v1::REASON_UNAVAILABLE);
  EXPECT_EQ(said[0].refusal().number(), kPlaces);
  EXPECT_TRUE(said[0].refusal().closing());
  EXPECT_TRUE(peers_.back()->ended());
}

TEST_F(EndpointPlacesTest, TheOperatorsPlaceCountsNoMoreWhenItIsFreeAgain) {
  fill();
  ASSERT_TRUE(come());
  peers_.back()->close();
  rig_.go_on();
  EXPECT_EQ(places_.taken(), kPlaces);
  EXPECT_TRUE(come());
  EXPECT_EQ(rig_.count(IoCounter::kOperatorConnections), 2U);
  EXPECT_TRUE(places_.admins_is_free());
}

TEST_F(EndpointPlacesTest, OthersOfAnIdentityAreThoseThatHaveSaidHelloAndAreHere) {
  ASSERT_TRUE(come());
  ASSERT_TRUE(come());
  ASSERT_TRUE(come());
  const auto others_of = [&](std::size_t i) {
    return places_.of_same_identity(rig_.memory.sessions[i].conversation());
  };
  EXPECT_EQ(others_of(0), 0U) << "nobody has said Hello";
  greet(*peers_[0]);
  EXPECT_EQ(others_of(0), 0U) << "it is no other than itself";
  greet(*peers_[1]);
  EXPECT_EQ(others_of(0), 1U);
  greet(*peers_[2]);
  EXPECT_EQ(others_of(0), 2U);
  EXPECT_EQ(others_of(2), 2U);
  peers_[2]->close();
  rig_.go_on();
  EXPECT_EQ(others_of(0), 1U);
}

TEST_F(EndpointPlacesTest, ANewConnectionPaysForNoTurnsOfTheOneBefore) {
  ASSERT_TRUE(come());
  const Session& session = rig_.memory.sessions[0];
  turns_.charge(session, 900'000'000);
  peers_[0]->close();
  rig_.go_on();
  ASSERT_TRUE(come());
  ASSERT_TRUE(come());
  turns_.charge(rig_.memory.sessions[1], 100'000'000);
  rig_.memory.queue.wait(1, FairQueue::Line::kAny);
  rig_.memory.queue.wait(0, FairQueue::Line::kAny);
  EXPECT_EQ(rig_.memory.queue.next(true), 0U);
  EXPECT_EQ(rig_.memory.queue.next(true), 1U);
}

}  // namespace
}  // namespace windhover::endpoint_places_test
