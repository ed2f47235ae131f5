// What one endpoint's thread tells of all models, and changes about one.
#ifndef WINDHOVER_IO_MODEL_DIRECTORY_H_
#define WINDHOVER_IO_MODEL_DIRECTORY_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/io/access/access.h"
#include "windhover/io/conversation.h"
#include "windhover/io/messages.h"

namespace windhover {

// Whether it is answered here.
constexpr bool about_models(RequestKind kind) noexcept {
  return kind == RequestKind::kListModels || kind == RequestKind::kChangeModel ||
         kind == RequestKind::kHostModel;
}

// Each writes one response, of at most kStatusReplyBound bytes, and returns its bytes. Models that
// `rights` has no role on are left out, without a word that there are any.
std::size_t list_models(std::uint64_t id, const ListModelsQuery& query,
                        const ConversationContext& context, const PeerRights& rights,
                        std::span<std::byte> out) noexcept;
std::size_t change_model(std::uint64_t id, const ChangeModelQuery& query, ModelContext& about,
                         const ConversationContext& context, std::span<std::byte> out) noexcept;

// Places an order for the thread that adds and removes models, or asks after one. REQUIRES: the
// peer is admin of all models.
std::size_t host_model(std::uint64_t id, const HostModelQuery& query,
                       const ConversationContext& context, std::span<std::byte> out) noexcept;

// Whichever of these it is. REQUIRES: about_models(request.kind), and the peer may.
std::size_t answer_about_models(const RequestView& request, const ConversationContext& context,
                                const PeerRights& rights, ModelContext& about,
                                std::span<std::byte> out) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_MODEL_DIRECTORY_H_
