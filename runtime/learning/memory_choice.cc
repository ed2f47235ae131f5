#include "windhover/runtime/learning/memory_choice.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/kernels/kernels.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

using Eigen::Index;

namespace {

// Of the shortest memory: fewer rows say too little of D parameters.
constexpr std::uint64_t kLeastRows = 128;
constexpr std::uint64_t kRowsAParameter = 8;
// Nats that one batch can speak for a memory, outlying rows or not.
constexpr double kMostABatch = 1;
constexpr double kMuch = 1e300;  // information about a parameter, where nobody counted

// What `count` rows count for in a memory of `rows` rows that stands on `learned` in all.
double rate_of(std::uint64_t rows, double learned, std::size_t count) noexcept {
  const double share = std::max(1 / learned, 2 / static_cast<double>(rows));
  return 1 - std::pow(1 - std::min(share, 0.5), static_cast<double>(count));
}

double weight_of(const RowLayout& layout, const RowBatch& batch) noexcept {
  if (!layout.has_weight()) return static_cast<double>(batch.count);
  double sum = 0;
  for (std::size_t i = 0; i < batch.count; ++i) {
    sum += layout.weight(batch.base + batch.slots[i] * layout.stride());
  }
  return sum;
}

// Of a squared residual that one batch says to the variance: an outlying row must not leave the
// long memories with it when the short ones have forgotten.
constexpr double kMostVariances = 10;

}  // namespace

MemoryChoice::MemoryChoice(Arena& arena, const EngineConfig& config,
                           const Estimator& estimator) noexcept
    : estimator_(estimator), dimension_(config.model.dimension()) {
  const std::uint64_t least = std::max(kLeastRows, kRowsAParameter * dimension_);
  std::uint64_t rows = config.window_size;
  do {
    memories_[count_].rows = rows;
    memories_[count_].centre = arena.allocate<double>(dimension_).data();
    memories_[count_].information = arena.allocate<double>(dimension_).data();
    memories_[count_].information_before = arena.allocate<double>(dimension_).data();
    ++count_;
    rows /= 2;
  } while (rows >= least && count_ < kMost);
  squares_ = arena.allocate<double>(dimension_).data();
  gradient_ = arena.allocate<double>(dimension_).data();
  step_ = arena.allocate<double>(dimension_).data();
  moved_ = arena.allocate<double>(dimension_).data();
}

void MemoryChoice::reset() noexcept {
  chosen_ = 0;
  learned_rows_ = 0;
  for (Memory& memory : std::span(memories_).first(count_)) {
    memory.variance = 1;
    memory.evidence = memory.loss = 0;
    memory.half = 0;
    for (double* of_each : {memory.centre, memory.information, memory.information_before}) {
      std::fill_n(of_each, dimension_, 0.0);
    }
  }
  std::fill_n(gradient_, dimension_, 0.0);
}

void MemoryChoice::start(const WindowCursor& cursor) noexcept {
  chosen_ = 0;
  learned_rows_ = static_cast<double>(cursor.rows());
  for (Memory& memory : std::span(memories_).first(count_)) {
    std::copy_n(estimator_.laplace().mode(), dimension_, memory.centre);
    memory.variance = estimator_.dispersion().divisor();
    memory.evidence = 0;
    memory.half = cursor.head() / (memory.rows / 2);
    // What the first rows said is not forgotten before a whole half has passed.
    std::fill_n(memory.information, dimension_, kMuch);
    std::fill_n(memory.information_before, dimension_, kMuch);
  }
}

bool MemoryChoice::take(const WindowCursor& cursor, std::uint64_t first, std::uint64_t head,
                        LearnerWorker& worker) noexcept {
  const std::uint32_t before = chosen_;
  Model& model = *worker.model;
  model.set_dispersion(estimator_.dispersion().value());
  first = std::max(first, head - std::min(head, kMostRows));
  for (std::uint64_t at = first; at < head; at += kBatch) {
    const std::uint64_t end = std::min(head, at + kBatch);
    const RowBatch batch = cursor.between(at, end, worker.indices);
    add_information(batch, end, model);
    learned_rows_ += static_cast<double>(batch.count);
    const double weight = weight_of(cursor.layout(), batch);
    for (Memory& memory : std::span(memories_).first(count_)) {
      const double rate = rate_of(memory.rows, learned_rows_, batch.count);
      memory.loss = estimator_.done().weight_ratio() * predict(memory, batch, weight, rate, model);
      learn(memory, batch, rate, model);
    }
    compare();
  }
  return chosen_ != before;
}

void MemoryChoice::add_information(const RowBatch& batch, std::uint64_t end,
                                   Model& model) noexcept {
  const double dispersion = estimator_.dispersion().divisor();
  const double ratio = estimator_.done().weight_ratio();
  std::fill_n(squares_, dimension_, 0.0);
  NoiseVarianceSums sums{gradient_, squares_};
  model.add_noise_variances(batch, memories_[chosen_].centre, sums);
  for (Memory& memory : std::span(memories_).first(count_)) {
    const std::uint64_t half = end / (memory.rows / 2);
    if (half != memory.half) {
      std::swap(memory.information, memory.information_before);
      // Rows that were passed over may have said anything.
      if (half != memory.half + 1) std::fill_n(memory.information_before, dimension_, kMuch);
      memory.half = half;
      std::fill_n(memory.information, dimension_, 0.0);
      forget(memory);
    }
    for (std::uint32_t j = 0; j < dimension_; ++j) {
      memory.information[j] += ratio * squares_[j] / (dispersion * dispersion);
    }
  }
}

// What less is known about than the prior says, a window of so many rows has forgotten: an hour of
// the day in a window of a few hours.
void MemoryChoice::forget(Memory& memory) noexcept {
  const double* prior = estimator_.prior().values();
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    if (memory.information_before[j] < prior[j]) memory.centre[j] = 0;
  }
}

void MemoryChoice::compare() noexcept {
  const double loss = memories_[chosen_].loss;
  std::uint32_t best = chosen_;
  for (std::uint32_t i = 0; i < count_; ++i) {
    const double better = std::clamp(loss - memories_[i].loss, -kMostABatch, kMostABatch);
    // Of rows so large that both have overflowed there is nothing to compare.
    if (!std::isnan(better)) memories_[i].evidence = std::max(0.0, memories_[i].evidence + better);
    if (memories_[i].evidence > memories_[best].evidence) best = i;
  }
  if (memories_[best].evidence < kEvidence) return;
  chosen_ = best;
  for (Memory& memory : memories_) memory.evidence = 0;
}

// -log p of the batch, but for what is the same of all memories.
double MemoryChoice::predict(Memory& memory, const RowBatch& batch, double weight, double rate,
                             Model& model) noexcept {
  const double loss = model.loss_sum(batch, memory.centre);
  const Dispersion& dispersion = estimator_.dispersion();
  const bool own_variance = is_normal(model.response()) && dispersion.learned() && weight > 0;
  if (!own_variance) return loss / dispersion.divisor();
  if (!std::isfinite(loss)) return loss;
  const double usual = static_cast<double>(batch.count) * estimator_.done().mean_weight();
  const double variance = std::max(memory.variance, dispersion.least());
  const double score = 0.5 * weight * std::log(variance) + loss / variance;
  rate = std::min(rate * (weight / usual), 1.0);
  memory.variance += rate * (std::min(2 * loss / weight, kMostVariances * variance) - variance);
  return score;
}

// -log p a row, with the prior's share.
double MemoryChoice::objective(const Memory& memory, const double* theta, const RowBatch& batch,
                               Model& model) const noexcept {
  const double* prior = estimator_.prior().values();
  double norm = 0;
  for (std::uint32_t j = 0; j < dimension_; ++j) norm += prior[j] * theta[j] * theta[j];
  return model.loss_sum(batch, theta) /
             (estimator_.dispersion().divisor() * static_cast<double>(batch.count)) +
         0.5 * norm / static_cast<double>(memory.rows);
}

// A step of Newton's, times the rate, but not past the best point of these very rows along it
// (Armijo's rule with 1/2, which a parabola meets up to there): a row whose like has not been seen
// would throw it far off.
void MemoryChoice::learn(Memory& memory, const RowBatch& batch, double rate,
                         Model& model) noexcept {
  constexpr int kMostHalvings = 30;
  const Index d = dimension_;
  const auto rows = static_cast<double>(batch.count);
  const double* prior = estimator_.prior().values();
  model.gradient_sum(batch, memory.centre, gradient_);
  for (Index j = 0; j < d; ++j) {
    gradient_[j] = gradient_[j] / (estimator_.dispersion().divisor() * rows) +
                   prior[j] * memory.centre[j] / static_cast<double>(memory.rows);
  }
  std::fill_n(step_, d, 0.0);
  kernels().symmetric_product(estimator_.laplace().covariance(), dimension_,
                              estimator_.laplace().n(), gradient_, step_);
  const double slope = ConstVectorMap(step_, d).dot(ConstVectorMap(gradient_, d));
  const double before = objective(memory, memory.centre, batch, model);
  for (int i = 0; i < kMostHalvings; ++i, rate *= 0.5) {
    for (Index j = 0; j < d; ++j) moved_[j] = memory.centre[j] - rate * step_[j];
    // Never true of what is not a number.
    if (!(objective(memory, moved_, batch, model) <= before - 0.5 * rate * slope)) continue;
    std::copy_n(moved_, d, memory.centre);
    return;
  }
}

void MemoryChoice::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("choice of a memory");
  visitor.values(chosen_, learned_rows_);
  chosen_ = std::min(chosen_, count_ - 1);  // whatever a damaged copy says
  for (Memory& memory : std::span(memories_).first(count_)) {
    visitor.values(memory.variance, memory.evidence, memory.half);
    visitor.visit(memory.centre, dimension_);
    visitor.visit(memory.information, dimension_);
    visitor.visit(memory.information_before, dimension_);
  }
}

}  // namespace windhover
