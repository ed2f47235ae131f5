// Things that one thread hands to another, which takes them between its other work.
#ifndef WINDHOVER_IO_HANDOVER_H_
#define WINDHOVER_IO_HANDOVER_H_

#include <atomic>
#include <chrono>
#include <thread>

namespace windhover {

// One thread at a time gives, and waits until what it gave has been taken. The taker says when it
// begins and ends to work; while it does not, the giver takes in its place, because nobody else
// touches what is the taker's. Invariant: what is handed over is taken exactly once.
// No giver may be at it while the taker begins.
template <class T>
class Handover {
 public:
  // The taker's thread.
  void begin() noexcept { at_work_.store(true, std::memory_order_release); }
  void end() noexcept { at_work_.store(false, std::memory_order_release); }
  // Takes what is there, if anything is.
  void look(auto&& take) noexcept {
    const T* const thing = thing_.load(std::memory_order_acquire);
    if (thing == nullptr) return;
    take(*thing);
    thing_.store(nullptr, std::memory_order_release);
  }

  // Any other thread. `wake` has the taker look.
  void give(const T& thing, auto&& wake, auto&& take) noexcept {
    thing_.store(&thing, std::memory_order_release);
    wake();
    while (thing_.load(std::memory_order_acquire) != nullptr) {
      if (!at_work_.load(std::memory_order_acquire)) return look(take);
      std::this_thread::sleep_for(kLookAgain);
    }
  }

 private:
  static constexpr auto kLookAgain = std::chrono::microseconds(100);
  std::atomic<const T*> thing_{nullptr};
  std::atomic<bool> at_work_{false};
};

}  // namespace windhover

#endif  // WINDHOVER_IO_HANDOVER_H_
