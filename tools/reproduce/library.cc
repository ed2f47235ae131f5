#include "windhover/tools/reproduce/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "windhover/runtime/learner.h"
#include "windhover/tools/error.h"

namespace windhover::reproduce {
namespace {

constexpr std::uint32_t kFrameRows = 4096;
constexpr int kRoundsAPoll = 256;
constexpr int kIdlePollsAllowed = 10'000;

template <class T>
T need(Result<T> result) {
  if (!result.ok()) {
    throw RunError(fmt::format("{} (it is {})", result.error().sentence, result.error().number));
  }
  return std::move(result).value();
}

EngineConfig complete(EngineConfig config, const Dataset& data) {
  config.model.features = static_cast<std::uint32_t>(data.columns());
  config.window_size = data.rows();
  config.max_frame_rows = kFrameRows;
  // All rows are observed before the learner runs at all.
  config.window_slack = std::max<std::uint64_t>(data.rows(), 2 * kFrameRows);
  config.draws_per_observation = 0;
  config.max_readers = 1;
  return config;
}

MappedBlock block_of(std::size_t bytes) {
  MappedBlock block(bytes);
  if (!block.valid()) throw RunError(fmt::format("no memory for a block of {} bytes", bytes));
  return block;
}

// Runs `make` twice: to measure, then on memory of its own.
std::pair<std::unique_ptr<MappedBlock>, std::unique_ptr<Arena>> memory_for(const auto& make) {
  Arena measuring = Arena::measuring();
  make(measuring);
  auto block = std::make_unique<MappedBlock>(block_of(measuring.used() + 4096));
  auto arena = std::make_unique<Arena>(block->bytes());
  return {std::move(block), std::move(arena)};
}

void observe_all(Engine& engine, const Dataset& data) {
  std::array<RefusedRow, 1> refused;
  for (std::size_t first = 0; first < data.rows(); first += kFrameRows) {
    ObservationBatch batch;
    batch.rows = std::min<std::size_t>(kFrameRows, data.rows() - first);
    batch.features = reinterpret_cast<const std::byte*>(data.row(first));
    batch.feature_values = batch.rows * data.columns();
    batch.targets = reinterpret_cast<const std::byte*>(data.targets.data() + first);
    const ObserveResult result = engine.observe(batch, refused);
    if (!ok(result.status)) throw RunError(fmt::format("observing: {}", to_string(result.status)));
    if (result.refused > 0) {
      throw RunError(fmt::format("row {} is refused: {}", first + refused[0].row + 1,
                                 to_string(refused[0].reason)));
    }
  }
}

}  // namespace

EngineRun::EngineRun(EngineConfig config, const Dataset& data)
    : block_(block_of(need(Engine::footprint(complete(config, data))))) {
  engine_ = need(Engine::create(complete(config, data), block_.bytes(), clock_));
  reader_ = std::make_unique<Reader>(need(engine_->reader()));
  observe_all(*engine_, data);
}

std::uint64_t EngineRun::examples() const {
  return engine_->counters().get(RuntimeCounter::kExamples);
}
std::uint64_t EngineRun::steps() const { return engine_->counters().get(RuntimeCounter::kSteps); }

void EngineRun::settle() {
  for (int poll = 0; engine_->learner().phase() != Learner::Phase::kSampling; ++poll) {
    engine_->poll(kRoundsAPoll);
    if (poll > 100 * kIdlePollsAllowed) throw RunError("the cold start does not end");
  }
}

void EngineRun::run(std::uint64_t steps, const Visit& visit) {
  const auto forward = [](void* context, std::uint16_t chain, const double* theta) noexcept {
    (*static_cast<const Visit*>(context))(chain, theta);
  };
  if (visit) engine_->learner().set_trace(forward, const_cast<Visit*>(&visit));
  const std::uint64_t chains = engine_->config().sampler.chains;
  const std::uint64_t end = this->steps() + steps;
  int idle = 0;
  while (this->steps() < end && idle <= kIdlePollsAllowed) {
    const std::uint64_t rounds = (end - this->steps() + chains - 1) / chains;
    const int worked =
        engine_->poll(static_cast<int>(std::min<std::uint64_t>(rounds, kRoundsAPoll)));
    idle = worked > 0 ? 0 : idle + 1;
  }
  engine_->learner().set_trace(nullptr, nullptr);
  if (this->steps() < end) throw RunError("the learner rests before its steps are done");
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

ChainRun::ChainRun(OwnedModel& model, const OwnedSampler& sampler, const SamplerConfig& config,
                   std::uint32_t minibatch_size, std::uint64_t seed, std::uint16_t chain)
    : model_(model),
      sampler_(sampler),
      seed_(seed),
      theta_(model.dimension()),
      state_(sampler.entry().state_size(config, model.dimension())),
      slots_(minibatch_size),
      chain_{.theta = theta_.data(), .index = chain, .state = state_.data()} {}

void ChainRun::start(const std::vector<double>& theta) {
  std::ranges::copy(theta, theta_.begin());  // the chain points there
  Rng rng(seed_, {.step = step_, .chain = chain_.index, .purpose = Purpose::kInitialState});
  sampler_->start(chain_, rng);
}

bool ChainRun::step() {
  model_.draw(seed_, {.step = step_, .chain = chain_.index, .purpose = Purpose::kMinibatch},
              slots_);
  Rng rng(seed_, {.step = step_, .chain = chain_.index, .purpose = Purpose::kInjectedNoise});
  ++step_;
  return ok(sampler_->step(chain_, model_.gradient(), rng));
}

}  // namespace windhover::reproduce
