#ifndef WINDHOVER_IO_HTTP_HTTP_MEMORY_H_
#define WINDHOVER_IO_HTTP_HTTP_MEMORY_H_

#include <cstddef>
#include <optional>
#include <span>

#include "windhover/io/conversation_memory.h"
#include "windhover/io/fair_queue.h"
#include "windhover/io/http/http_config.h"
#include "windhover/io/operator_place.h"
#include "windhover/platform/arena.h"
#include "windhover/runtime/engine.h"

namespace windhover {

// The memory that HTTP needs from the block; none when it is off. Takes memory, writes nothing but
// itself.
struct HttpMemory {
  HttpMemory(Arena& arena, const HttpConfig& config, const Limits& limits,
             std::size_t model_count) noexcept {
    if (!config.enabled()) return;
    arena.region("http");
    reply = arena.allocate<std::byte>(limits.reply_buffer);
    readers = arena.make_array<std::optional<Reader>>(model_count);
    conversations.emplace(arena, limits, model_count);
    queue.emplace(arena, config.max_connections + kOperatorSessions);
  }

  // As ConversationMemory::change().
  void change(ServerState& state, const PlaceChange& entry) noexcept {
    readers[entry.place] = entry.measuring;
    conversations->change(state, EndpointKind::kHttp, entry);
  }

  bool enabled() const noexcept { return conversations.has_value(); }

  std::span<std::byte> reply;                // room for the reply to one question
  std::span<std::optional<Reader>> readers;  // one a place, for metrics and readiness
  std::optional<ConversationMemory> conversations;
  std::optional<FairQueue> queue;  // the connections whose request has come whole
};

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_HTTP_MEMORY_H_
