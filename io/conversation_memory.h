// What one thread needs from the block to answer questions about every model.
#ifndef WINDHOVER_IO_CONVERSATION_MEMORY_H_
#define WINDHOVER_IO_CONVERSATION_MEMORY_H_

#include <cstddef>
#include <span>

#include "windhover/io/conversation.h"
#include "windhover/io/query_handler.h"
#include "windhover/io/server_state.h"
#include "windhover/platform/arena.h"

namespace windhover {

// Takes memory, writes nothing but itself. It never moves: conversations point to `context`.
struct ConversationMemory {
  ConversationMemory(Arena& arena, const Limits& limits, std::size_t model_count) noexcept
      : models(arena.make_array<ModelContext>(model_count)),
        queries(arena.make_array<QueryHandler>(model_count)),
        scratch(arena, limits) {
    context.models = models;
  }

  // Makes it speak of one model. Each model once, before use.
  void bind(ServerState& state, EndpointKind kind, std::size_t index, ServedModel& model,
            Reader reader, Reader paging) noexcept {
    context.state = &state;
    queries[index].bind(state, kind, model, scratch, reader, paging);
    models[index].model = &model;
    models[index].queries = &queries[index];
  }

  ConversationContext context;
  std::span<ModelContext> models;
  std::span<QueryHandler> queries;  // one a model
  QueryScratch scratch;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_CONVERSATION_MEMORY_H_
