#include "windhover/tools/evaluate/sparse_rivals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "windhover/runtime/prediction/gaussian_mixture.h"
#include "windhover/tools/evaluate/probability_record.h"
#include "windhover/tools/evaluate/rival_parts.h"
#include "windhover/tools/evaluate/sparse_descent.h"

namespace windhover {
namespace {

constexpr std::uint64_t kBootstrapSeed = 1;
constexpr int kCopies = 20;
constexpr double kNoiseMemory = 10'000;

// Copies of one descent whose predictions are averaged. A single copy learns each row once, several
// each by bootstrap.
class Descents {
 public:
  Descents(const Dataset& data, Response response, SparseDescent::Rule rule, double rate,
           int copies)
      : data_(data),
        targets_(data, response),
        number_(is_number(response)),
        random_(kBootstrapSeed),
        noise_(kNoiseMemory) {
    const auto loss = number_ ? SparseDescent::Loss::kSquared : SparseDescent::Loss::kLogistic;
    const auto columns = static_cast<std::uint32_t>(data.columns());
    for (int i = 0; i < copies; ++i) copies_.emplace_back(columns, rule, loss, rate);
  }

  double log_score(std::size_t i) {
    const double y = targets_.at(i);
    double mean = 0;
    double squares = 0;
    for (const SparseDescent& copy : copies_) {
      const double eta = copy.predictor(indices(i), values(i), count(i));
      const double said = number_ ? eta : 1 / (1 + std::exp(-eta));
      mean += said / static_cast<double>(copies_.size());
      squares += said * said / static_cast<double>(copies_.size());
    }
    if (number_) {
      const double spread = std::max(squares - mean * mean, 0.0);
      return normal_log_density(y - mean, noise_.variance() + spread) + targets_.log_jacobian(i);
    }
    record_.add(mean, y);
    return std::log(y > 0 ? mean : 1 - mean);
  }

  void learn(std::size_t i) {
    const double y = targets_.at(i);
    if (number_) {
      const double eta = copies_.front().predictor(indices(i), values(i), count(i));
      noise_.add((y - eta) * (y - eta));
    }
    for (SparseDescent& copy : copies_) {
      const int times = copies_.size() > 1 ? often_(random_) : 1;
      if (times > 0) copy.learn(indices(i), values(i), count(i), y, times);
    }
  }

  const ProbabilityRecord& record() const { return record_; }

 private:
  std::size_t begin(std::size_t i) const { return i > 0 ? data_.row_ends[i - 1] : 0; }
  std::size_t count(std::size_t i) const { return data_.row_ends[i] - begin(i); }
  const std::uint32_t* indices(std::size_t i) const { return data_.indices.data() + begin(i); }
  const double* values(std::size_t i) const { return data_.features.data() + begin(i); }

  const Dataset& data_;
  RivalTargets targets_;
  const bool number_;
  std::vector<SparseDescent> copies_;
  std::mt19937_64 random_;
  std::poisson_distribution<int> often_{1.0};
  RivalNoise noise_;
  ProbabilityRecord record_;
};

RivalScore score_of(std::string name, double rate, Descents descents, Response response,
                    std::span<const StreamChunk> chunks) {
  RivalScore score{.name = std::move(name), .setting = fmt::format("rate {}", rate)};
  score.log_score = mean_rival_score(descents, chunks, [] {});
  if (!is_number(response)) {
    score.held = descents.record().held();
    score.calibration_error = descents.record().calibration_error();
  }
  return score;
}

}  // namespace

std::vector<RivalScore> sparse_rival_scores(const Dataset& data, Response response,
                                            std::span<const StreamChunk> chunks) {
  if (!is_number(response) && response != Response::kBernoulli) return {};
  std::vector<RivalScore> scores;
  double best_rate = 0;
  for (const auto& [rule, name] : {std::pair{SparseDescent::Rule::kPlain, "SGD"},
                                   std::pair{SparseDescent::Rule::kAdaptive, "AdaGrad"}}) {
    RivalScore best{.name = name, .log_score = -1e300};
    for (const double rate : {0.01, 0.03, 0.1, 0.3, 1.0, 3.0}) {
      const RivalScore score =
          score_of(name, rate, Descents(data, response, rule, rate, 1), response, chunks);
      if (score.log_score <= best.log_score) continue;
      best = score;
      best_rate = rate;
    }
    scores.push_back(best);
  }
  scores.push_back(
      score_of("AdaGrad, 20 bootstraps", best_rate,
               Descents(data, response, SparseDescent::Rule::kAdaptive, best_rate, kCopies),
               response, chunks));
  return scores;
}

}  // namespace windhover
