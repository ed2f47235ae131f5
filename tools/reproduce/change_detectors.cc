#include "windhover/tools/reproduce/change_detectors.h"

#include <algorithm>
#include <cmath>

namespace windhover::reproduce {

Adwin::Bucket Adwin::merged(const Bucket& a, const Bucket& b) {
  const double size = a.size + b.size;
  const double apart = a.sum / a.size - b.sum / b.size;
  return {size, a.sum + b.sum, a.squares + b.squares + apart * apart * a.size * b.size / size};
}

// Goes from the newest bucket to older ones. Where more than kBuckets have one size, the two oldest
// of them are merged into one of the next size.
void Adwin::compress() {
  for (std::size_t last = buckets_.size(); last > 0;) {
    const double size = buckets_[last - 1].size;
    std::size_t first = last;
    while (first > 0 && buckets_[first - 1].size == size) --first;
    if (last - first <= kBuckets) return;
    buckets_[first] = merged(buckets_[first], buckets_[first + 1]);
    buckets_.erase(buckets_.begin() + static_cast<std::ptrdiff_t>(first) + 1);
    last = first + 1;
  }
}

// Section 4 of the paper, with two changes that its authors' implementation makes, too: the bound
// has the window's variance in it, and delta is divided by the logarithm of its length.
bool Adwin::cut() {
  Bucket all = buckets_[0];
  for (std::size_t i = 1; i < buckets_.size(); ++i) all = merged(all, buckets_[i]);
  const double variance = all.squares / all.size;
  const double tail = std::log(2 * std::log(all.size) / confidence_);
  double older = 0;
  double older_sum = 0;
  for (const Bucket& bucket : buckets_) {
    older += bucket.size;
    older_sum += bucket.sum;
    const double newer = all.size - older;
    if (older < kLeastPart || newer < kLeastPart) continue;
    const double inverse = 1 / older + 1 / newer;
    const double bound = std::sqrt(2 * inverse * variance * tail) + 2.0 / 3 * inverse * tail;
    if (std::abs(older_sum / older - (all.sum - older_sum) / newer) > bound) return true;
  }
  return false;
}

bool Adwin::add(double number) {
  buckets_.push_back({1, number, 0});
  compress();
  if (++seen_ % kClock != 0) return false;
  bool changed = false;
  while (buckets_.size() > 1 && cut()) {
    buckets_.erase(buckets_.begin());
    changed = true;
  }
  return changed;
}

bool PageHinkley::add(double number) {
  count_ += 1;
  mean_ += (number - mean_) / count_;
  up_ = keep_ * up_ + number - mean_ - tolerance_;
  down_ = keep_ * down_ + number - mean_ + tolerance_;
  lowest_ = std::min(lowest_, up_);
  highest_ = std::max(highest_, down_);
  if (count_ < kLeast || std::max(up_ - lowest_, highest_ - down_) <= threshold_) return false;
  *this = PageHinkley(tolerance_, threshold_, keep_);
  return true;
}

}  // namespace windhover::reproduce
