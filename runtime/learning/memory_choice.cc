#include "windhover/runtime/learning/memory_choice.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "windhover/samplers/linear_algebra/linear_algebra.h"
#include "windhover/samplers/registry.h"

namespace windhover {

namespace {

// How many memories of N, N / 2, N / 4, ... rows there are, none of fewer than `least` rows or than
// `rows_a_parameter` for each parameter: fewer say too little.
std::uint32_t memories_down_to(std::uint64_t least, std::uint64_t rows_a_parameter,
                               const EngineConfig& config) noexcept {
  least = std::max(least, rows_a_parameter * config.model.dimension());
  std::uint32_t count = 1;
  for (std::uint64_t rows = config.window_size / 2; rows >= least; rows /= 2) ++count;
  return std::min(count, MemoryEvidence::kMost);
}

// How many memories the posterior of chains can stand on.
std::uint32_t choosable(const EngineConfig& config) noexcept {
  return memories_down_to(48, 4, config);
}

// How many rows a walking level stands on: an average of these covers the lengths between, as one
// that is off by a factor of two is nearly as good. The last is for prices, which are nothing but a
// walk.
constexpr std::array<std::uint64_t, 4> kLevelRows = {64, 16, 4, 1};
static_assert(MemoryEvidence::kMost + kLevelRows.size() <= MemoryChoice::kMost);

constexpr std::uint64_t kMostJudged = 1'024;

// As an origin of averages, beside 1 in the posterior, at first.
constexpr double kTrustInFilter = 0.1;

// Only for a normal y: where the loss is not quadratic filters lag behind the posterior that is
// served, and a walking level would win by lagging less.
std::uint32_t levels(const EngineConfig& config) noexcept {
  const bool normal = is_normal(find_model(config.model.name)->response);
  return normal && config.model.intercept ? kLevelRows.size() : 0;
}

double weight_of(const RowLayout& layout, const RowBatch& batch) noexcept {
  if (!layout.has_weight()) return static_cast<double>(batch.count);
  double sum = 0;
  for (std::size_t i = 0; i < batch.count; ++i) {
    sum += layout.weight(batch.base + batch.slots[i] * layout.stride());
  }
  return sum;
}

}  // namespace

std::uint32_t MemoryChoice::memories(const EngineConfig& config) noexcept {
  if (config.horizon != Horizon::kAdaptive || config.structure == Structure::kDiagonal) return 0;
  const bool normal = is_normal(find_model(config.model.name)->response);
  return (normal ? memories_down_to(24, 2, config) : choosable(config)) + levels(config);
}

std::uint32_t MemoryChoice::columns(const EngineConfig& config) noexcept {
  const std::uint32_t count = memories(config);
  const bool normal = is_normal(find_model(config.model.name)->response);
  return count > 0 && (levels(config) > 0 || !normal) ? count + 1 : count;
}

MemoryChoice::MemoryChoice(Arena& arena, const EngineConfig& config,
                           const Estimator& estimator) noexcept
    : estimator_(estimator),
      dimension_(config.model.dimension()),
      spread_(config.forgetting_spread),
      count_(memories(config)),
      levels_(levels(config)),
      columns_(columns(config)),
      choosable_(choosable(config)),
      scratch_(arena, dimension_),
      weights_(count_, count_ - (levels_ > 0 ? 1 : 0)),  // of large takes the last knows nothing
      response_(find_model(config.model.name)->response),
      seed_(config.seed),
      draws_(config.retained_draws),
      normals_(arena.allocate<double>(std::size_t{columns_} * draws_).data()) {
  std::uint64_t rows = config.window_size;
  for (std::uint32_t i = 0; i < levels_; ++i) {
    level_filters_[i] =
        arena.make<LevelFilter>(arena, config, estimator, scratch_, rows, kLevelRows[i]);
    if (level_filters_[i] == nullptr) continue;  // the arena only measures
    posteriors_[count_ - levels_ + i] = &level_filters_[i]->posterior();
  }
  for (std::uint32_t i = 0; i < count_ - levels_; ++i, rows /= 2) {
    // The longest stands for a window, in which every row counts once.
    const bool as_many = i == 0 || spread_ == ForgettingSpread::kSampling;
    memories_[i] = arena.make<MemoryFilter>(arena, config, estimator, scratch_, rows, as_many);
    if (memories_[i] != nullptr) posteriors_[i] = &memories_[i]->posterior();
  }
}

std::uint64_t MemoryChoice::most_rows() const noexcept {
  // A take costs some 20 ms at most on the machine of tools/bench. However few parameters it has, a
  // row costs as much as one of 26.
  constexpr double kProducts = 4e7;
  constexpr double kLeastOfRow = 700;
  const double of_row = count_ * (kLeastOfRow + static_cast<double>(dimension_) * dimension_);
  return static_cast<std::uint64_t>(
      std::clamp(kProducts / of_row, 64.0, static_cast<double>(kMostRows)));
}

void MemoryChoice::reset() noexcept {
  forget();
  evidence_.reset();
  for (MemoryFilter* memory : memories()) memory->reset();
  for (LevelFilter* filter : level_filters()) filter->reset();
}

void MemoryChoice::start(const WindowCursor& cursor) noexcept {
  estimated_ = chosen_;
  if (running_) return;
  running_ = true;
  evidence_.reset();
  weights_.reset();
  origins_.reset(kTrustInFilter);
  noise_.reset(count_);
  fill_normals();
  for (MemoryFilter* memory : memories()) memory->start(cursor.rows());
  for (LevelFilter* filter : level_filters()) filter->start(cursor.rows());
}

bool MemoryChoice::take(const WindowCursor& cursor, std::uint64_t first, std::uint64_t head,
                        LearnerWorker& worker) noexcept {
  Model& model = *worker.model;
  first = std::max(first, head - std::min(head, most_rows()));
  const auto for_batches = [&](auto&& visit) {
    for (std::uint64_t at = first; at < head; at += FilteredPosterior::kMostRows) {
      const std::uint64_t end = std::min<std::uint64_t>(head, at + FilteredPosterior::kMostRows);
      const RowBatch batch = cursor.between(at, end, worker.indices);
      visit(batch, weight_of(cursor.layout(), batch));
    }
  };
  const Numbers variances = dispersions();
  const Numbers served = weights();
  if (normal()) {
    noise_.begin_take({variances.data(), count_}, {served.data(), count_});
  } else {
    begin_origins(served);
  }
  for_batches([&](const RowBatch& batch, double weight) {
    Numbers losses{};
    if (normal()) {
      compare_normal(batch, model, losses);
    } else {
      for (std::uint32_t i = 0; i < count_; ++i) {
        losses[i] = estimator_.done().weight_ratio() * posteriors_[i]->loss(batch, weight, model);
      }
      compare_origins(batch, model);
    }
    evidence_.add(std::span(losses).first<MemoryEvidence::kMost>());
    weights_.add(losses, batch.count);
  });
  if (normal()) {
    noise_.end_take(posteriors_[0]->worth());
  } else {
    const double of_chains = posteriors_[estimated_]->worth();
    origins_.end_take(std::array{of_chains, of_chains});
  }
  evidence_.end_take();
  Numbers worth;
  for (std::uint32_t i = 0; i < count_; ++i) worth[i] = posteriors_[i]->worth();
  weights_.end_take({worth.data(), count_});
  for (LevelFilter* filter : level_filters()) filter->look_ahead(0);
  for_batches([&](const RowBatch& batch, double weight) {
    for (MemoryFilter* memory : memories()) memory->learn(batch, weight, model);
    for (LevelFilter* filter : level_filters()) filter->learn(batch, weight, model);
  });
  take_rows_ = head - first;
  // The next take is taken to be as large as this one: its rows lie so far ahead on average.
  const double ahead = 0.5 * (static_cast<double>(take_rows_) + 1);
  for (LevelFilter* filter : level_filters()) filter->look_ahead(ahead);
  const std::uint32_t before = std::exchange(chosen_, evidence_.choose(chosen_, choosable_));
  return chosen_ != before;
}

void MemoryChoice::compare_normal(const RowBatch& batch, Model& model, Numbers& losses) noexcept {
  std::array<Residuals, kMost> of;
  for (std::uint32_t i = 0; i < count_; ++i) {
    posteriors_[i]->residuals(batch, model, of[i].data());
    const std::span<PredictiveResidual> rows = std::span(of[i]).first(batch.count);
    for (PredictiveResidual& row : rows) row.weight *= estimator_.done().weight_ratio();
    losses[i] += noise_.loss(rows);
  }
  const Numbers believed = weights();
  for (std::size_t row = 0; row < batch.count; ++row) noise_.add(averaged(of, believed, row));
}

PredictiveResidual MemoryChoice::averaged(const std::array<Residuals, kMost>& of,
                                          const Numbers& believed, std::size_t row) const noexcept {
  PredictiveResidual all = of[estimated_][row];
  all.error = 0;
  const double own = all.variance;
  for (std::uint32_t i = count_ - levels_; i < count_; ++i) {
    all.variance += believed[i] * (of[i][row].variance - own);
  }
  for (std::uint32_t i = 0; i < count_; ++i) all.error += believed[i] * of[i][row].error;
  for (std::uint32_t i = 0; i < count_; ++i) {
    const double apart = of[i][row].error - all.error;
    all.variance += believed[i] * apart * apart;
  }
  return all;
}

MemoryChoice::Numbers MemoryChoice::weights() const noexcept {
  constexpr double kLeastTakes = 8;
  constexpr double kConsiderable = 0.05;
  std::array<bool, kMost> takes_part;
  takes_part.fill(true);
  const Numbers all = weights_.served(takes_part);
  const std::uint32_t first_level = count_ - levels_;
  const double walking = std::accumulate(&all[first_level], &all[count_], 0.0);
  // A level that may walk through a whole take makes predictions wide, even where little speaks for
  // it. So it takes part only if at least kLeastTakes takes of the newest one's size have been
  // seen, and speak for walking levels.
  const double takes = posteriors_[0]->rows().sum() / static_cast<double>(take_rows_);
  const bool known = take_rows_ <= kMostJudged && takes >= kLeastTakes && walking > 0.5;
  for (std::uint32_t i = 1; i < count_; ++i) {
    takes_part[i] = !is_far_shorter(i) || (known && i >= first_level && all[i] > kConsiderable);
  }
  return weights_.served(takes_part);
}

bool MemoryChoice::follows_level() const noexcept {
  if (!running_) return false;
  const Numbers of = weights();
  return std::accumulate(&of[count_ - levels_], &of[count_], 0.0) > 0.5;
}

MemoryChoice::Numbers MemoryChoice::dispersions() const noexcept {
  Numbers all{};
  for (std::uint32_t i = 0; i < count_; ++i) {
    const bool shorter = i > 0 && is_far_shorter(i);
    all[i] = shorter ? all[i - 1] : posteriors_[i]->dispersion();
  }
  return all;
}

NoiseMixture MemoryChoice::noise() const noexcept {
  if (!normal() || !estimator_.dispersion().learned()) return {};
  const Numbers variances = dispersions();
  const Numbers served = weights();
  return noise_.mixture({variances.data(), count_}, estimator_.dispersion().target_variance(),
                        {served.data(), count_});
}

void MemoryChoice::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("choice of a memory", 11);
  visitor.values(chosen_, estimated_, running_, take_rows_);
  chosen_ = std::min(chosen_, choosable_ - 1);  // whatever a damaged copy says
  estimated_ = std::min(estimated_, choosable_ - 1);
  evidence_.visit_state(visitor);
  weights_.visit_state(visitor);
  origins_.visit_state(visitor);
  noise_.visit_state(visitor);
  if (visitor.restores()) fill_normals();
  for (MemoryFilter* memory : memories()) memory->visit_state(visitor);
  for (LevelFilter* filter : level_filters()) filter->visit_state(visitor);
}

}  // namespace windhover
