// What the thread of an endpoint needs to serve one more model.
#ifndef WINDHOVER_IO_PLACE_CHANGE_H_
#define WINDHOVER_IO_PLACE_CHANGE_H_

#include <array>
#include <cstddef>
#include <optional>

#include "windhover/io/durable/frame_feed.h"
#include "windhover/io/paging_table.h"
#include "windhover/io/producer_table.h"
#include "windhover/io/served_model.h"
#include "windhover/runtime/engine.h"

namespace windhover {

class Persistence;

// A place among the server's models, and the model that comes there, or that the one there goes. An
// endpoint that has let go of a model touches nothing of it any more.
struct PlaceChange {
  std::size_t place = 0;
  ServedModel* model = nullptr;  // null: it goes
  std::optional<Reader> reader;
  std::array<std::optional<Reader>, PagingTable::kMost> paging;  // one at least
  std::optional<Reader> in_pieces;                               // not for HTTP
  std::optional<Reader> measuring;                               // for HTTP alone
  ProducerTable* producers = nullptr;                            // for the observe endpoint alone
  FrameFeed* feed = nullptr;                                     // likewise; null: nothing is kept
  Persistence* keeper = nullptr;                                 // likewise
};

}  // namespace windhover

#endif  // WINDHOVER_IO_PLACE_CHANGE_H_
