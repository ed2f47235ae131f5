#ifndef WINDHOVER_TOOLS_CLIENT_PREQUENTIAL_H_
#define WINDHOVER_TOOLS_CLIENT_PREQUENTIAL_H_

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace windhover {

// Scores predicted probabilities, each made before its outcome was known to the model, and beside
// them the base rate of the outcomes so far, which forgets exponentially with a memory of `memory`
// outcomes.
class Prequential {
 public:
  static constexpr std::size_t kBins = 10;

  explicit Prequential(double memory) : memory_(memory) {}

  // Scores one prediction; `probability` is that of a true outcome. O(1).
  void add(double probability, bool outcome);

  // Counts an outcome, predicted or not, into the base rate.
  void observe(bool outcome);

  std::uint64_t count() const { return count_; }
  // Means over all predictions; log scores in nats, larger is better.
  double log_score() const;
  double base_log_score() const;
  double brier() const;
  // Mean distance between predicted and observed shares over the bins, weighted by their counts.
  double calibration_error() const;

  // The fields above, and `bins`: {from, to, count, predicted, observed}.
  nlohmann::ordered_json to_json() const;
  // The reliability table as text.
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
