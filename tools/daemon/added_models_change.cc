// Models that go, and make place for others.
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "windhover/tools/daemon/added_models.h"
#include "windhover/tools/daemon/keeping_report.h"
#include "windhover/tools/daemon/model_folder.h"
#include "windhover/tools/daemon/order_refusal.h"

namespace windhover {

// Takes the model from the server, the learners and the watcher, and frees it. `keep`: a last
// checkpoint is written. Where that fails, the next model of this name and configuration goes on
// from the checkpoint before and the log.
void AddedModels::let_go(Model& model, bool keep) {
  server_.models().let_go_of(model.place);
  learners_.remove(*model.engine);
  watcher_.remove(model.place);
  if (keep && !folder_.empty()) {
    const Status status = server_.kept().checkpoint_at_rest(model.place);
    if (!ok(status)) {
      tell_checkpoint_failed(log_, model.name, 1, status, server_.kept().checkpoints(model.place));
    }
  }
  forget(model);
}

void AddedModels::forget(Model& model) {
  server_.models().forget(model.place);
  used_bytes_ -= model.bytes;
  models_.remove_if([&](const Model& one) { return &one == &model; });
}

// The list changes first: where it cannot be changed the model serves on, and nothing has happened.
// From then on no later start serves the model, whatever becomes of this process.
void AddedModels::remove(Model& model, bool delete_data, ModelOutcome& outcome) {
  const std::string name = model.name;
  outcome.needed_bytes = model.bytes;
  if (!delete_data && !folder_.empty() && !config_.durable.log) checkpoint_now(model);
  const FileFault unlisted = ModelFolder::leave_list(folder_, name, delete_data);
  if (unlisted.why != 0 && ModelFolder::is_listed(folder_, name)) check_done(unlisted);
  let_go(model, !delete_data);
  FileFault left;
  if (delete_data) left = ModelFolder::delete_gone(folder_, name);
  if (left.why != 0) {
    outcome.say(Status::kIoError,
                fmt::format("the model is removed, but not all that was on disk of it is deleted, "
                            "which the next start tries again: {}",
                            text_of(left)));
  } else if (unlisted.why != 0) {
    outcome.say(Status::kIoError,
                fmt::format("the model is removed, but after a power cut it may be back: {}",
                            text_of(unlisted)));
  }
}

// Takes a checkpoint of a model that is served: without a log the rows since the last one are
// nowhere else.
void AddedModels::checkpoint_now(const Model& model) {
  constexpr auto kLookAgain = std::chrono::milliseconds(5);
  const CheckpointProgress& progress = server_.kept().checkpoints(model.place);
  const std::uint64_t number = value_or_refuse(server_.kept().request_checkpoint(model.place));
  while (!progress.is_answered(number)) std::this_thread::sleep_for(kLookAgain);
  if (progress.is_met(number)) return;
  throw OrderRefusal{
      Status::kIoError,
      fmt::format(
          "{} serves on: no checkpoint of it can be written, so it could not come back ({})",
          model.name, words_of(progress.status.load(), progress.error_number.load()))};
}

// Where there is memory for both, the next model is made beside the one that serves. Little can
// then be refused, say a folder of another configuration; in that case the model before comes back
// from what is on disk of it.
void AddedModels::replace(Model& before, const std::string& toml, bool anew,
                          ModelOutcome& outcome) {
  const std::string name = before.name;
  const std::string toml_before = before.toml;
  const Wanted wanted = judge(name, toml, &before, anew, outcome);
  const bool beside = wanted.bytes <= free_bytes();
  if (!beside && folder_.empty()) {
    throw OrderRefusal{
        Status::kArenaTooSmall,
        fmt::format("the model needs {} bytes beside the one that it replaces, of which "
                    "nothing is on disk, and {} of server.added.memory are free: remove "
                    "that one first",
                    wanted.bytes, free_bytes())};
  }
  std::optional<Model> next;
  if (beside) next = make(wanted);
  if (!folder_.empty() && !config_.durable.log) checkpoint_now(before);
  let_go(before, true);
  const auto refused = refusal_of([&] {
    if (!next) next = make(wanted);
    host(std::move(*next), anew, outcome);
  });
  if (!refused) return;
  next.reset();
  ModelOutcome again;
  const auto lost = refusal_of([&] { add(name, toml_before, false, again); });
  if (!lost) {
    throw OrderRefusal{refused->status, refused->sentence + "; the model before it serves again" +
                                            (folder_.empty() ? ", and begins anew" : "")};
  }
  throw OrderRefusal{refused->status,
                     fmt::format("{}; the model before it is not served until a restart: {}",
                                 refused->sentence, lost->sentence)};
}

}  // namespace windhover
