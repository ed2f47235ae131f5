// What the rivals share: targets, noise, and how they are scored.
#ifndef WINDHOVER_TOOLS_EVALUATE_RIVAL_PARTS_H_
#define WINDHOVER_TOOLS_EVALUATE_RIVAL_PARTS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "windhover/samplers/models/model.h"
#include "windhover/tools/data/dataset.h"
#include "windhover/tools/evaluate/rivals.h"

namespace windhover {

// y, or its logarithm for a log-normal model, standardised over the whole file where it is a
// number.
class RivalTargets {
 public:
  RivalTargets(const Dataset& data, Response response) : data_(data), response_(response) {
    if (!is_number(response)) return;
    const auto rows = static_cast<double>(data.rows());
    double squares = 0;
    for (std::size_t i = 0; i < data.rows(); ++i) mean_ += number(i) / rows;
    for (std::size_t i = 0; i < data.rows(); ++i) {
      squares += (number(i) - mean_) * (number(i) - mean_);
    }
    if (squares > 0) scale_ = std::sqrt(squares / rows);
  }

  double at(std::size_t i) const { return (number(i) - mean_) / scale_; }
  // What must be added to the log density of at(i) to make it that of y.
  double log_jacobian(std::size_t i) const {
    return -std::log(scale_) - (response_ == Response::kLogNormal ? number(i) : 0.0);
  }

 private:
  double number(std::size_t i) const { return working_target(response_, data_.targets[i]); }

  const Dataset& data_;
  Response response_;
  double mean_ = 0;
  double scale_ = 1;
};

// The noise variance of a number, learned with a memory of `memory` rows.
class RivalNoise {
 public:
  explicit RivalNoise(double memory) : memory_(memory) {}
  double variance() const { return squares_ / rows_; }
  void add(double square) {
    rows_ = 1 + (1 - 1 / memory_) * rows_;
    squares_ = square + (1 - 1 / memory_) * squares_;
  }

 private:
  double memory_;
  double rows_ = 2;  // starts as two rows of the whole spread
  double squares_ = 2;
};

// The mean log score of a rival: all rows of a chunk are scored by what was known before it.
// `between` is called before each row that arrives.
template <class Rival, class Between>
double mean_rival_score(Rival& rival, std::span<const StreamChunk> chunks, const Between& between) {
  constexpr double kWorst = -1'000;  // as the engine's own scores
  double sum = 0;
  std::size_t scored = 0;
  for (const StreamChunk& chunk : chunks) {
    between();
    for (std::size_t i = chunk.scored_from; i < chunk.end; ++i) {
      sum += std::max(rival.log_score(i), kWorst);
    }
    scored += chunk.end - chunk.scored_from;
    for (std::size_t i = chunk.first; i < chunk.end; ++i) {
      if (i > chunk.first) between();
      rival.learn(i);
    }
  }
  return sum / static_cast<double>(scored);
}

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_EVALUATE_RIVAL_PARTS_H_
