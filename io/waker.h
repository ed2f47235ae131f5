// Wakes a thread that is inside an io_context's run().
#ifndef WINDHOVER_IO_WAKER_H_
#define WINDHOVER_IO_WAKER_H_

#include <cstdint>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

#include "windhover/io/asio_types.h"
#include "windhover/io/handler_memory.h"

namespace windhover {

// An eventfd. Invariant: at most one wait is under way, and the eventfd is read before the handler
// is called. All functions but wake() are for the thread inside run(), or before run().
class Waker {
 public:
  Waker(IoContext& io, Counters<IoCounter>& counters) : event_(io) { memory_.count_in(counters); }

  // Before use, once. False: there is no descriptor; errno says why.
  bool open() noexcept {  // NOLINT(bugprone-exception-escape): assign() tells by `error`
    fd_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    ErrorCode error;
    if (fd_ >= 0) event_.assign(fd_, error);
    return fd_ >= 0 && !error;
  }

  // Any thread, also a signal handler: one write.
  void wake() const noexcept {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(fd_, &one, sizeof one);
  }

  // Calls handler() once after wake(), unless the wait is cancelled.
  template <class Handler>
  void wait(Handler handler) noexcept {
    event_.async_wait(
        Descriptor::wait_read,
        with_memory(memory_, [this, handler = std::move(handler)](const ErrorCode& error) mutable {
          if (error) return;
          std::uint64_t count = 0;
          [[maybe_unused]] const auto bytes = ::read(fd_, &count, sizeof count);
          handler();
        }));
  }
  void cancel() noexcept {
    ErrorCode ignored;
    event_.cancel(ignored);
  }
  void close() noexcept {
    ErrorCode ignored;
    event_.close(ignored);
  }

 private:
  Descriptor event_;
  int fd_ = -1;
  HandlerMemory memory_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_WAKER_H_
