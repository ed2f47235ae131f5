// The memory that an endpoint needs from the block.
#ifndef WINDHOVER_IO_ENDPOINT_MEMORY_H_
#define WINDHOVER_IO_ENDPOINT_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/io/conversation_memory.h"
#include "windhover/io/fair_queue.h"
#include "windhover/io/long_predict.h"
#include "windhover/io/operator_place.h"
#include "windhover/io/server_state.h"
#include "windhover/io/session.h"
#include "windhover/platform/arena.h"

namespace windhover {

// Takes memory, writes nothing but itself.
struct EndpointMemory : ConversationMemory {
  EndpointMemory(Arena& arena, const Limits& limits, std::size_t model_count) noexcept
      : ConversationMemory(arena, limits, model_count),
        long_predict(arena, limits),
        queue(arena, limits.max_sessions + kOperatorSessions),
        sessions(arena.make_array<Session>(limits.max_sessions + kOperatorSessions, arena, limits,
                                           context)),
        addresses(arena.allocate<std::uint64_t>(limits.max_sessions)) {
    context.long_predict = &long_predict;
  }

  LongPredict long_predict;
  FairQueue queue;
  std::span<Session> sessions;         // the last kOperatorSessions are for operators
  std::span<std::uint64_t> addresses;  // room for the addresses of strangers
};

}  // namespace windhover

#endif  // WINDHOVER_IO_ENDPOINT_MEMORY_H_
