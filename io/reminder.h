// A call that comes a little later, and work that is done a little at a time.
#ifndef WINDHOVER_IO_REMINDER_H_
#define WINDHOVER_IO_REMINDER_H_

#include <chrono>
#include <utility>

#include "windhover/io/alarm.h"

namespace windhover {

// Invariant: it is set from set() until the function is called or the wait is cancelled; set() in
// between changes nothing. The endpoint's thread.
class Reminder {
 public:
  Reminder(IoContext& io, Counters<IoCounter>& counters) : alarm_(io, counters) {}

  bool is_set() const noexcept { return set_; }
  // Calls function() after `time`, unless it was cancelled. function() may set it again.
  template <class Function>
  void set(std::chrono::nanoseconds time, Function function) {
    if (set_) return;
    alarm_.after(time, [this, function = std::move(function)](const ErrorCode& error) mutable {
      set_ = false;
      if (!error) function();
    });
    set_ = true;  // not before: after() may throw
  }
  void cancel() noexcept { alarm_.cancel(); }
  void warm_up() { alarm_.warm_up(); }

 private:
  Alarm alarm_;
  bool set_ = false;
};

// Work in pieces, so that other work need not wait for all of it. Invariant: between two pieces
// kPause passes, in which the thread does other work. The endpoint's thread.
class Piecework {
 public:
  static constexpr std::chrono::microseconds kPause{100};

  Piecework(IoContext& io, Counters<IoCounter>& counters) : next_(io, counters) {}

  // Calls piece() now, and again after a pause as long as it returns true. Does nothing while such
  // a pause lasts.
  template <class Piece>
  void begin(Piece piece) {
    if (next_.is_set() || !piece()) return;
    next_.set(kPause, [this, piece = std::move(piece)] { begin(piece); });
  }
  void cancel() noexcept { next_.cancel(); }
  void warm_up() { next_.warm_up(); }

 private:
  Reminder next_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_REMINDER_H_
