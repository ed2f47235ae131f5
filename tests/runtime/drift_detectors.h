// Detectors of change in a stream of numbers between 0 and 1, to compare with.
#ifndef WINDHOVER_TESTS_RUNTIME_DRIFT_DETECTORS_H_
#define WINDHOVER_TESTS_RUNTIME_DRIFT_DETECTORS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace windhover::test {

// Bifet and Gavalda, Learning from time-changing data with adaptive windowing, 2007, ADWIN2: sums
// of the last numbers in buckets of 1, 2, 4, ..., at most kBuckets of a size; the oldest go for as
// long as some cut leaves two parts whose means differ by more than epsilon_cut.
class Adwin {
 public:
  explicit Adwin(double delta) : delta_(delta) {}

  // Whether the mean has changed.
  bool add(double x) {
    buckets_.push_back({1, x, 0});
    compress();
    bool changed = false;
    while (cuts()) {
      buckets_.erase(buckets_.begin());
      changed = true;
    }
    return changed;
  }

 private:
  static constexpr std::size_t kBuckets = 5;
  struct Bucket {
    double count, sum, squares;  // the last about the mean
  };

  static Bucket joined(const Bucket& a, const Bucket& b) {
    const double off = a.sum / a.count - b.sum / b.count;
    return {a.count + b.count, a.sum + b.sum,
            a.squares + b.squares + off * off * a.count * b.count / (a.count + b.count)};
  }
  // Oldest first: the two oldest of a size become one where there are more than kBuckets.
  void compress() {
    for (double size = 1;; size *= 2) {
      const auto of_size = [&](const Bucket& b) { return b.count == size; };
      const auto count = static_cast<std::size_t>(std::ranges::count_if(buckets_, of_size));
      if (count <= kBuckets) return;
      const auto first = std::ranges::find_if(buckets_, of_size);
      *first = joined(*first, *(first + 1));
      buckets_.erase(first + 1);
    }
  }
  bool cuts() const {
    if (buckets_.size() < 2) return false;
    Bucket all = buckets_.front();
    for (std::size_t i = 1; i < buckets_.size(); ++i) all = joined(all, buckets_[i]);
    const double log_of = std::log(2 * std::log(std::max(all.count, 3.0)) / delta_);
    const double variance = all.squares / all.count;
    Bucket old = buckets_.front();
    for (std::size_t i = 1; i < buckets_.size(); ++i) {
      const double rest = all.count - old.count;
      const double harmonic = 1 / (1 / old.count + 1 / rest);
      const double epsilon =
          std::sqrt(2 / harmonic * variance * log_of) + 2 / (3 * harmonic) * log_of;
      if (std::abs(old.sum / old.count - (all.sum - old.sum) / rest) > epsilon) return true;
      old = joined(old, buckets_[i]);
    }
    return false;
  }

  double delta_;
  std::vector<Bucket> buckets_;
};

// Page 1954, Hinkley 1971: the sum of what numbers exceed their mean so far by, and `allowed` more,
// against the least it has been.
class PageHinkley {
 public:
  PageHinkley(double threshold, double allowed) : threshold_(threshold), allowed_(allowed) {}

  bool add(double x) {
    mean_ += (x - mean_) / ++count_;
    sum_ += x - mean_ - allowed_;
    least_ = std::min(least_, sum_);
    if (sum_ - least_ <= threshold_) return false;
    *this = PageHinkley(threshold_, allowed_);
    return true;
  }

 private:
  double threshold_, allowed_;
  double count_ = 0, mean_ = 0, sum_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace windhover::test

#endif  // WINDHOVER_TESTS_RUNTIME_DRIFT_DETECTORS_H_
