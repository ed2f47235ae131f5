// Lets a thread sleep until another has something for it.
#ifndef WINDHOVER_IO_DURABLE_WAKE_H_
#define WINDHOVER_IO_DURABLE_WAKE_H_

#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace windhover {

// One sleeper; any thread may wake it, also a signal handler. A wake() that comes before sleep()
// ends that sleep at once, so none is lost as long as the sleeper looks for work between announce()
// and sleep(). No heap.
class Wake {
 public:
  Wake() noexcept : descriptor_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~Wake() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Wake(const Wake&) = delete;
  Wake& operator=(const Wake&) = delete;

  // False: the system gave no descriptor; sleep() cannot be woken then.
  bool valid() const noexcept { return descriptor_ >= 0; }

  // Called by the sleeper: threads that call wake_if_sleeping() after this wake it.
  void announce() noexcept { sleeping_.store(true, std::memory_order_seq_cst); }
  // Sleeps until woken, or for `ns`; < 0: until woken.
  void sleep(std::int64_t ns) noexcept {
    pollfd waited{descriptor_, POLLIN, 0};
    const timespec longest{ns / 1'000'000'000, ns % 1'000'000'000};
    (void)::ppoll(&waited, 1, ns < 0 ? nullptr : &longest, nullptr);
    sleeping_.store(false, std::memory_order_relaxed);
    std::uint64_t count = 0;
    [[maybe_unused]] const auto bytes = ::read(descriptor_, &count, sizeof count);
  }
  void stay_awake() noexcept { sleeping_.store(false, std::memory_order_relaxed); }

  void wake() noexcept {
    const std::uint64_t one = 1;
    const int kept = errno;
    [[maybe_unused]] const auto bytes = ::write(descriptor_, &one, sizeof one);
    errno = kept;
  }
  // Called after a sequentially consistent store that the sleeper looks at. No system call if the
  // sleeper is awake and will look by itself.
  void wake_if_sleeping() noexcept {
    if (sleeping_.load(std::memory_order_seq_cst)) wake();
  }

 private:
  int descriptor_;
  std::atomic<bool> sleeping_{false};
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_WAKE_H_
