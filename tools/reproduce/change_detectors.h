// Two detectors of changes in a stream of errors, for comparison with Windhover's own.
#ifndef WINDHOVER_TOOLS_REPRODUCE_CHANGE_DETECTORS_H_
#define WINDHOVER_TOOLS_REPRODUCE_CHANGE_DETECTORS_H_

#include <cstdint>
#include <vector>

namespace windhover::reproduce {

// ADWIN: Bifet and Gavalda 2007, *Learning from Time-Changing Data with Adaptive Windowing*. It
// keeps a window of numbers in [0, 1] as an exponential histogram and drops the older part of it
// when the means of two parts differ by more than chance explains.
//
// Invariant: buckets are in the order of the stream, oldest first. Each holds a power of two of
// numbers; at most kBuckets have the same size. Memory and the time of a check are O(log n).
class Adwin {
 public:
  // `confidence`: delta of the paper; implementations use 0.002.
  explicit Adwin(double confidence = 0.002) : confidence_(confidence) {}

  // True when the mean has changed. Checks after every kClock numbers.
  bool add(double number);

 private:
  static constexpr int kClock = 32;
  static constexpr int kBuckets = 5;
  static constexpr double kLeastPart = 5;  // numbers on either side of a cut

  struct Bucket {
    double size = 0;
    double sum = 0;
    double squares = 0;  // about its mean
  };
  static Bucket merged(const Bucket& a, const Bucket& b);
  void compress();
  bool cut();

  double confidence_;
  std::vector<Bucket> buckets_;
  std::uint64_t seen_ = 0;
};

// Page 1954, Hinkley 1971, for a mean that rises or falls. One sum adds up how far numbers are
// above their mean, less `tolerance` each; an alarm is its rise above its lowest point by more than
// `threshold`. A second sum does the same downwards. Starts anew after an alarm.
class PageHinkley {
 public:
  explicit PageHinkley(double tolerance = 0.005, double threshold = 50, double keep = 0.9999)
      : tolerance_(tolerance), threshold_(threshold), keep_(keep) {}

  bool add(double number);

 private:
  static constexpr double kLeast = 30;  // numbers before the first alarm

  double tolerance_;
  double threshold_;
  double keep_;  // factor of both sums before each number
  double count_ = 0;
  double mean_ = 0;
  double up_ = 0;
  double lowest_ = 0;
  double down_ = 0;
  double highest_ = 0;
};

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_CHANGE_DETECTORS_H_
