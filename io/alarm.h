// A timer of the server, with the memory of its handler.
#ifndef WINDHOVER_IO_ALARM_H_
#define WINDHOVER_IO_ALARM_H_

#include <chrono>
#include <utility>

#include "windhover/io/asio_types.h"
#include "windhover/io/handler_memory.h"

namespace windhover {

// One wait at a time: a new one cancels the last, whose handler is called with an error.
class Alarm {
 public:
  Alarm(IoContext& io, Counters<IoCounter>& counters) : timer_(io) { memory_.count_in(counters); }

  // Calls handler(error) after `time`, or when the wait is cancelled.
  template <class Handler>
  void after(std::chrono::nanoseconds time, Handler handler) {
    expire_after(timer_, time);
    timer_.async_wait(with_memory(memory_, std::move(handler)));
  }
  void cancel() noexcept { windhover::cancel(timer_); }
  // Starts a wait that has to be cancelled: Asio allocates when it first meets a timer.
  void warm_up() {
    after(std::chrono::hours(1), [](const ErrorCode&) {});
  }

 private:
  Timer timer_;
  HandlerMemory memory_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_ALARM_H_
