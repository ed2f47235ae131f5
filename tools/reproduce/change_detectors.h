// Two detectors of changes in a stream of errors, to set Windhover's own beside.
#ifndef WINDHOVER_TOOLS_REPRODUCE_CHANGE_DETECTORS_H_
#define WINDHOVER_TOOLS_REPRODUCE_CHANGE_DETECTORS_H_

#include <cstdint>
#include <vector>

namespace windhover::reproduce {

// ADWIN: Bifet and Gavalda 2007, *Learning from Time-Changing Data with Adaptive Windowing*. The
// window of numbers in [0, 1] is kept as an exponential histogram; its older part is let go of
// where the means of two parts differ by more than chance makes of it.
//
// Invariant: buckets stand in the order of the stream, oldest first, and each holds a power of two
// of numbers, at most kBuckets of each. Memory and a look O(log n).
class Adwin {
 public:
  // `confidence`: delta of the paper; 0.002 is what implementations choose.
  explicit Adwin(double confidence = 0.002) : confidence_(confidence) {}

  // Whether the mean has changed. Looks after every kClock numbers.
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

// Page 1954, Hinkley 1971, for a mean that goes up or down: the sum of what numbers are above their
// mean, less `tolerance` each, from its lowest point, and the other way round. Starts anew after an
// alarm.
class PageHinkley {
 public:
  explicit PageHinkley(double tolerance = 0.005, double threshold = 50, double keep = 0.9999)
      : tolerance_(tolerance), threshold_(threshold), keep_(keep) {}

  bool add(double number);

 private:
  static constexpr double kLeast = 30;  // numbers before the first alarm

  double tolerance_;
  double threshold_;
  double keep_;  // share of the sums that each number leaves
  double count_ = 0;
  double mean_ = 0;
  double up_ = 0;
  double lowest_ = 0;
  double down_ = 0;
  double highest_ = 0;
};

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_CHANGE_DETECTORS_H_
