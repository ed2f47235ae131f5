#include "windhover/io/model_directory.h"

#include <algorithm>
#include <array>

#include "windhover/io/codec.h"
#include "windhover/io/model_orders.h"

namespace windhover {
namespace {

ModelStateReply state_of(const ModelContext& context,
                         std::span<const ModelContext> models) noexcept {
  const ServedModel& model = *context.model;
  ModelStateReply state;
  // The answer is read before the head, so that it is never ahead of it.
  (void)context.queries->provenance(state.provenance);
  state.name = model.name();
  state.model = model_kind(model.engine->config().model.name);
  state.features = model.limits.features;
  state.dimension = model.limits.dimension;
  state.fingerprint = model.engine->fingerprint();
  state.head = std::max(model.engine->head(), model.log.durable_head.load());
  if (model.follows != nullptr) state.follows = model.follows->name();
  state.answered_by = models[model.answered_by.load(std::memory_order_relaxed)].model->name();
  state.log_status = model.log.obstacle();
  state.paused = model.engine->progress().paused();
  state.scores.any = model.engine->scores(state.scores.scores);
  return state;
}

std::size_t refuse(std::uint64_t id, Refusal reason, std::uint64_t number,
                   std::span<std::byte> out) noexcept {
  return encode(id, RefusalReply{reason, number, false}, out);
}

}  // namespace

std::size_t list_models(std::uint64_t id, const ListModelsQuery& query,
                        const ConversationContext& context, const PeerRights& rights,
                        std::span<std::byte> out) noexcept {
  std::array<ModelStateReply, ListModelsReply::kMostStates> states;
  const std::span<const ModelContext> models = context.models;
  std::array<RoleSet, kMaxModels> room;
  const std::span<RoleSet> roles = std::span(room).first(models.size());
  rights.on_models(roles);
  std::uint32_t shown = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (models[i].model == nullptr || !roles[i].any()) continue;
    if (shown++ < query.first || count == states.size()) continue;
    states[count++] = state_of(models[i], models);
  }
  return encode(id, ListModelsReply{shown, query.first, std::span(states).first(count)}, out);
}

std::size_t change_model(std::uint64_t id, const ChangeModelQuery& query, ModelContext& about,
                         const ConversationContext& context, std::span<std::byte> out) noexcept {
  ServedModel& model = *about.model;
  const ModelContext* by = query.answered_by.empty() ? nullptr : context.find(query.answered_by);
  if (!query.answered_by.empty() && by == nullptr) {
    return refuse(id, Refusal::kUnknownModel, context.count(), out);
  }
  const bool fits = by == nullptr || by->model == &model || by->model->follows == &model;
  if (!fits || query.pause > static_cast<std::uint32_t>(PauseChange::kGoOn)) {
    return refuse(id, refusal_of(Status::kInvalidArgument), 0, out);
  }
  if (by != nullptr) model.answered_by.store(by->model->place, std::memory_order_relaxed);
  if (const auto pause = static_cast<PauseChange>(query.pause); pause != PauseChange::kNone) {
    model.engine->progress().pause(pause == PauseChange::kPause);
  }
  const ModelStateReply state = state_of(about, context.models);
  return encode(id, ChangeModelReply{&state}, out);
}

std::size_t host_model(std::uint64_t id, const HostModelQuery& query,
                       const ConversationContext& context, std::span<std::byte> out) noexcept {
  ModelOrders* const orders = context.state->orders;
  if (orders == nullptr || !orders->are_taken()) {
    return refuse(id, refusal_of(Status::kUnsupported), 0, out);
  }
  std::uint64_t number = query.request;
  if (query.action != 0) {
    if (query.action > static_cast<std::uint32_t>(HostAction::kRemove) ||
        !is_model_name(query.name)) {
      return refuse(id, refusal_of(Status::kInvalidArgument), 0, out);
    }
    if (query.configuration.size() > HostModelQuery::kMostConfiguration) {
      return refuse(id, refusal_of(Status::kTooLarge), HostModelQuery::kMostConfiguration, out);
    }
    number = orders->place(query);
    if (number == 0) return refuse(id, refusal_of(Status::kUnavailable), 0, out);
  }
  ModelOutcome outcome;
  if (!orders->ask(number, outcome)) {
    return refuse(id, refusal_of(Status::kInvalidArgument), 0, out);
  }
  return encode(id,
                HostModelReply{number, outcome.finished, outcome.status, outcome.error.data(),
                               outcome.needed_bytes, outcome.free_bytes},
                out);
}

std::size_t answer_about_models(const RequestView& request, const ConversationContext& context,
                                const PeerRights& rights, ModelContext& about,
                                std::span<std::byte> out) noexcept {
  switch (request.kind) {
    case RequestKind::kListModels:
      return list_models(request.id, request.list_models, context, rights, out);
    case RequestKind::kChangeModel:
      return change_model(request.id, request.change_model, about, context, out);
    default:
      return host_model(request.id, request.host_model, context, out);
  }
}

}  // namespace windhover
