// Readers of requests that are rare: parts of decode_request() (codec.h).
#ifndef WINDHOVER_IO_ORDER_READERS_H_
#define WINDHOVER_IO_ORDER_READERS_H_

#include <cstdint>

#include "windhover/io/messages.h"
#include "windhover/io/wire_walker.h"

namespace windhover {

// Each reads the message of a field of wire type `wire`; false: it is malformed.
bool read_hello(WireWalker& in, std::uint32_t wire, HelloRequest& hello) noexcept;
bool read_producer_status(WireWalker& in, std::uint32_t wire, ProducerStatusQuery& query) noexcept;
bool read_take_checkpoint(WireWalker& in, std::uint32_t wire, TakeCheckpointQuery& query) noexcept;
bool read_list_models(WireWalker& in, std::uint32_t wire, ListModelsQuery& query) noexcept;
bool read_list_events(WireWalker& in, std::uint32_t wire, ListEventsQuery& query) noexcept;
bool read_change_model(WireWalker& in, std::uint32_t wire, ChangeModelQuery& query) noexcept;
bool read_host_model(WireWalker& in, std::uint32_t wire, HostModelQuery& query) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_ORDER_READERS_H_
