// The memory that one thread needs from the block to answer questions about every model.
#ifndef WINDHOVER_IO_CONVERSATION_MEMORY_H_
#define WINDHOVER_IO_CONVERSATION_MEMORY_H_

#include <cstddef>
#include <span>

#include "windhover/io/conversation.h"
#include "windhover/io/place_change.h"
#include "windhover/io/query_handler.h"
#include "windhover/io/server_state.h"
#include "windhover/platform/arena.h"

namespace windhover {

// Takes memory, writes nothing but itself. It must not move: conversations point to `context`. A
// free place has a ModelContext without a model.
struct ConversationMemory {
  ConversationMemory(Arena& arena, const Limits& limits, std::size_t model_count) noexcept
      : models(arena.make_array<ModelContext>(model_count)),
        queries(arena.make_array<QueryHandler>(model_count)),
        scratch(arena, limits) {
    context.models = models;
    context.scratch = &scratch.predict;
  }

  // Adds a model, or removes one that no conversation is about any more. Before use, or on its
  // thread between two requests.
  void change(ServerState& state, EndpointKind kind, const PlaceChange& entry) noexcept {
    QueryHandler& handler = queries[entry.place];
    ModelContext& model = models[entry.place];
    handler = QueryHandler();
    model = ModelContext();
    if (entry.model == nullptr) return;
    context.state = &state;
    handler.bind(state, kind, *entry.model, scratch, *entry.reader, *entry.paging[0]);
    for (std::size_t i = 1; i < entry.paging.size() && entry.paging[i]; ++i) {
      handler.add_paging(*entry.paging[i]);
    }
    if (entry.in_pieces) handler.set_reader_in_pieces(*entry.in_pieces);
    model = {entry.model, &handler, entry.producers, entry.feed};
  }

  ConversationContext context;
  std::span<ModelContext> models;
  std::span<QueryHandler> queries;  // one a place
  QueryScratch scratch;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_CONVERSATION_MEMORY_H_
