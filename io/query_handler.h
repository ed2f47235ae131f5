// Answers questions about one model, from the request read to the response written, on one
// endpoint's thread.
#ifndef WINDHOVER_IO_QUERY_HANDLER_H_
#define WINDHOVER_IO_QUERY_HANDLER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "windhover/io/long_predict.h"
#include "windhover/io/messages.h"
#include "windhover/io/paging_table.h"
#include "windhover/io/predict_scratch.h"
#include "windhover/io/server_state.h"
#include "windhover/platform/arena.h"
#include "windhover/runtime/engine.h"

namespace windhover {

// The memory of one question while it is answered. The handlers of one endpoint share it.
struct QueryScratch {
  // Takes memory, writes nothing but itself.
  QueryScratch(Arena& arena, const Limits& limits) noexcept;

  // Called once, before use. Writes all of it: megabytes where answers are large.
  void reset() noexcept;

  PredictScratch predict;
  std::span<ParameterSummary> parameters;
  std::span<double> theta;  // one page of draws
};

class QueryHandler {
 public:
  QueryHandler() noexcept = default;

  // Before use; a few stores, so that an endpoint's thread may do it between two requests. `paging`
  // is a reader of its own, because it keeps a snapshot pinned while a client pages through it. All
  // outlive this. REQUIRES: scratch.reset() was called.
  void bind(ServerState& state, EndpointKind kind, ServedModel& model, QueryScratch& scratch,
            Reader reader, Reader paging) noexcept;

  // Before use: one more snapshot may be paged through at the same time.
  void add_paging(Reader reader) noexcept { paging_.add(reader); }
  // The connection has ended.
  void forget(const void* asker) noexcept { paging_.leave(asker); }

  // Before use, where long questions are answered in pieces: gives a reader for these alone.
  void set_reader_in_pieces(Reader reader) noexcept { reader_in_pieces_ = reader; }

  // The provenance of the model's newest snapshot.
  Status provenance(Provenance& provenance) noexcept;
  // The estimated cost of the request, see QuestionCost. O(1).
  std::int64_t cost(const RequestView& request) const noexcept;

  // No answer to this request is larger; at most the model's reply_cap. O(1).
  // REQUIRES: request.kind is a question other than ProducerStatus.
  std::size_t reply_bound(const RequestView& request) const noexcept;

  struct Answer {
    std::size_t bytes;  // never 0
    std::int64_t begin_ns;
    std::int64_t end_ns;
  };
  // Writes the answer, or a refusal. `about`: the model asked about; it keeps rows with keys
  // itself, also where this model answers for it. `asker` tells connections apart. REQUIRES: out
  // holds reply_bound(request) bytes.
  Answer answer(const RequestView& request, const ServedModel& about, const void* asker,
                std::span<std::byte> out) noexcept;

  // Answers a Predict a piece at a time: at least one row, and more until they have cost `most` or
  // as many nanoseconds have passed. The first piece takes `place`; the last gives the answer and
  // frees it. `bytes` is 0 before that. A question that is refused takes no place. REQUIRES:
  // place.asker() is null or `asker`; set_reader_in_pieces() was called.
  struct Piece {
    std::size_t bytes = 0;
    std::int64_t cost = 0;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
  };
  Piece answer_piece(const RequestView& request, const ServedModel& about, LongPredict& place,
                     const void* asker, std::int64_t most, std::span<std::byte> out) noexcept;

 private:
  void count(std::int64_t lasted_ns) noexcept;
  std::size_t predict(std::uint64_t id, const PredictQuery& query, const ServedModel& about,
                      std::span<std::byte> out) noexcept;
  // kOk, or why a question cannot even be loaded.
  Status check_size(const PredictQuery& query, const ServedModel& about) const noexcept;
  // The engine that keeps rows with keys, if it is not the one that answers.
  Engine* elsewhere(const ServedModel& about) const noexcept {
    return &about != model_ ? about.engine : nullptr;
  }
  std::size_t posterior(std::uint64_t id, std::span<std::byte> out) noexcept;
  std::size_t draws(std::uint64_t id, const DrawsQuery& query, const void* asker,
                    std::span<std::byte> out) noexcept;
  std::size_t status(std::uint64_t id, std::span<std::byte> out) noexcept;
  std::size_t events(std::uint64_t id, const ListEventsQuery& query,
                     std::span<std::byte> out) noexcept;
  std::size_t take_checkpoint(std::uint64_t id, std::uint64_t number,
                              std::span<std::byte> out) noexcept;
  // Refuses a Predict with the number that Refusal.number promises.
  std::size_t refuse_question(std::uint64_t id, Status reason, std::span<std::byte> out) noexcept;
  std::size_t refuse(std::uint64_t id, Status reason, std::uint64_t number,
                     std::span<std::byte> out) noexcept;
  std::size_t write(std::uint64_t id, std::size_t bytes, std::span<std::byte> out) noexcept;
  bool too_large(const PredictQuery& query) const noexcept;

  ServerState* state_ = nullptr;
  ServedModel* model_ = nullptr;
  QueryScratch* scratch_ = nullptr;
  EndpointKind kind_ = EndpointKind::kQuery;
  std::optional<Reader> reader_;
  std::optional<Reader> reader_in_pieces_;
  PagingTable paging_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_QUERY_HANDLER_H_
