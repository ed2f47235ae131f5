#include "windhover/io/server_keeping.h"

#include "windhover/io/server_impl.h"

namespace windhover {

Status ServerKeeping::start() noexcept {
  return server_.keeping ? server_.keeping->start() : Status::kOk;
}

Status ServerKeeping::checkpoint_at_rest(std::size_t model) noexcept {
  Persistence* const kept = server_.kept(model);
  return kept != nullptr ? kept->checkpoint_at_rest() : Status::kUnsupported;
}

Result<std::uint64_t> ServerKeeping::request_checkpoint(std::size_t model) noexcept {
  Persistence* const kept = server_.kept(model);
  if (kept == nullptr) return Error{Status::kUnsupported, "the server keeps no folder", 0};
  return kept->request_checkpoint();
}

const char* ServerKeeping::remarks(std::size_t model) const noexcept {
  Persistence* const kept = server_.kept(model);
  return kept != nullptr ? kept->remarks().c_str() : "";
}
const LogProgress& ServerKeeping::log(std::size_t model) const noexcept {
  return server_.layout.models[model].served.log;
}
const CheckpointProgress& ServerKeeping::checkpoints(std::size_t model) const noexcept {
  return server_.layout.models[model].served.checkpoints;
}

}  // namespace windhover
