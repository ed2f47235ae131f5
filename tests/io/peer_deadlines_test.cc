#include "windhover/io/peer_deadlines.h"

#include <gtest/gtest.h>

#include "windhover/io/operator_place.h"

namespace windhover::peer_deadlines_test {
namespace {

constexpr std::int64_t kBegun = 1'000'000;

Limits limits() {
  Limits limits;
  limits.hello_timeout_ns = 50;
  limits.frame_timeout_ns = 100;
  limits.idle_timeout_ns = 600;
  limits.wait_timeout_ns = 1'000;
  return limits;
}

PeerDeadlines begun() {
  PeerDeadlines deadlines;
  deadlines.begin(kBegun);
  return deadlines;
}

constexpr PeerDeadlines::Doing kListens = {.handles = true, .greeted = true, .reads = true};

TEST(PeerDeadlines, WhoSaysNoHelloIsLateBeforeWhoIsSilent) {
  const PeerDeadlines deadlines = begun();
  PeerDeadlines::Doing stranger = kListens;
  stranger.greeted = false;
  EXPECT_FALSE(deadlines.is_late(stranger, limits(), kBegun + 50));
  EXPECT_TRUE(deadlines.is_late(stranger, limits(), kBegun + 51));
  EXPECT_FALSE(deadlines.is_late(kListens, limits(), kBegun + 600));
  EXPECT_TRUE(deadlines.is_late(kListens, limits(), kBegun + 601));
}

TEST(PeerDeadlines, PartOfAFrameIsToBecomeWholeHoweverItDrips) {
  PeerDeadlines deadlines = begun();
  deadlines.heard(kBegun + 10);
  deadlines.handled(false, true, true);
  deadlines.heard(kBegun + 90);
  deadlines.handled(false, true, true);
  EXPECT_FALSE(deadlines.is_late(kListens, limits(), kBegun + 110));
  EXPECT_TRUE(deadlines.is_late(kListens, limits(), kBegun + 111));
  deadlines.handled(true, true, true);  // that one is whole, and the next has begun
  EXPECT_FALSE(deadlines.is_late(kListens, limits(), kBegun + 190));
  EXPECT_TRUE(deadlines.is_late(kListens, limits(), kBegun + 191));
  deadlines.handled(true, false, true);
  EXPECT_FALSE(deadlines.is_late(kListens, limits(), kBegun + 690));
}

TEST(PeerDeadlines, WholeFrameThatHasToWaitIsNoPartOfOne) {
  PeerDeadlines deadlines = begun();
  deadlines.handled(false, true, false);
  EXPECT_FALSE(deadlines.is_late(kListens, limits(), kBegun + 500));
}

TEST(PeerDeadlines, TimeInWhichNobodyListenedDoesNotCount) {
  PeerDeadlines deadlines = begun();
  deadlines.handled(false, true, true);
  deadlines.listens_again(kBegun + 5'000);
  EXPECT_EQ(deadlines.heard_ns(), kBegun + 5'000);
  EXPECT_FALSE(deadlines.is_late(kListens, limits(), kBegun + 5'100));
  EXPECT_TRUE(deadlines.is_late(kListens, limits(), kBegun + 5'101));
  PeerDeadlines::Doing throttled = kListens;
  throttled.reads = false;
  EXPECT_FALSE(deadlines.is_late(throttled, limits(), kBegun + 50'000));
}

TEST(PeerDeadlines, WhoseAnswerWaitsIsNotSilent) {
  const PeerDeadlines deadlines = begun();
  PeerDeadlines::Doing answered = kListens;
  answered.writes = true;
  EXPECT_FALSE(deadlines.is_late(answered, limits(), kBegun + 50'000));
  PeerDeadlines::Doing logged = kListens;
  logged.waits_for_log = true;
  EXPECT_FALSE(deadlines.is_late(logged, limits(), kBegun + 50'000));
}

TEST(PeerDeadlines, OnTrialItIsLateAlsoWhileNobodyListens) {
  const PeerDeadlines deadlines = begun();
  const PeerDeadlines::Doing trial = {.handles = true, .greeted = true, .on_trial = true};
  EXPECT_FALSE(deadlines.is_late(trial, limits(), kBegun + kOperatorLifeNs));
  EXPECT_TRUE(deadlines.is_late(trial, limits(), kBegun + kOperatorLifeNs + 1));
}

TEST(PeerDeadlines, RoomThatNeverComesIsWaitedForFromTheFirstTry) {
  PeerDeadlines deadlines = begun();
  deadlines.waits_for_room(kBegun + 10);
  deadlines.waits_for_room(kBegun + 900);
  EXPECT_FALSE(deadlines.has_waited_long(false, 0, limits(), kBegun + 1'010));
  EXPECT_TRUE(deadlines.has_waited_long(false, 0, limits(), kBegun + 1'011));
  deadlines.has_room();
  EXPECT_FALSE(deadlines.has_waited_long(false, 0, limits(), kBegun + 5'000));
}

TEST(PeerDeadlines, LogThatGoesOnIsWaitedFor) {
  PeerDeadlines deadlines = begun();
  EXPECT_FALSE(deadlines.has_waited_long(true, 7, limits(), kBegun + 10));
  EXPECT_FALSE(deadlines.has_waited_long(true, 8, limits(), kBegun + 1'005));
  EXPECT_FALSE(deadlines.has_waited_long(true, 8, limits(), kBegun + 2'005));
  EXPECT_TRUE(deadlines.has_waited_long(true, 8, limits(), kBegun + 2'006));
  EXPECT_FALSE(deadlines.has_waited_long(false, 8, limits(), kBegun + 2'007));
}

TEST(PeerDeadlines, NextPeerBeginsAnew) {
  PeerDeadlines deadlines = begun();
  deadlines.handled(false, true, true);
  deadlines.waits_for_room(kBegun);
  (void)deadlines.has_waited_long(true, 7, limits(), kBegun);
  deadlines.begin(kBegun + 5'000);
  EXPECT_EQ(deadlines.begun_ns(), kBegun + 5'000);
  EXPECT_EQ(deadlines.room_since_ns(), 0);
  EXPECT_FALSE(deadlines.is_late(kListens, limits(), kBegun + 5'600));
  EXPECT_FALSE(deadlines.has_waited_long(true, 7, limits(), kBegun + 5'600));
}

TEST(PeerDeadlines, LingersForAWhile) {
  PeerDeadlines deadlines = begun();
  deadlines.lingers(kBegun + 10);
  EXPECT_FALSE(deadlines.lingers_too_long(kBegun + 10 + PeerDeadlines::kLingerNs));
  EXPECT_TRUE(deadlines.lingers_too_long(kBegun + 11 + PeerDeadlines::kLingerNs));
}

}  // namespace
}  // namespace windhover::peer_deadlines_test
