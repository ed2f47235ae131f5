#include "windhover/runtime/learning/memory_choice.h"

#include <algorithm>
#include <span>
#include <utility>

#include "windhover/samplers/registry.h"

namespace windhover {

namespace {

// Of the shortest memory: fewer rows say too little of D parameters.
constexpr std::uint64_t kLeastRows = 48;
constexpr std::uint64_t kRowsAParameter = 4;

double weight_of(const RowLayout& layout, const RowBatch& batch) noexcept {
  if (!layout.has_weight()) return static_cast<double>(batch.count);
  double sum = 0;
  for (std::size_t i = 0; i < batch.count; ++i) {
    sum += layout.weight(batch.base + batch.slots[i] * layout.stride());
  }
  return sum;
}

}  // namespace

MemoryChoice::MemoryChoice(Arena& arena, const EngineConfig& config,
                           const Estimator& estimator) noexcept
    : estimator_(estimator),
      dimension_(config.model.dimension()),
      spread_(config.forgetting_spread),
      scratch_(arena, dimension_),
      response_(find_model(config.model.name)->response) {
  const std::uint64_t least = std::max(kLeastRows, kRowsAParameter * dimension_);
  std::uint64_t rows = config.window_size;
  do {
    // The longest is a window, in which every row counts once.
    const bool as_many = count_ == 0 || spread_ == ForgettingSpread::kSampling;
    memories_[count_++] =
        arena.make<MemoryFilter>(arena, config, estimator, scratch_, rows, as_many);
    rows /= 2;
  } while (rows >= least && count_ < kMost);
}

std::uint64_t MemoryChoice::most_rows() const noexcept {
  // Some 20 ms on the machine of tools/bench; a row of few parameters costs as one of 26 at least.
  constexpr double kProducts = 4e7;
  constexpr double kLeastOfRow = 700;
  const double of_row = count_ * (kLeastOfRow + static_cast<double>(dimension_) * dimension_);
  return static_cast<std::uint64_t>(
      std::clamp(kProducts / of_row, 64.0, static_cast<double>(kMostRows)));
}

void MemoryChoice::reset() noexcept {
  forget();
  evidence_.reset();
  for (MemoryFilter* memory : std::span(memories_).first(count_)) memory->reset();
}

void MemoryChoice::start(const WindowCursor& cursor) noexcept {
  if (running_) return;
  running_ = true;
  evidence_.reset();
  noise_.reset(count_, true);
  for (MemoryFilter* memory : std::span(memories_).first(count_)) memory->start(cursor.rows());
}

bool MemoryChoice::take(const WindowCursor& cursor, std::uint64_t first, std::uint64_t head,
                        LearnerWorker& worker) noexcept {
  Model& model = *worker.model;
  first = std::max(first, head - std::min(head, most_rows()));
  const auto for_batches = [&](auto&& visit) {
    for (std::uint64_t at = first; at < head; at += MemoryFilter::kMostRows) {
      const std::uint64_t end = std::min<std::uint64_t>(head, at + MemoryFilter::kMostRows);
      const RowBatch batch = cursor.between(at, end, worker.indices);
      visit(batch, weight_of(cursor.layout(), batch));
    }
  };
  if (normal()) noise_.begin_take(dispersions());
  for_batches([&](const RowBatch& batch, double weight) {
    std::array<double, kMost> losses{};
    if (normal()) {
      compare_normal(batch, model, losses);
    } else {
      for (std::uint32_t i = 0; i < count_; ++i) {
        losses[i] = estimator_.done().weight_ratio() * memories_[i]->loss(batch, weight, model);
      }
    }
    evidence_.add(losses);
  });
  if (normal()) noise_.end_take();
  evidence_.end_take();
  for_batches([&](const RowBatch& batch, double weight) {
    for (std::uint32_t i = 0; i < count_; ++i) memories_[i]->learn(batch, weight, model);
  });
  const std::uint32_t before = std::exchange(chosen_, evidence_.choose(chosen_, count_));
  return chosen_ != before;
}

void MemoryChoice::compare_normal(const RowBatch& batch, Model& model,
                                  std::array<double, kMost>& losses) noexcept {
  std::array<PredictiveResidual, MemoryFilter::kMostRows> rows;
  const auto of_batch = std::span(rows).first(batch.count);
  for (std::uint32_t i = 0; i < count_; ++i) {
    memories_[i]->residuals(batch, model, rows.data());
    for (PredictiveResidual& row : of_batch) row.weight *= estimator_.done().weight_ratio();
    for (const PredictiveResidual& row : of_batch) losses[i] += row.weight * noise_.loss(row);
    if (i != chosen_) continue;
    for (const PredictiveResidual& row : of_batch) noise_.add(row);
  }
}

std::array<double, MemoryChoice::kMost> MemoryChoice::dispersions() const noexcept {
  std::array<double, kMost> all{};
  for (std::uint32_t i = 0; i < count_; ++i) all[i] = memories_[i]->dispersion();
  return all;
}

NoiseMixture MemoryChoice::noise() const noexcept {
  const bool served = normal() && running_ && estimator_.dispersion().learned();
  return served ? noise_.mixture(dispersions()) : NoiseMixture();
}

void MemoryChoice::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("choice of a memory", 5);
  visitor.values(chosen_, running_);
  chosen_ = std::min(chosen_, count_ - 1);  // whatever a damaged copy says
  evidence_.visit_state(visitor);
  noise_.visit_state(visitor);
  for (MemoryFilter* memory : std::span(memories_).first(count_)) memory->visit_state(visitor);
}

}  // namespace windhover
