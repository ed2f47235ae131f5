// When those who ask much pause between their turns.
#ifndef WINDHOVER_IO_TURN_SPACING_H_
#define WINDHOVER_IO_TURN_SPACING_H_

#include <chrono>
#include <cstdint>

namespace windhover {

// Where others want the processors too, the system stops a thread that never sleeps for
// milliseconds, in the middle of whoever's question; one that sleeps now and then runs as soon as
// it wakes. So where the thread has been stopped of late, and somebody is there who asks little and
// gains by it, every turn of one who asks much comes after a pause. One thread.
class TurnSpacing {
 public:
  static constexpr std::chrono::microseconds kPause{100};
  static constexpr std::int64_t kAskerNs = 100'000'000;  // who asks little is there for so long
  static constexpr std::int64_t kStopNs = 100'000'000;   // a stop counts as recent for so long,
  static constexpr std::int64_t kMostStopNs = 1'000'000'000;  // and many of them for so long
  static constexpr std::int64_t kMostPassedNs = 2'000'000;

  // Somebody who asks little has a turn.
  void light_turn(std::int64_t now_ns) noexcept { light_until_ns_ = now_ns + kAskerNs; }

  // Before a turn of one who asks much: whether a pause comes first. Asked again after the pause,
  // it is the turn. `stops`: how often the thread has been stopped, ever.
  bool pauses(std::int64_t now_ns, std::uint64_t stops) noexcept;

  // For how long peers that ask much have had no turn because of the pause before this one, at most
  // kMostPassedNs; for FairQueue::pass(). Without it its time would nearly stand, and a peer that
  // asks more than the little that these get now would count as one of them.
  std::int64_t passed_ns() const noexcept { return passed_ns_; }

 private:
  std::int64_t light_until_ns_ = 0;
  std::int64_t stopped_until_ns_ = 0;
  std::int64_t paused_since_ns_ = 0;
  std::int64_t passed_ns_ = 0;
  std::uint64_t stops_ = 0;
  bool paused_ = false;
};

// How often the system has stopped the calling thread, which wanted to go on.
std::uint64_t stops_of_this_thread() noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_TURN_SPACING_H_
