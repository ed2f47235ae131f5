// A limit on how much of something may be had per second.
#ifndef WINDHOVER_IO_TOKEN_BUCKET_H_
#define WINDHOVER_IO_TOKEN_BUCKET_H_

#include <algorithm>
#include <cstdint>

namespace windhover {

// A bucket that holds a second's worth of tokens and is filled evenly. It is kept as the time at
// which it will be full, so that nothing has to fill it. More tokens may be taken than there are:
// then it takes the longer until there is one again. One thread.
class TokenBucket {
 public:
  static constexpr std::int64_t kSecondNs = 1'000'000'000;

  // Full.
  void reset() noexcept { *this = {}; }

  // `rate`: tokens a second; 0: no limit.
  void take(std::uint64_t tokens, std::uint64_t rate, std::int64_t now_ns) noexcept {
    if (rate == 0 || tokens == 0) return;
    const double lasts_ns =
        static_cast<double>(tokens) * static_cast<double>(kSecondNs) / static_cast<double>(rate);
    full_ns_ = std::max(full_ns_, now_ns) + static_cast<std::int64_t>(lasts_ns);
    fined_ = 0;
  }

  // Charges for what was refused, at most a bucket until something is taken again, so that a peer
  // that goes on although it is refused does not owe more and more.
  void fine(std::uint64_t tokens, std::uint64_t rate, std::int64_t now_ns) noexcept {
    const std::uint64_t fined = std::min(rate, fined_ + std::min(tokens, rate));
    take(fined - std::min(fined, fined_), rate, now_ns);
    fined_ = fined;
  }

  // How long until there is a token; 0: there is one.
  std::int64_t wait_ns(std::int64_t now_ns) const noexcept {
    return std::max<std::int64_t>(0, full_ns_ - kSecondNs - now_ns);
  }

 private:
  std::int64_t full_ns_ = 0;
  std::uint64_t fined_ = 0;  // since something was taken
};

}  // namespace windhover

#endif  // WINDHOVER_IO_TOKEN_BUCKET_H_
