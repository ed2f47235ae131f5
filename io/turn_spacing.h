// When connections that ask much pause between their turns.
#ifndef WINDHOVER_IO_TURN_SPACING_H_
#define WINDHOVER_IO_TURN_SPACING_H_

#include <chrono>
#include <cstdint>

namespace windhover {

// Where other threads want the processors, the system stops a thread that never sleeps for
// milliseconds, in the middle of a question; a thread that sleeps now and then runs as soon as it
// wakes. So, if this thread has been stopped lately and a connection that asks little gains by it,
// every turn of one that asks much comes after a pause. One thread.
class TurnSpacing {
 public:
  static constexpr std::chrono::microseconds kPause{100};
  static constexpr std::int64_t kAskerNs = 100'000'000;  // a light turn counts for so long
  static constexpr std::int64_t kStopNs = 100'000'000;   // a stop counts as recent for so long,
  static constexpr std::int64_t kMostStopNs = 1'000'000'000;  // and many of them for so long
  static constexpr std::int64_t kMostPassedNs = 2'000'000;

  // A connection that asks little has a turn.
  void light_turn(std::int64_t now_ns) noexcept { light_until_ns_ = now_ns + kAskerNs; }

  // Before a turn of one that asks much: whether a pause comes first. Called again after the pause,
  // it says no. `stops`: how often the thread has been stopped since it began.
  bool pauses(std::int64_t now_ns, std::uint64_t stops) noexcept;

  // For how long connections that ask much have had no turn because of the pause before this one,
  // at most kMostPassedNs; for FairQueue::pass(). Without that virtual time would nearly stand
  // still, and a connection that asks little would soon count as one that asks much.
  std::int64_t passed_ns() const noexcept { return passed_ns_; }

 private:
  std::int64_t light_until_ns_ = 0;
  std::int64_t stopped_until_ns_ = 0;
  std::int64_t paused_since_ns_ = 0;
  std::int64_t passed_ns_ = 0;
  std::uint64_t stops_ = 0;
  bool paused_ = false;
};

// How often the system has stopped the calling thread although it wanted to go on.
std::uint64_t stops_of_this_thread() noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_TURN_SPACING_H_
