#include "windhover/runtime/checkpoint/config_fields.h"

#include <bit>
#include <type_traits>

#include "windhover/platform/checksum.h"
#include "windhover/runtime/checkpoint/format.h"

namespace windhover::checkpoint {

namespace {

using Kind = ConfigField::Kind;
using Config = EngineConfig;

template <class T>
std::uint64_t whole(T value) noexcept {
  return static_cast<std::uint64_t>(value);
}
std::uint64_t real(double value) noexcept { return std::bit_cast<std::uint64_t>(value); }
std::uint64_t hash(std::string_view text) noexcept {
  return checksum(std::as_bytes(std::span(text.data(), text.size())));
}
template <class T>
std::uint64_t hash(std::span<const T> numbers) noexcept {
  return checksum(std::as_bytes(numbers));
}

std::uint64_t hash(std::span<const MissingFeature> features) noexcept {
  std::uint64_t sum = 0;
  for (const MissingFeature& feature : features) {
    const std::uint64_t fill = feature.may_lack() ? real(feature.fill) : UINT64_MAX;
    const std::uint64_t words[] = {sum, fill, feature.marker};
    sum = hash(std::span<const std::uint64_t>(words));
  }
  return sum;
}

constexpr ConfigField kFields[] = {
    {Kind::kHash, "the checkpoint has another model.name; its hash is",
     [](const Config& c) noexcept { return hash(c.model.name); }},
    {Kind::kWhole, "the checkpoint has another model.features; there it is",
     [](const Config& c) noexcept { return whole(c.model.features); }},
    {Kind::kWhole, "the checkpoint has another model.max_nonzeros; there it is",
     [](const Config& c) noexcept { return whole(c.model.max_nonzeros); }},
    {Kind::kWhole, "the checkpoint has another model.intercept; there it is",
     [](const Config& c) noexcept { return whole(c.model.intercept); }},
    {Kind::kWhole, "the checkpoint has another model.offset; there it is",
     [](const Config& c) noexcept { return whole(c.model.offset); }},
    {Kind::kWhole, "the checkpoint has another model.weight; there it is",
     [](const Config& c) noexcept { return whole(c.model.weight); }},
    {Kind::kReal, "the checkpoint has another model.prior_precision; there it is",
     [](const Config& c) noexcept { return real(c.model.prior_precision); }},
    {Kind::kReal, "the checkpoint has another model.intercept_precision; there it is",
     [](const Config& c) noexcept { return real(c.model.intercept_precision); }},
    {Kind::kWhole, "the checkpoint has another model.learn_prior_precision; there it is",
     [](const Config& c) noexcept { return whole(c.model.learn_prior_precision); }},
    {Kind::kReal, "the checkpoint has another model.prior_precision_min; there it is",
     [](const Config& c) noexcept { return real(c.model.prior_precision_min); }},
    {Kind::kReal, "the checkpoint has another model.prior_precision_max; there it is",
     [](const Config& c) noexcept { return real(c.model.prior_precision_max); }},
    {Kind::kHash, "the checkpoint has another model.prior_groups; its hash is",
     [](const Config& c) noexcept { return hash(c.model.prior_groups); }},
    {Kind::kReal, "the checkpoint has another model.noise_variance; there it is",
     [](const Config& c) noexcept { return real(c.model.noise_variance); }},
    {Kind::kReal, "the checkpoint has another model.degrees_of_freedom; there it is",
     [](const Config& c) noexcept { return real(c.model.degrees_of_freedom); }},
    {Kind::kWhole, "the checkpoint has another model.classes; there it is",
     [](const Config& c) noexcept { return whole(c.model.classes); }},
    {Kind::kWhole, "the checkpoint has another model.hidden; there it is",
     [](const Config& c) noexcept { return whole(c.model.hidden); }},
    {Kind::kWhole, "the checkpoint has another model.hidden2; there it is",
     [](const Config& c) noexcept { return whole(c.model.hidden2); }},
    {Kind::kWhole, "the checkpoint has another model.activation; there it is",
     [](const Config& c) noexcept { return whole(c.model.activation); }},
    {Kind::kHash, "the checkpoint has another schema; its hash is",
     [](const Config& c) noexcept { return c.schema_fingerprint; }},
    {Kind::kHash, "the checkpoint has another sampler.name; its hash is",
     [](const Config& c) noexcept { return hash(c.sampler.name); }},
    {Kind::kWhole, "the checkpoint has another sampler.minibatch_size; there it is",
     [](const Config& c) noexcept { return whole(c.sampler.minibatch_size); }},
    {Kind::kWhole, "the checkpoint has another sampler.minibatch_grows; there it is",
     [](const Config& c) noexcept { return whole(c.sampler.minibatch_grows); }},
    {Kind::kWhole, "the checkpoint has another sampler.chains; there it is",
     [](const Config& c) noexcept { return whole(c.sampler.chains); }},
    {Kind::kWhole, "the checkpoint has another sampler.shared_minibatches; there it is",
     [](const Config& c) noexcept { return whole(c.sampler.shared_minibatches); }},
    {Kind::kWhole, "the checkpoint has another sampler.noise_estimator; there it is",
     [](const Config& c) noexcept { return whole(c.sampler.noise_estimator); }},
    {Kind::kWhole, "the checkpoint has another sampler.noise_structure; there it is",
     [](const Config& c) noexcept { return whole(c.sampler.noise_structure); }},
    {Kind::kWhole, "the checkpoint has another sampler.decay; there it is",
     [](const Config& c) noexcept { return whole(c.sampler.decay); }},
    {Kind::kReal, "the checkpoint has another sampler.decay_constant; there it is",
     [](const Config& c) noexcept { return real(c.sampler.decay_constant); }},
    {Kind::kReal, "the checkpoint has another sampler.injected_noise; there it is",
     [](const Config& c) noexcept { return real(c.sampler.injected_noise); }},
    {Kind::kReal, "the checkpoint has another sampler.noise_scale; there it is",
     [](const Config& c) noexcept { return real(c.sampler.noise_scale); }},
    {Kind::kReal, "the checkpoint has another sampler.step_size_max; there it is",
     [](const Config& c) noexcept { return real(c.sampler.step_size_max); }},
    {Kind::kWhole, "the checkpoint has another sampler.block_size; there it is",
     [](const Config& c) noexcept { return whole(c.sampler.block_size); }},
    {Kind::kWhole, "the checkpoint has another sampler.rank; there it is",
     [](const Config& c) noexcept { return whole(c.sampler.rank); }},
    {Kind::kReal, "the checkpoint has another sampler.momentum; there it is",
     [](const Config& c) noexcept { return real(c.sampler.momentum); }},
    {Kind::kReal, "the checkpoint has another sampler.step_size; there it is",
     [](const Config& c) noexcept { return real(c.sampler.step_size); }},
    {Kind::kReal, "the checkpoint has another sampler.step_decay; there it is",
     [](const Config& c) noexcept { return real(c.sampler.step_decay); }},
    {Kind::kReal, "the checkpoint has another sampler.step_offset; there it is",
     [](const Config& c) noexcept { return real(c.sampler.step_offset); }},
    {Kind::kReal, "the checkpoint has another sampler.temperature; there it is",
     [](const Config& c) noexcept { return real(c.sampler.temperature); }},
    {Kind::kReal, "the checkpoint has another sampler.initial_temperature; there it is",
     [](const Config& c) noexcept { return real(c.sampler.initial_temperature); }},
    {Kind::kReal, "the checkpoint has another sampler.annealing_steps; there it is",
     [](const Config& c) noexcept { return real(c.sampler.annealing_steps); }},
    {Kind::kReal, "the checkpoint has another sampler.annealing_exponent; there it is",
     [](const Config& c) noexcept { return real(c.sampler.annealing_exponent); }},
    {Kind::kReal, "the checkpoint has another sampler.friction; there it is",
     [](const Config& c) noexcept { return real(c.sampler.friction); }},
    {Kind::kReal, "the checkpoint has another sampler.smoothing; there it is",
     [](const Config& c) noexcept { return real(c.sampler.smoothing); }},
    {Kind::kReal, "the checkpoint has another sampler.preconditioner_floor; there it is",
     [](const Config& c) noexcept { return real(c.sampler.preconditioner_floor); }},
    {Kind::kWhole, "the checkpoint has another sampler.cycle_steps; there it is",
     [](const Config& c) noexcept { return whole(c.sampler.cycle_steps); }},
    {Kind::kReal, "the checkpoint has another sampler.exploration; there it is",
     [](const Config& c) noexcept { return real(c.sampler.exploration); }},
    {Kind::kWhole, "the checkpoint has another sampler.exploration_steps; there it is",
     [](const Config& c) noexcept { return whole(c.sampler.exploration_steps); }},
    {Kind::kWhole, "the checkpoint has another sampler.metric; there it is",
     [](const Config& c) noexcept { return whole(c.sampler.metric != nullptr); }},
    {Kind::kWhole, "the checkpoint has another horizon; there it is",
     [](const Config& c) noexcept { return whole(c.horizon); }, true},
    {Kind::kWhole, "the checkpoint has another structure; there it is",
     [](const Config& c) noexcept { return whole(c.structure); }, true},
    {Kind::kWhole, "the checkpoint has another surprising_rows; there it is",
     [](const Config& c) noexcept { return whole(c.surprising_rows); }},
    {Kind::kWhole, "the checkpoint has another single_pass_noise; there it is",
     [](const Config& c) noexcept { return whole(c.single_pass_noise); }},
    {Kind::kWhole, "the checkpoint has another forgetting_spread; there it is",
     [](const Config& c) noexcept { return whole(c.forgetting_spread); }},
    {Kind::kWhole, "the checkpoint has another dependent_spread; there it is",
     [](const Config& c) noexcept { return whole(c.dependent_spread); }},
    {Kind::kWhole, "the checkpoint has another window_size; there it is",
     [](const Config& c) noexcept { return whole(c.window_size); }},
    {Kind::kReal, "the checkpoint has another draws_per_observation; there it is",
     [](const Config& c) noexcept { return real(c.draws_per_observation); }},
    {Kind::kWhole, "the checkpoint has another standardize; there it is",
     [](const Config& c) noexcept { return whole(c.standardize); }},
    {Kind::kHash, "the checkpoint has another feature_shift; its hash is",
     [](const Config& c) noexcept { return hash(c.feature_shift); }},
    {Kind::kHash, "the checkpoint has another feature_scale; its hash is",
     [](const Config& c) noexcept { return hash(c.feature_scale); }},
    {Kind::kHash, "the checkpoint has another missing_features; its hash is",
     [](const Config& c) noexcept { return hash(c.missing_features); }},
    {Kind::kWhole, "the checkpoint has another standardize_target; there it is",
     [](const Config& c) noexcept { return whole(c.standardize_target); }},
    {Kind::kReal, "the checkpoint has another target_shift; there it is",
     [](const Config& c) noexcept { return real(c.target_shift); }},
    {Kind::kReal, "the checkpoint has another target_scale; there it is",
     [](const Config& c) noexcept { return real(c.target_scale); }},
    {Kind::kWhole, "the checkpoint has another retained_draws; there it is",
     [](const Config& c) noexcept { return whole(c.retained_draws); }},
    {Kind::kWhole, "the checkpoint has another seed; there it is",
     [](const Config& c) noexcept { return whole(c.seed); }},
};

}  // namespace

std::string_view ConfigField::name() const noexcept {
  constexpr std::string_view kBefore = "another ";
  const std::string_view text = sentence;
  const std::size_t begin = text.find(kBefore) + kBefore.size();
  return text.substr(begin, text.find(';') - begin);
}

double ConfigField::number(std::uint64_t value) const noexcept {
  return kind == Kind::kReal ? std::bit_cast<double>(value) : static_cast<double>(value);
}

std::span<const ConfigField> config_fields() noexcept { return kFields; }

std::uint64_t configuration_hash(const EngineConfig& config) noexcept {
  Checksum sum;
  for (const ConfigField& field : kFields) {
    const std::string_view name = field.name();
    const std::uint64_t value = field.bits(config);
    sum.update(std::as_bytes(std::span(name.data(), name.size())));
    sum.update(bytes_of(value));
  }
  return sum.value();
}

}  // namespace windhover::checkpoint
