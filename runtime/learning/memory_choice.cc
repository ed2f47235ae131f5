#include "windhover/runtime/learning/memory_choice.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/kernels/kernels.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

using Eigen::Index;

namespace {

// Of the shortest memory: fewer rows say too little of D parameters.
constexpr std::uint64_t kLeastRows = 48;
constexpr std::uint64_t kRowsAParameter = 8;
// Nats that one batch can speak for a memory, outlying rows or not.
constexpr double kMostABatch = 2;
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
    : estimator_(estimator),
      dimension_(config.model.dimension()),
      spread_(config.forgetting_spread) {
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
  const auto for_batches = [&](auto&& visit) {
    for (std::uint64_t at = first; at < head; at += kBatch) {
      const std::uint64_t end = std::min(head, at + kBatch);
      const RowBatch batch = cursor.between(at, end, worker.indices);
      visit(batch, end, weight_of(cursor.layout(), batch));
    }
  };
  for_batches([&](const RowBatch& batch, std::uint64_t, double weight) {
    for (Memory& memory : std::span(memories_).first(count_)) {
      memory.loss = estimator_.done().weight_ratio() * score(memory, batch, weight, model);
    }
    compare();
  });
  for_batches([&](const RowBatch& batch, std::uint64_t end, double weight) {
    add_information(batch, end, model);
    learned_rows_ += static_cast<double>(batch.count);
    for (Memory& memory : std::span(memories_).first(count_)) {
      learn(memory, batch, weight, rate_of(memory.rows, learned_rows_, batch.count), model);
    }
  });
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
double MemoryChoice::score(const Memory& memory, const RowBatch& batch, double weight,
                           Model& model) const noexcept {
  const double loss = model.loss_sum(batch, memory.centre);
  const Dispersion& dispersion = estimator_.dispersion();
  if (!has_variance(model) || weight == 0) return loss / dispersion.divisor();
  if (!std::isfinite(loss)) return loss;
  const double variance = std::max(memory.variance, dispersion.least());
  return 0.5 * weight * std::log(variance) + loss / variance;
}

// Whether each memory has a variance of y of its own.
bool MemoryChoice::has_variance(const Model& model) const noexcept {
  return is_normal(model.response()) && estimator_.dispersion().learned();
}

// By the loss of the batch, before it is learned from.
void MemoryChoice::learn_variance(Memory& memory, const RowBatch& batch, double weight, double rate,
                                  double loss) const noexcept {
  if (weight == 0 || !std::isfinite(loss)) return;
  const double usual = static_cast<double>(batch.count) * estimator_.done().mean_weight();
  const double variance = std::max(memory.variance, estimator_.dispersion().least());
  rate = std::min(rate * (weight / usual), 1.0);
  memory.variance += rate * (std::min(2 * loss / weight, kMostVariances * variance) - variance);
}

// -log p a row of a batch with this loss, with the prior's share.
double MemoryChoice::objective(const Memory& memory, const double* theta, const RowBatch& batch,
                               double loss) const noexcept {
  const double* prior = estimator_.prior().values();
  double norm = 0;
  for (std::uint32_t j = 0; j < dimension_; ++j) norm += prior[j] * theta[j] * theta[j];
  return loss / (estimator_.dispersion().divisor() * static_cast<double>(batch.count)) +
         0.5 * norm / static_cast<double>(memory.rows);
}

// A step of Newton's, times the rate, but not past the best point of these very rows along it
// (Armijo's rule with 1/2, which a parabola meets up to there): a row whose like has not been seen
// would throw it far off.
void MemoryChoice::learn(Memory& memory, const RowBatch& batch, double weight, double rate,
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
  const double loss = model.loss_sum(batch, memory.centre);
  if (has_variance(model)) learn_variance(memory, batch, weight, rate, loss);
  const double before = objective(memory, memory.centre, batch, loss);
  for (int i = 0; i < kMostHalvings; ++i, rate *= 0.5) {
    for (Index j = 0; j < d; ++j) moved_[j] = memory.centre[j] - rate * step_[j];
    // Never true of what is not a number.
    const double after = objective(memory, moved_, batch, model.loss_sum(batch, moved_));
    if (!(after <= before - 0.5 * rate * slope)) continue;
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
