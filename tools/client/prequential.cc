#include "windhover/tools/client/prequential.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace windhover {
namespace {

// Bounded, because a certain prediction that fails would make the mean infinite.
double log_of(double probability) { return std::log(std::max(probability, 1e-12)); }

double share(double sum, std::uint64_t count) {
  return count > 0 ? sum / static_cast<double>(count) : 0.0;
}

}  // namespace

void Prequential::add(double probability, bool outcome) {
  const double p = std::clamp(probability, 0.0, 1.0);
  const double base = (base_sum_ + 0.5) / (base_weight_ + 1.0);
  log_score_ += log_of(outcome ? p : 1.0 - p);
  base_log_score_ += log_of(outcome ? base : 1.0 - base);
  const double y = outcome ? 1.0 : 0.0;
  brier_ += (p - y) * (p - y);
  const auto index = static_cast<std::size_t>(p * static_cast<double>(kBins));
  Bin& bin = bins_[std::min(index, kBins - 1)];
  ++bin.count;
  bin.predicted += p;
  bin.observed += y;
  ++count_;
}

void Prequential::observe(bool outcome) {
  const double keep = 1.0 - 1.0 / memory_;
  base_weight_ = base_weight_ * keep + 1.0;
  base_sum_ = base_sum_ * keep + (outcome ? 1.0 : 0.0);
}

double Prequential::log_score() const { return share(log_score_, count_); }
double Prequential::base_log_score() const { return share(base_log_score_, count_); }
double Prequential::brier() const { return share(brier_, count_); }

double Prequential::calibration_error() const {
  double sum = 0;
  for (const Bin& bin : bins_) sum += std::abs(bin.predicted - bin.observed);
  return share(sum, count_);
}

nlohmann::ordered_json Prequential::to_json() const {
  nlohmann::ordered_json out = {{"predictions", count_},
                                {"log_score", log_score()},
                                {"base_rate_log_score", base_log_score()},
                                {"brier", brier()},
                                {"calibration_error", calibration_error()},
                                {"bins", nlohmann::ordered_json::array()}};
  for (std::size_t i = 0; i < kBins; ++i) {
    const Bin& bin = bins_[i];
    out["bins"].push_back({{"from", static_cast<double>(i) / kBins},
                           {"to", static_cast<double>(i + 1) / kBins},
                           {"count", bin.count},
                           {"predicted", share(bin.predicted, bin.count)},
                           {"observed", share(bin.observed, bin.count)}});
  }
  return out;
}

std::string Prequential::table() const {
  std::string out = "  predicted      rows   mean said   happened\n";
  for (std::size_t i = 0; i < kBins; ++i) {
    const Bin& bin = bins_[i];
    if (bin.count == 0) continue;
    out += fmt::format("  {:>3} - {:>3} %  {:>7}     {:>5.1f} %    {:>5.1f} %\n", 10 * i,
                       10 * i + 10, bin.count, 100 * share(bin.predicted, bin.count),
                       100 * share(bin.observed, bin.count));
  }
  return out;
}

}  // namespace windhover
