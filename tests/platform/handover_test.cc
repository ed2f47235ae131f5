#include "windhover/platform/handover.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace windhover {
namespace {

// Counts what it takes; that no two threads do so at a time ThreadSanitizer sees.
struct Taker {
  void take(int number) { sum += number; }
  void give(int number) {
    handover.give(
        number, [this] { ++woken; }, [this](int given) { take(given); });
  }
  void look() {
    handover.look([this](int given) { take(given); });
  }

  Handover<int> handover;
  int sum = 0;
  int woken = 0;  // the giver's
};

TEST(Handover, GiverTakesWhileTheTakerIsAway) {
  Taker taker;
  taker.give(3);
  EXPECT_EQ(taker.sum, 3);
  taker.handover.begin();
  taker.look();
  EXPECT_EQ(taker.sum, 3) << "it was taken";
  taker.handover.end();
  taker.give(4);
  EXPECT_EQ(taker.sum, 7);
  EXPECT_EQ(taker.woken, 2);
}

TEST(Handover, TakerTakesOnItsThreadWhileItIsAtWork) {
  Handover<int> handover;
  std::atomic<bool> done{false};
  std::thread::id took;
  std::thread taker([&] {
    handover.begin();
    while (!done) handover.look([&](int) { took = std::this_thread::get_id(); });
    handover.end();
  });
  const std::thread::id expected = taker.get_id();
  handover.wait_for_begin();
  handover.give(
      1, [] {}, [](int) { ADD_FAILURE() << "the giver took"; });
  done = true;
  taker.join();
  EXPECT_EQ(took, expected);
  handover.wait_for_begin();  // has been is enough
}

// While the giver takes in its place the taker waits to begin.
TEST(Handover, TakerDoesNotBeginBeforeTheGiverHasTaken) {
  Handover<int> handover;
  std::atomic<bool> begins{false};
  bool taken = false;
  bool was_taken = false;
  std::thread taker;
  handover.give(
      1, [] {},
      [&](int) {
        taker = std::thread([&] {
          begins = true;
          handover.begin();
          was_taken = taken;
          handover.end();
        });
        while (!begins) std::this_thread::yield();
        for (int i = 0; i < 100; ++i) std::this_thread::yield();
        taken = true;
      });
  taker.join();
  EXPECT_TRUE(was_taken);
}

TEST(Handover, EverythingIsTakenOnceWhileTheTakerComesAndGoes) {
  constexpr int kTimes = 500;
  Taker taker;
  std::atomic<bool> done{false};
  std::thread comes_and_goes([&] {
    while (!done) {
      taker.handover.begin();
      for (int i = 0; i < 3; ++i) taker.look();
      taker.handover.end();
    }
  });
  taker.handover.wait_for_begin();
  for (int i = 1; i <= kTimes; ++i) taker.give(i);
  done = true;
  comes_and_goes.join();
  EXPECT_EQ(taker.sum, kTimes * (kTimes + 1) / 2);
}

}  // namespace
}  // namespace windhover
