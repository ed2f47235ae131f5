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

// Each writes one response, of at most kStatusReplyBound bytes, and returns its bytes. Of models
// that `rights` has no role on nothing is told, nor that there are any.
std::size_t list_models(std::uint64_t id, const ListModelsQuery& query,
                        const ConversationContext& context, const PeerRights& rights,
                        std::span<std::byte> out) noexcept;
std::size_t change_model(std::uint64_t id, const ChangeModelQuery& query, ModelContext& about,
                         const ConversationContext& context, std::span<std::byte> out) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_MODEL_DIRECTORY_H_
