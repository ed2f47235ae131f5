#ifndef WINDHOVER_TOOLS_CLIENT_PREQUENTIAL_H_
#define WINDHOVER_TOOLS_CLIENT_PREQUENTIAL_H_

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace windhover {

// Keeps score of predicted probabilities against what then happened, each predicted before its
// outcome was known to the model; and against the base rate of the outcomes so far, with the same
// memory as the model has (the last `memory` outcomes, exponentially weighted).
class Prequential {
 public:
  static constexpr std::size_t kBins = 10;

  explicit Prequential(double memory) : memory_(memory) {}

  // `probability` that the outcome is true. O(1).
  void add(double probability, bool outcome);

  // An outcome that was not predicted still counts towards the base rate.
  void observe(bool outcome);

  std::uint64_t count() const { return count_; }
  // Means over all predictions; log scores in nats, larger is better.
  double log_score() const;
  double base_log_score() const;
  double brier() const;
  // Mean distance between predicted and observed shares over the bins, weighted by their counts.
  double calibration_error() const;

  // Fields as above, and `bins`: {from, to, count, predicted, observed}.
  nlohmann::ordered_json to_json() const;
  // The reliability table for people.
  std::string table() const;

 private:
  struct Bin {
    std::uint64_t count = 0;
    double predicted = 0;
    double observed = 0;
  };

  double memory_;
  double base_weight_ = 0;
  double base_sum_ = 0;
  std::uint64_t count_ = 0;
  double log_score_ = 0;
  double base_log_score_ = 0;
  double brier_ = 0;
  std::array<Bin, kBins> bins_{};
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_PREQUENTIAL_H_
