// A pause of some length, on a clock that may be set back.
#ifndef WINDHOVER_IO_DURABLE_PAUSE_H_
#define WINDHOVER_IO_DURABLE_PAUSE_H_

#include <algorithm>
#include <cstdint>

namespace windhover {

// If the clock shows less than when the pause began it has been set back: the pause then begins
// anew, so that each such step adds at most its length. A pause that is over stays over. One
// thread.
class Pause {
 public:
  void begin(std::int64_t now_ns, std::int64_t length_ns) noexcept {
    began_ns_ = now_ns;
    length_ns_ = length_ns;
  }
  // 0: it is over.
  std::int64_t left_ns(std::int64_t now_ns) noexcept {
    began_ns_ = std::min(began_ns_, now_ns);
    if (now_ns - began_ns_ >= length_ns_) length_ns_ = 0;
    return length_ns_ == 0 ? 0 : length_ns_ - (now_ns - began_ns_);
  }

 private:
  std::int64_t began_ns_ = 0;
  std::int64_t length_ns_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_PAUSE_H_
