#include "windhover/runtime/learning/chain_record.h"

#include <algorithm>

#include "windhover/runtime/learning/draw_budget.h"
#include "windhover/samplers/registry.h"

namespace windhover {

namespace {

constexpr double kRatioInterval = 16;  // recorded iterates between two comparisons, at least

// Without a window the spread of the chains is that of the sandwich, which the check above
// kLyapunovDimension does not know.
bool is_checked(const EngineConfig& config) noexcept {
  if (!keeps_window(config.horizon)) {
    return config.model.dimension() <= Consistency::kLyapunovDimension;
  }
  return config.sampler.noise_structure == NoiseStructure::kFull;
}

// Where rows are seen once, a relaxation lasts a memory, and all chains are draws at any time: what
// an event did to them must not be held against them for 32 memories.
double span(const EngineConfig& config) noexcept {
  constexpr double kSpanOfDraws = 0.25;
  return keeps_window(config.horizon) ? Consistency::kSpan : kSpanOfDraws;
}

// A network's chains are not compared.
Consistency::Follows followed(const EngineConfig& config) noexcept {
  if (!keeps_window(config.horizon) || find_model(config.model.name)->network) return {};
  const SamplerEntry& sampler = *find_sampler(config.sampler.name);
  const bool has_state = sampler.state_size(config.sampler, config.model.dimension()) > 0;
  return {true, sampler.has_law, has_state};
}

}  // namespace

ChainRecord::ChainRecord(Arena& arena, const EngineConfig& config, std::uint32_t chains) noexcept
    : dimension_(config.model.dimension()),
      chains_(chains),
      temperature_(config.sampler.temperature),
      diagnostics_(arena, chains, dimension_),
      consistency_(arena, dimension_, is_checked(config), followed(config), span(config)),
      deviations_(arena.allocate<double>(std::size_t{dimension_} * chains).data()) {}

void ChainRecord::reset() noexcept {
  diagnostics_.reset();
  restart_spread(0);
  forget_ratio();
}

void ChainRecord::begin() noexcept {
  relaxations_ = last_draw_ = recorded_moves_ = spread_from_ = 0;
  ratio_paid_ = ratio_rows_ = 0;
  diagnostics_.reset();
  forget_ratio();
}

void ChainRecord::add_spread(const Chain& chain, const Estimator& estimator) noexcept {
  if (relaxations_ < spread_from_) return;
  consistency_.add(chain.theta, estimator.laplace().mean(), estimator.laplace().n(),
                   estimator.laplace().factor(), estimator.laplace().covariance(), relaxations_);
}

void ChainRecord::add_iterates(std::span<const Chain> chains, const Estimator& estimator) noexcept {
  const double hot = temperature_ > 0 ? temperature_ : 1.0;
  for (const Chain& chain : chains) {
    add_spread(chain, estimator);
    // Deviations are from the centre, in sd: a moving window and a growing n are no disagreement.
    double* deviation = deviations_ + std::size_t{chain.index} * dimension_;
    for (std::uint32_t j = 0; j < dimension_; ++j) {
      const double variance = estimator.laplace().covariance()[std::size_t{j} * (dimension_ + 1)];
      deviation[j] = (chain.theta[j] - estimator.laplace().mean()[j]) / std::sqrt(hot * variance);
    }
  }
  diagnostics_.add(deviations_);
}

bool ChainRecord::can_be_judged() const noexcept {
  constexpr double kLongestExploration = 512;
  const double patience = last_draw_ > 0 ? DrawBudget::kMostPending : kLongestExploration;
  const bool judged = is_compared() && consistency_.suffices() && diagnostics_.suffices();
  return judged || relaxations_ - last_draw_ >= patience;
}

// A comparison, 60 D^3 products, takes at most a twentieth of the time of the moves since the last
// one. Between two recorded iterates, eight a relaxation, each chain draws N / 8 rows of D numbers.
// There is one more comparison each time the window has grown by a quarter: what is drawn meanwhile
// would not pay for it.
bool ChainRecord::comparison_due(std::uint64_t rows) noexcept {
  constexpr double kShare = 0.05;
  constexpr double kGrown = 1.25;
  const double d = dimension_;
  const double moves = static_cast<double>(rows) * chains_ * d / 8;
  const double cost = dimension_ <= Consistency::kLyapunovDimension ? 60 * d * d * d : d;
  ratio_paid_ += std::min(1 / kRatioInterval, kShare * moves / cost);
  const bool grown = static_cast<double>(rows) >= kGrown * ratio_rows_;
  if (!consistency_.suffices() || (is_compared() && ratio_paid_ < 1 && !grown)) return false;
  ratio_paid_ = 0;
  ratio_rows_ = static_cast<double>(rows);
  return true;
}

bool ChainRecord::spread_is_off() const noexcept {
  return spread_is_narrow() || ratio_.largest >= band(ratio_relaxations_ * chains_).wide;
}

bool ChainRecord::spread_is_narrow() const noexcept {
  return ratio_.smallest <= band(ratio_relaxations_ * chains_).narrow;
}

// Batches of few relaxations are still correlated and would promise too much: in the first hundred
// relaxations no chain counts as more effective draws than it has relaxations behind it.
void ChainRecord::summarize(std::size_t chains, Posterior& posterior) const noexcept {
  constexpr double kFewRelaxations = 100;
  ParameterColumns& of = posterior.parameters;
  diagnostics_.summarize({of.ess_bulk, of.ess_tail, of.mcse_mean, of.r_hat});
  const auto count = static_cast<double>(chains);
  const double most = relaxations_ < kFewRelaxations ? relaxations_ * count : 1e300;
  const double moves = recorded_moves_ * count;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    double& bulk = of.ess_bulk[j];
    if (bulk > most) of.mcse_mean[j] *= std::sqrt(bulk / most);
    bulk = std::min(bulk, most);
    of.ess_tail[j] = std::min(of.ess_tail[j], most);
    of.mcse_mean[j] *= of.sd[j];
    of.autocorrelation_time[j] = bulk > 0 ? moves / bulk : 0.0;
  }
}

}  // namespace windhover
