// The sizes that follow from a configuration: for a model, and for the server of several.
#include <algorithm>

#include "windhover/io/codec.h"
#include "windhover/io/framing.h"
#include "windhover/io/server_config.h"
#include "windhover/io/server_state.h"
#include "windhover/samplers/registry.h"

namespace windhover {
namespace {

constexpr std::size_t kTurnBytes = 64 * 1024;  // read at a time

// The most keys that a frame can hold; keys of an Outcome may be empty.
std::uint32_t keys_in_a_frame(const Limits& limits) noexcept {
  constexpr std::uint32_t kOutcomeBytes = 10;  // an empty text and a target
  return limits.frame_cap / kOutcomeBytes;
}

}  // namespace

ModelLimits limits_of(const EngineConfig& engine) noexcept {
  const std::size_t all = engine.model.dimension();
  const std::size_t dimension = all > kMostDescribed ? 0 : all;
  const bool categorical = find_model(engine.model.name)->response == Response::kCategorical;
  const std::uint32_t classes = categorical ? engine.model.classes : 0;
  const std::size_t one_draw = draws_reply_bound(dimension, 1);
  const std::size_t reply =
      std::max({predict_reply_bound(engine.max_query_rows, kMaxQuantiles, kMaxThresholds, classes),
                posterior_reply_bound(dimension), one_draw, kStatusReplyBound});
  ModelLimits limits;
  limits.features = engine.model.features;
  limits.dimension = engine.model.dimension();
  limits.described = static_cast<std::uint32_t>(dimension);
  limits.classes = classes;
  limits.max_rows = engine.max_frame_rows;
  limits.max_nonzeros = engine.model.max_nonzeros;
  limits.max_query_rows = engine.max_query_rows;
  limits.pending_keys = engine.labels.pending;
  limits.retained_draws = engine.retained_draws;
  limits.page_draws = static_cast<std::uint32_t>(std::min<std::size_t>(
      engine.retained_draws,
      1 + (reply - one_draw) / (std::max<std::size_t>(dimension, 1) * sizeof(double))));
  limits.reply_cap = static_cast<std::uint32_t>(reply);
  limits.cost = question_cost(engine);
  return limits;
}

Limits limits_of(const ServerConfig& config, const EngineConfig& engine) noexcept {
  using std::chrono::nanoseconds;
  Limits limits;
  limits.frame_cap = config.frame_cap;
  limits.max_sessions = config.max_sessions;
  limits.read_buffer = std::max(config.frame_cap + kMaxFrameHeader, kTurnBytes);
  limits.connection = config.limits;
  limits.hello_timeout_ns = nanoseconds(config.hello_timeout).count();
  limits.frame_timeout_ns = nanoseconds(config.frame_timeout).count();
  limits.idle_timeout_ns = nanoseconds(config.idle_timeout).count();
  limits.write_timeout_ns = nanoseconds(config.write_timeout).count();
  limits.answer_timeout_ns = nanoseconds(config.answer_timeout).count();
  limits.wait_timeout_ns = nanoseconds(config.wait_timeout).count();
  limits.drain_timeout_ns = nanoseconds(config.drain_timeout).count();
  include(limits, limits_of(engine));
  return limits;
}

// Limits of an added model: as many draws as an engine keeps by default, in pages of the size that
// the others have, and as many keys as a frame can bring.
void include_added(Limits& limits, const AddedModelsConfig& added) noexcept {
  limits.max_keys = std::max({limits.max_keys, limits.max_query_rows, keys_in_a_frame(limits)});
  if (added.max_parameters <= limits.described) return;
  ModelLimits model;
  model.dimension = model.described = added.max_parameters;
  const std::size_t one_draw = draws_reply_bound(model.dimension, 1);
  const std::size_t reply =
      std::max({posterior_reply_bound(model.dimension), one_draw, std::size_t{limits.reply_cap}});
  model.page_draws = static_cast<std::uint32_t>(std::min<std::size_t>(
      EngineConfig().retained_draws, 1 + (reply - one_draw) / (model.dimension * sizeof(double))));
  model.reply_cap = static_cast<std::uint32_t>(reply);
  include(limits, model);
}

void include(Limits& limits, const ModelLimits& model) noexcept {
  if (model.pending_keys > 0) {
    const std::uint32_t outcomes = std::min(model.max_rows, keys_in_a_frame(limits));
    limits.max_keys = std::max({limits.max_keys, model.max_query_rows, outcomes});
  }
  limits.reply_cap = std::max(limits.reply_cap, model.reply_cap);
  limits.max_query_rows = std::max(limits.max_query_rows, model.max_query_rows);
  limits.dimension = std::max(limits.dimension, model.dimension);
  limits.described = std::max(limits.described, model.described);
  limits.page_numbers =
      std::max(limits.page_numbers, std::size_t{model.page_draws} * model.described);
  // An acknowledgement and a refusal must always find room behind the largest answer.
  limits.reply_buffer = limits.reply_cap + 2 * kSmallReplyBound;
}

}  // namespace windhover
