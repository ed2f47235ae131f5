// Who waits at an endpoint is looked at again, whoever has come first before the others.
#include "windhover/io/endpoint_waits.h"

#include <array>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace windhover::endpoint_waits_test {
namespace {

// What has been asked of the sessions, in order.
struct Call {
  enum Kind { kLeave, kResume, kReadOn } kind;
  int session;
  bool operator==(const Call&) const = default;
};

// A session as its endpoint sees it, which notes what it is asked to do.
class Session {
 public:
  void bind(int number, std::vector<Call>& calls) {
    number_ = number;
    calls_ = &calls;
  }
  void stand_first(bool first) { first_ = first; }
  // Its turn is followed by this.
  void set_again(void (*again)(void*), void* context) {
    again_ = again;
    context_ = context;
  }

  const Session& conversation() const { return *this; }
  const Session& rows() const { return *this; }
  bool first_in_line() const { return first_; }
  void leave_line_when_done() {
    calls_->push_back({Call::kLeave, number_});
    first_ = false;
  }
  void resume() {
    calls_->push_back({Call::kResume, number_});
    if (again_ != nullptr) again_(context_);
  }
  void read_on() { calls_->push_back({Call::kReadOn, number_}); }

 private:
  int number_ = 0;
  std::vector<Call>* calls_ = nullptr;
  bool first_ = false;
  void (*again_)(void*) = nullptr;
  void* context_ = nullptr;
};

class EndpointWaitsTest : public ::testing::Test {
 protected:
  using Waits = EndpointWaits<std::span<Session>>;

  EndpointWaitsTest() {
    for (int i = 0; i < 4; ++i) sessions_[static_cast<std::size_t>(i)].bind(i, calls_);
  }
  ~EndpointWaitsTest() override { EXPECT_EQ(counters_.get(IoCounter::kHandlerHeapFallbacks), 0U); }
  // The sessions that were asked for this, in order.
  std::vector<int> sessions_of(Call::Kind kind) const {
    std::vector<int> out;
    for (const Call& call : calls_) {
      if (call.kind == kind) out.push_back(call.session);
    }
    return out;
  }

  std::vector<Call> calls_;
  std::array<Session, 4> sessions_;
  IoContext io_{1};
  Counters<IoCounter> counters_;
  Waits waits_{io_, sessions_, counters_};
};

TEST_F(EndpointWaitsTest, WhoWaitsForRoomIsLookedAtOnceHoweverManySayThatTheyDo) {
  for (int i = 0; i < 3; ++i) waits_.for_room();
  EXPECT_TRUE(calls_.empty()) << "not at once";
  EXPECT_EQ(io_.run(), 1U);
  EXPECT_EQ(sessions_of(Call::kLeave), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(sessions_of(Call::kResume), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_TRUE(sessions_of(Call::kReadOn).empty());
}

TEST_F(EndpointWaitsTest, TheFirstInLineIsTheFirstToGoOnWhereverItStands) {
  for (std::size_t first = 0; first < sessions_.size(); ++first) {
    calls_.clear();
    sessions_[first].stand_first(true);
    waits_.for_room();
    io_.restart();
    io_.run();
    std::vector<int> expected;
    for (std::size_t i = 0; i < 4; ++i) expected.push_back(static_cast<int>((first + i) % 4));
    EXPECT_EQ(sessions_of(Call::kResume), expected);
  }
}

// Otherwise one that does not wait any more would hold up all who do.
TEST_F(EndpointWaitsTest, LinesAreLeftBeforeAnybodyGoesOn) {
  sessions_[2].stand_first(true);
  waits_.for_room();
  io_.run();
  ASSERT_EQ(calls_.size(), 8U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(calls_[i].kind, Call::kLeave);
  EXPECT_EQ(calls_[4], (Call{Call::kResume, 2}));
}

TEST_F(EndpointWaitsTest, WhoStillFindsNoRoomIsLookedAtAgain) {
  struct Again {
    Waits* waits;
    int left = 3;
  } again{&waits_};
  sessions_[1].set_again(
      [](void* context) {
        auto& more = *static_cast<Again*>(context);
        if (more.left-- > 0) more.waits->for_room();
      },
      &again);
  waits_.for_room();
  EXPECT_EQ(io_.run(), 4U);
  EXPECT_EQ(sessions_of(Call::kResume).size(), 16U);
}

TEST_F(EndpointWaitsTest, WhoIsOverItsLimitsReadsOnLaterAndNothingElseHappens) {
  waits_.for_tokens();
  waits_.for_tokens();
  EXPECT_TRUE(calls_.empty());
  EXPECT_EQ(io_.run(), 1U);
  EXPECT_EQ(sessions_of(Call::kReadOn), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(calls_.size(), 4U);
}

TEST_F(EndpointWaitsTest, RoomAndLimitsAreWaitedForApart) {
  waits_.for_tokens();
  waits_.for_room();
  EXPECT_EQ(io_.run(), 2U);
  EXPECT_EQ(sessions_of(Call::kResume).size(), 4U);
  EXPECT_EQ(sessions_of(Call::kReadOn).size(), 4U);
}

TEST_F(EndpointWaitsTest, CooledDownNobodyIsLookedAtAndItCanBeginAgain) {
  waits_.for_room();
  waits_.for_tokens();
  waits_.cool_down();
  io_.run();
  EXPECT_TRUE(calls_.empty());
  waits_.warm_up();
  waits_.cool_down();
  io_.restart();
  io_.run();
  EXPECT_TRUE(calls_.empty());
  waits_.for_room();
  io_.restart();
  EXPECT_EQ(io_.run(), 1U);
  EXPECT_EQ(sessions_of(Call::kResume).size(), 4U);
}

TEST_F(EndpointWaitsTest, WithoutSessionsThereIsNobodyToLookAt) {
  Waits none(io_, {}, counters_);
  none.for_room();
  none.for_tokens();
  EXPECT_EQ(io_.run(), 2U);
  EXPECT_TRUE(calls_.empty());
}

}  // namespace
}  // namespace windhover::endpoint_waits_test
