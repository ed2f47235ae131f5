// Signs of life: whether the server serves, whether its answers have all rows, what holds up
// senders.
#include <string>

#include "windhover/io/access/access.h"
#include "windhover/io/http/http_handler.h"

namespace windhover {
namespace {

HttpAnswer fine(std::string_view status, std::string_view but = "") {
  const std::string more = but.empty() ? "" : ",\"but\":" + json_string(but);
  return {.body = "{\"status\":" + json_string(status) + more + "}\n",
          .content_type = "application/json",
          .allow = {}};
}

}  // namespace

// An endpoint's beat_ns changes with its sweep, at least once a second.
void HttpHandler::look() noexcept {
  const auto beat_of = [this](EndpointKind kind) {
    return static_cast<std::uint64_t>(state_.of(kind).beat_ns.load(std::memory_order_relaxed));
  };
  Watchdog::Beats beats;
  beats[Watchdog::kObserve] = beat_of(EndpointKind::kObserve);
  beats[Watchdog::kQuery] = beat_of(EndpointKind::kQuery);
  beats[Watchdog::kLearner] = 0;
  for (const ModelContext& model : memory_.conversations->models) {
    if (model.model != nullptr)
      beats[Watchdog::kLearner] += model.model->engine->progress().polls();
  }
  watchdog_.look(state_.clock->now_ns(), beats);
}

HttpAnswer HttpHandler::health(const HttpRequest&) {
  look();
  // While the server stops the endpoints' threads end, which is no fault.
  if (stopping_.load(std::memory_order_relaxed)) return fine("stopping");
  std::string still;
  for (std::size_t i = 0; i < Watchdog::kParts; ++i) {
    const auto part = static_cast<Watchdog::Part>(i);
    const std::int64_t still_ns = watchdog_.still_ns(part);
    if (still_ns == 0) continue;
    if (!still.empty()) still += ", ";
    still += std::string("the ") + Watchdog::name(part) + " thread has stood still for " +
             std::to_string(still_ns / 1'000'000'000) + " s";
  }
  return still.empty() ? fine("serving") : http_error(503, still);
}

bool HttpHandler::may_hear_of(const Credential& who, std::size_t model) const noexcept {
  return state_.access == nullptr || state_.access->on_model(who, model).any();
}

std::string HttpHandler::held_up(const Credential& who) const {
  std::string text;
  const std::span<const ModelContext> models = memory_.conversations->models;
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (models[i].model == nullptr || !may_hear_of(who, i)) continue;
    const Status why = models[i].model->log.obstacle();
    if (ok(why)) continue;
    if (!text.empty()) text += "; ";
    text += "senders to " + std::string(models[i].model->name()) + " wait: ";
    text += why == Status::kLogFull
                ? "its log is full until a checkpoint lets old rows go"
                : std::string("its log cannot be written (") + to_string(why) + ')';
  }
  return text;
}

// There always is a snapshot, at first the prior's. A log that does not go on holds up only
// senders, and questions are answered as before: the server is then ready, and says what holds them
// up.
HttpAnswer HttpHandler::readiness(const HttpRequest& request) {
  if (stopping_.load(std::memory_order_relaxed)) {
    return http_error(503, "the server is stopping");
  }
  bool recovering = false;
  std::string rows;
  for (std::size_t i = 0; i < memory_.readers.size(); ++i) {
    if (!memory_.readers[i]) continue;
    Provenance provenance;
    (void)memory_.readers[i]->provenance(provenance);
    if (provenance.recovery_target == 0) continue;
    recovering = true;
    if (!may_hear_of(request.who, i)) continue;
    rows += rows.empty() ? ": " : "; ";
    rows += memory_.conversations->models[i].model->name();
    rows += " has " + std::to_string(provenance.sequence) + " of " +
            std::to_string(provenance.recovery_target) + " rows in its answer";
  }
  return recovering ? http_error(503, "recovering" + rows) : fine("ready", held_up(request.who));
}

}  // namespace windhover
