#include "windhover/tools/bench/sampler_rig.h"

#include <fmt/format.h>

#include <algorithm>

#include "windhover/tools/bench/micro_stream.h"
#include "windhover/tools/bench/timing.h"
#include "windhover/tools/error.h"

namespace windhover {

namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::uint32_t kClasses = 4;

ModelConfig model_of(const RigConfig& c) {
  const ModelEntry* entry = find_model(c.model);
  if (entry == nullptr) throw RunError(fmt::format("no rig for a model {}", c.model));
  ModelConfig model;
  model.name = c.model;
  model.features = c.dimension - 1;
  model.prior_precision = 1;
  model.intercept_precision = 0.1;
  model.max_nonzeros = c.nonzeros;
  model.noise_variance = has_dispersion(entry->response) ? 1.0 : 0.0;
  model.classes = kClasses;
  return model;
}

// How many indices are drawn in advance: enough to touch most of the rows, so that no cache holds
// what is to come from memory.
std::size_t drawn(const RigConfig& c) {
  constexpr std::size_t kEnough = std::size_t{1} << 20;
  const std::size_t most = std::max<std::size_t>(kEnough, 2 * c.rows);
  return std::clamp<std::size_t>(8 * c.rows, c.minibatch_size, most);
}

SamplerConfig sampler_of(const RigConfig& c) {
  SamplerConfig sampler;
  sampler.name = c.sampler;
  sampler.minibatch_size = c.minibatch_size;
  sampler.chains = SamplerRig::kChains;
  sampler.rank = c.rank;
  return sampler;
}

}  // namespace

SamplerRig::SamplerRig(const RigConfig& config)
    : config_(config),
      model_config_(model_of(config)),
      sampler_config_(sampler_of(config)),
      layout_(model_config_),
      parameters_(model_config_.dimension()),
      rows_(config.rows * layout_.stride() * sizeof(double)),
      block_([this] {
        Arena measuring = Arena::measuring();
        make(measuring);
        return measuring.used();
      }()),
      slots_(config.minibatch_size),
      drawn_(drawn(config)),
      gradient_(nullptr, 0, nullptr) {
  const Result<bool> possible = find_sampler(config.sampler)->check(sampler_config_);
  if (!possible.ok() || !rows_.valid() || !block_.valid()) {
    throw RunError(fmt::format("no rig for {} at D = {}", config.sampler, config.dimension));
  }
  const std::uint32_t d = parameters_;
  Arena arena(block_.bytes());
  make(arena);
  find_model(config.model)->reset(*model_);
  fill_rows();
  fill_indices(kSeed, {1}, static_cast<std::uint32_t>(config.rows), drawn_);
  std::ranges::fill(prior_, 1.0);
  std::ranges::fill(curvature_, 0.1 / static_cast<double>(d));
  for (std::size_t j = 0; j < d; ++j) curvature_[j * (d + 1)] += 0.9;
  std::ranges::transform(curvature_.first(noise_.size()), noise_.begin(),
                         [&](double a) { return config.gradient_noise * a; });
  estimates_ = {.dimension = d,
                .n = config.n,
                .minibatch_size = static_cast<double>(config.minibatch_size),
                .curvature = curvature_.data(),
                .noise_covariance = noise_.empty() ? curvature_.data() : noise_.data()};
  gradient_ = GradientSource(model_, d, prior_.data());
  gradient_.set_scale(config.n, 1.0);
  refresh();
  const std::size_t state = states_.size() / kChains;
  for (std::uint16_t c = 0; c < kChains; ++c) {
    chains_.push_back(
        {theta_.data() + std::size_t{c} * d, c, states_.data() + c * state, work_.data()});
    if (!model_->log_concave()) model_->initial(kSeed + c, chains_.back().theta);
    Rng rng(kSeed, {0, c, Purpose::kInitialState});
    sampler_->start(chains_.back(), rng);
  }
}

void SamplerRig::make(Arena& arena) {
  const SamplerEntry& sampler = *find_sampler(config_.sampler);
  model_ = find_model(config_.model)->make(arena, model_config_);
  sampler_ = sampler.make(arena, sampler_config_, parameters_);
  const std::size_t d = parameters_;
  const std::size_t width = matrix_width(d);
  prior_ = arena.allocate<double>(d);
  curvature_ = arena.allocate<double>(d * d);
  noise_ = arena.allocate<double>(config_.gradient_noise == 1 ? 0 : d * d);
  theta_ = arena.allocate<double>(kChains * d);
  states_ = arena.allocate<double>(kChains * sampler.state_size(sampler_config_, parameters_));
  work_ = arena.allocate<double>(step_scratch(parameters_));
  sum_ = arena.allocate<double>(d);
  outer_ = arena.allocate<double>(width * width);  // pages are mapped when they are written
}

// A target that the model takes, from a standard normal number.
double SamplerRig::target(double normal) const {
  const Response response = model_->response();
  // The rig's rows have 1 trial each.
  if (response == Response::kBinomial) return normal > 0 ? 1 : 0;
  return MicroRows::target(response, 0, normal, kClasses);
}

void SamplerRig::fill_rows() {
  const std::size_t stride = layout_.stride();
  const std::uint32_t nonzeros = config_.nonzeros;
  auto* rows = reinterpret_cast<double*>(rows_.bytes().data());
  for (std::uint64_t i = 0; i < config_.rows; ++i) {
    double* row = rows + i * stride;
    double& y = row[layout_.target_index()];
    if (layout_.has_trials()) row[layout_.trials_index()] = 1;
    if (!layout_.sparse()) {
      fill_normals(kSeed, {i}, {row, layout_.features() + 1});
      y = target(y);
      continue;
    }
    fill_normals(kSeed, {i}, {&y, 1});
    y = target(y);
    row[RowLayout::kCountIndex] = nonzeros;
    std::fill_n(row + RowLayout::kValuesIndex, nonzeros, 1.0);
    auto* indices = reinterpret_cast<std::uint32_t*>(row + layout_.indices_index());
    const std::uint32_t part = layout_.features() / nonzeros;
    fill_indices(kSeed, {i, 1}, part, {indices, nonzeros});
    for (std::uint32_t k = 0; k < nonzeros; ++k) indices[k] += k * part;
  }
}

void SamplerRig::refresh(Interlude* interlude) {
  estimates_.interlude = interlude;
  const double start = thread_seconds();
  if (!ok(sampler_->refresh(estimates_))) throw RunError("the rig's estimates do not do");
  refresh_seconds_ = thread_seconds() - start;
}

bool SamplerRig::injects_noise() const {
  const std::size_t entries = std::size_t{parameters_} * parameters_;
  std::vector<double> h(entries);
  std::vector<double> injected(entries);
  sampler_->law(h.data(), injected.data());
  return std::ranges::any_of(injected, [](double x) { return x != 0; });
}

void SamplerRig::move() {
  Chain& chain = chains_[moves_ % kChains];
  const std::uint64_t round = moves_++ / kChains;
  fill_indices(kSeed, {round, chain.index, Purpose::kMinibatch},
               static_cast<std::uint32_t>(config_.rows), slots_);
  gradient_.set_minibatch(
      {reinterpret_cast<double*>(rows_.bytes().data()), slots_.data(), slots_.size()});
  Rng rng(kSeed, {round, chain.index, Purpose::kInjectedNoise});
  if (!ok(sampler_->step(chain, gradient_, rng))) throw RunError("a chain of the rig diverged");
}

RowBatch SamplerRig::next_batch() {
  const std::size_t size = config_.minibatch_size;
  if (next_slot_ + size > drawn_.size()) next_slot_ = 0;
  // A learner knows the rows of all chains of a round, and prefetches them.
  const std::size_t following = std::min((kChains - 1) * size, drawn_.size() - next_slot_ - size);
  const RowBatch batch{reinterpret_cast<double*>(rows_.bytes().data()), drawn_.data() + next_slot_,
                       size, following};
  next_slot_ += size;
  return batch;
}

void SamplerRig::gradient() {
  gradient_.set_minibatch(next_batch());
  gradient_(theta_.data(), sum_.data());
}

void SamplerRig::add_noise() {
  NoiseSums sums{sum_.data(), outer_.data()};
  model_->add_noise(next_batch(), theta_.data(), sums);
}

void SamplerRig::add_curvature() {
  CurvatureSums sums{sum_.data(), outer_.data(), nullptr};
  model_->add_curvature(next_batch(), theta_.data(), nullptr, 1.0, sums);
}

}  // namespace windhover
