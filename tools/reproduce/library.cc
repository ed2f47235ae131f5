#include "windhover/tools/reproduce/library.h"

#include "windhover/runtime/learning/learner.h"
#include "windhover/tools/error.h"
#include "windhover/tools/fit/whole_file.h"
#include "windhover/tools/reproduce/harness.h"

namespace windhover::reproduce {

namespace {

constexpr int kRoundsAPoll = 256;
constexpr int kPollsToSettle = 1'000'000;

EngineConfig complete(EngineConfig config, const Dataset& data) {
  config.model.features = static_cast<std::uint32_t>(data.columns());
  config.window_size = data.rows();
  expect_all(config, data);
  return config;
}

// Runs `make` twice: to measure the memory, then on memory of that size.
std::pair<std::unique_ptr<MappedBlock>, std::unique_ptr<Arena>> memory_for(const auto& make) {
  Arena measuring = Arena::measuring();
  make(measuring);
  auto block = std::make_unique<MappedBlock>(measuring.used() + 4096);
  if (!block->valid()) throw RunError("no memory for an object of the library");
  auto arena = std::make_unique<Arena>(block->bytes());
  return {std::move(block), std::move(arena)};
}

}  // namespace

EngineRun::EngineRun(EngineConfig config, const Dataset& data)
    : engine_(complete(std::move(config), data)), reader_(value_or_throw(engine_->reader())) {
  observe_all(*engine_, data);
}

std::uint64_t EngineRun::examples() const { return engine_.count(RuntimeCounter::kExamples); }
std::uint64_t EngineRun::steps() const { return engine_.count(RuntimeCounter::kSteps); }

std::vector<ParameterSummary> EngineRun::posterior() {
  std::vector<ParameterSummary> summaries(dimension());
  Provenance provenance;
  if (!ok(reader_.posterior(summaries, provenance))) throw RunError("there is no posterior");
  return summaries;
}

void EngineRun::settle(const std::function<void()>& going_on) {
  for (int poll = 0; engine_->learner().view().phase != Learner::Phase::kSampling; ++poll) {
    engine_->poll(kRoundsAPoll);
    if (going_on) going_on();
    if (poll > kPollsToSettle) throw RunError("the cold start does not end");
  }
}

void EngineRun::run(std::uint64_t steps, const Visit& visit) {
  const auto forward = [](void* context, std::uint16_t chain, const double* theta) noexcept {
    (*static_cast<const Visit*>(context))(chain, theta);
  };
  if (visit) engine_->learner().set_trace(forward, const_cast<Visit*>(&visit));
  run_until(*engine_, this->steps() + steps);
  engine_->learner().set_trace(nullptr, nullptr);
}

std::string settings_text(const SamplerConfig& c) {
  return fmt::format(
      "{}, S {}, K {}, h {} decay {} offset {} most {}, T {} from {} in {} exponent {}, alpha {}, "
      "tau {}, momentum {}, friction {}, smoothing {} floor {}, rank {}, cycle {} share {}, "
      "explores {}",
      c.name, c.minibatch_size, c.chains, c.step_size, c.step_decay, c.step_offset, c.step_size_max,
      c.temperature, c.initial_temperature, c.annealing_steps, c.annealing_exponent, c.noise_scale,
      c.injected_noise, c.momentum, c.friction, c.smoothing, c.preconditioner_floor, c.rank,
      c.cycle_steps, c.exploration, c.exploration_steps);
}

OwnedSampler::OwnedSampler(const SamplerConfig& config, std::uint32_t dimension)
    : entry_(find_sampler(config.name)) {
  if (entry_ == nullptr) throw UserError(fmt::format("there is no sampler {}", config.name));
  const Result<bool> checked = entry_->check(config);
  if (!checked.ok()) throw UserError(checked.error().sentence);
  const auto make = [&](Arena& arena) { return entry_->make(arena, config, dimension); };
  std::tie(block_, arena_) = memory_for(make);
  sampler_ = make(*arena_);
}

OwnedSampler::OwnedSampler(const SamplerConfig& config, const Told& told)
    : OwnedSampler(config, told.dimension()) {
  tell(told.view());
}

void OwnedSampler::tell(const Estimates& estimates) {
  if (ok(sampler_->refresh(estimates))) return;
  throw RunError(fmt::format("the sampler {} refuses its estimates", entry_->name));
}

ChainMemory::ChainMemory(const OwnedSampler& sampler, const SamplerConfig& config,
                         std::size_t dimension, std::uint16_t index)
    : theta(dimension),
      state(sampler.entry().state_size(config, static_cast<std::uint32_t>(dimension))),
      work(step_scratch(static_cast<std::uint32_t>(dimension))),
      chain{.theta = theta.data(), .index = index, .state = state.data(), .work = work.data()} {}

OwnedModel::OwnedModel(const ModelConfig& config, const Dataset& data)
    : prior_(config.dimension()), row_count_(static_cast<std::uint32_t>(data.rows())) {
  const ModelEntry* entry = find_model(config.name);
  const auto make = [&](Arena& arena) { return entry->make(arena, config); };
  std::tie(block_, arena_) = memory_for(make);
  model_ = make(*arena_);
  entry->reset(*model_);
  entry->prior_precision(config, prior_.data());
  const RowLayout layout(config);
  rows_.assign(data.rows() * layout.stride(), 0.0);
  for (std::size_t i = 0; i < data.rows(); ++i) {
    double* row = rows_.data() + i * layout.stride();
    std::copy_n(data.row(i), data.columns(), row);
    row[layout.target_index()] = data.targets[i];
  }
  gradient_ = std::make_unique<GradientSource>(model_, dimension(), prior_.data());
  const double dispersion = config.noise_variance > 0 ? config.noise_variance : 1.0;
  gradient_->set_scale(static_cast<double>(data.rows()), dispersion);
}

void OwnedModel::draw(std::uint64_t seed, const RandomPosition& position,
                      std::vector<std::uint32_t>& slots) {
  fill_indices(seed, position, row_count_, slots);
  gradient_->set_minibatch(batch(slots));
}

Walk::Walk(const SamplerConfig& config, const Told& told, PotentialGradient gradient,
           const VectorXd& start, std::uint64_t seed, std::uint16_t chain)
    : model_(told.dimension(), told.n, std::move(gradient)),
      prior_(VectorXd::Zero(start.size())),
      source_(&model_, told.dimension(), prior_.data()),
      sampler_(config, told),
      memory_(sampler_, config, told.dimension(), chain),
      seed_(seed) {
  source_.set_scale(told.n, 1.0);
  source_.set_minibatch({nullptr, &slot_, 1});
  std::ranges::copy(start, memory_.theta.begin());
  Rng rng(seed_, {.chain = chain, .purpose = Purpose::kInitialState});
  sampler_->start(memory_.chain, rng);
}

bool Walk::step(const OwnedSampler& sampler) {
  Rng rng(seed_,
          {.step = step_++, .chain = memory_.chain.index, .purpose = Purpose::kInjectedNoise});
  return ok(sampler->step(memory_.chain, source_, rng));
}

void add_path(Series& series, Walk& walk, std::size_t moves, std::size_t thin) {
  for (std::size_t i = 0; i < moves && walk.step(); ++i) {
    if (i % thin == 0) series.add(walk.theta()[0], walk.theta()[1]);
  }
}

}  // namespace windhover::reproduce
