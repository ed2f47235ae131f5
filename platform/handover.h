// Things that one thread hands to another, which takes them between its other work.
#ifndef WINDHOVER_PLATFORM_HANDOVER_H_
#define WINDHOVER_PLATFORM_HANDOVER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace windhover {

// One giver at a time hands a thing over, and waits until it has been taken. The taker says when it
// begins and ends its work; outside that time the giver takes in its place, because then nobody
// else touches the taker's data. Invariant: a thing is taken exactly once, and never by two threads
// at a time. Each of the two sees what the other did before: `thing_` and `state_` are stored with
// release and loaded with acquire. No heap.
template <class T>
class Handover {
 public:
  // The taker's thread begins to look. It waits while a giver takes in its place.
  void begin() noexcept {
    for (;;) {
      State before = state_.load(std::memory_order_acquire);
      if (before != State::kGiverTakes && swap(before, State::kAtWork)) return;
      std::this_thread::sleep_for(kLookAgain);
    }
  }
  // The taker looks no more. REQUIRES: it has begun.
  void end() noexcept { state_.store(State::kEnded, std::memory_order_release); }
  // The taker takes what is there, if anything is. REQUIRES: it is at work.
  void look(auto&& take) noexcept {
    const T* const thing = thing_.load(std::memory_order_acquire);
    if (thing == nullptr) return;
    take(*thing);
    thing_.store(nullptr, std::memory_order_release);
  }

  // Waits, on any other thread, until the taker has begun. REQUIRES: it will.
  void wait_for_begin() const noexcept {
    for (;;) {
      const State state = state_.load(std::memory_order_acquire);
      if (state == State::kAtWork || state == State::kEnded) return;
      std::this_thread::sleep_for(kLookAgain);
    }
  }

  // Gives `thing`, on any other thread. `wake` makes the taker look.
  void give(const T& thing, auto&& wake, auto&& take) noexcept {
    thing_.store(&thing, std::memory_order_release);
    wake();
    while (thing_.load(std::memory_order_acquire) != nullptr) {
      State before = state_.load(std::memory_order_acquire);
      if (before != State::kAtWork && swap(before, State::kGiverTakes)) {
        look(take);  // finds nothing if the taker took it before it ended
        state_.store(before, std::memory_order_release);
        return;
      }
      std::this_thread::sleep_for(kLookAgain);
    }
  }

 private:
  // Who may take: the taker while it is at work, otherwise whoever gives.
  enum class State : std::uint8_t { kNotBegun, kAtWork, kEnded, kGiverTakes };
  static constexpr auto kLookAgain = std::chrono::microseconds(100);

  bool swap(State& before, State after) noexcept {
    return state_.compare_exchange_strong(before, after, std::memory_order_acq_rel);
  }

  std::atomic<const T*> thing_{nullptr};
  std::atomic<State> state_{State::kNotBegun};
};

}  // namespace windhover

#endif  // WINDHOVER_PLATFORM_HANDOVER_H_
