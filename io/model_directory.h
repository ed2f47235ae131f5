// Answers to questions about models, and changes of one, on one endpoint's thread.
#ifndef WINDHOVER_IO_MODEL_DIRECTORY_H_
#define WINDHOVER_IO_MODEL_DIRECTORY_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/io/access/access.h"
#include "windhover/io/conversation.h"
#include "windhover/io/messages.h"

namespace windhover {

// Whether such a request is answered here.
constexpr bool about_models(RequestKind kind) noexcept {
  return kind == RequestKind::kListModels || kind == RequestKind::kChangeModel ||
         kind == RequestKind::kHostModel;
}

// Each writes one response, of at most kStatusReplyBound bytes, and returns its size. list_models()
// leaves out, and does not count, models on which `rights` has no role.
std::size_t list_models(std::uint64_t id, const ListModelsQuery& query,
                        const ConversationContext& context, const PeerRights& rights,
                        std::span<std::byte> out) noexcept;
std::size_t change_model(std::uint64_t id, const ChangeModelQuery& query, ModelContext& about,
                         const ConversationContext& context, std::span<std::byte> out) noexcept;

// Places an order for the thread that adds and removes models, or asks after one. REQUIRES: the
// peer is admin of all models.
std::size_t host_model(std::uint64_t id, const HostModelQuery& query,
                       const ConversationContext& context, std::span<std::byte> out) noexcept;

// Answers by the one of these that fits. REQUIRES: about_models(request.kind), and the peer may.
std::size_t answer_about_models(const RequestView& request, const ConversationContext& context,
                                const PeerRights& rights, ModelContext& about,
                                std::span<std::byte> out) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_MODEL_DIRECTORY_H_
