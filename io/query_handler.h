// Answers questions about one model: from a request read to a response written, on one endpoint's
// thread.
#ifndef WINDHOVER_IO_QUERY_HANDLER_H_
#define WINDHOVER_IO_QUERY_HANDLER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "windhover/io/messages.h"
#include "windhover/io/server_state.h"
#include "windhover/platform/arena.h"
#include "windhover/runtime/engine.h"

namespace windhover {

// What one question needs while it is answered: one endpoint's handlers share it.
struct QueryScratch {
  // Takes memory, writes nothing but itself.
  QueryScratch(Arena& arena, const Limits& limits) noexcept;

  // Arrays in a frame have any alignment; here they are copied. A frame cannot hold more.
  std::span<double> doubles;
  std::span<std::uint32_t> integers;
  std::span<PredictiveSummary> summaries;
  std::span<ParameterSummary> parameters;
  std::span<double> theta;  // one page of draws
};

class QueryHandler {
 public:
  QueryHandler() noexcept = default;

  // Before use. `paging` keeps the snapshot that is being paged through pinned and is therefore a
  // reader of its own. All outlive this.
  void bind(ServerState& state, EndpointKind kind, ServedModel& model, QueryScratch& scratch,
            Reader reader, Reader paging) noexcept;

  // Of the model's newest answer.
  Status provenance(Provenance& provenance) noexcept;

  // No answer to this request is larger; at most the model's reply_cap. O(1).
  // REQUIRES: request.kind is one of the questions, ProducerStatus apart.
  std::size_t reply_bound(const RequestView& request) const noexcept;

  struct Answer {
    std::size_t bytes;  // never 0
    std::int64_t begin_ns;
    std::int64_t end_ns;
  };
  // Writes the answer, or a refusal. `asker` tells connections apart. REQUIRES: out holds
  // reply_bound(request) bytes.
  Answer answer(const RequestView& request, const void* asker, std::span<std::byte> out) noexcept;

 private:
  std::size_t predict(std::uint64_t id, const PredictQuery& query,
                      std::span<std::byte> out) noexcept;
  std::size_t posterior(std::uint64_t id, std::span<std::byte> out) noexcept;
  std::size_t draws(std::uint64_t id, const DrawsQuery& query, const void* asker,
                    std::span<std::byte> out) noexcept;
  std::size_t status(std::uint64_t id, std::span<std::byte> out) noexcept;
  std::size_t take_checkpoint(std::uint64_t id, std::uint64_t number,
                              std::span<std::byte> out) noexcept;
  std::size_t refuse(std::uint64_t id, Status reason, std::uint64_t number,
                     std::span<std::byte> out) noexcept;
  std::size_t write(std::uint64_t id, std::size_t bytes, std::span<std::byte> out) noexcept;
  std::span<const double> to_doubles(const PackedArray& array, Scalar scalar) noexcept;
  std::span<const std::uint32_t> to_integers(const PackedArray& array) noexcept;
  bool too_large(const PredictQuery& query) const noexcept;

  ServerState* state_ = nullptr;
  ServedModel* model_ = nullptr;
  QueryScratch* scratch_ = nullptr;
  std::size_t doubles_used_ = 0;
  std::size_t integers_used_ = 0;
  EndpointKind kind_ = EndpointKind::kQuery;
  std::optional<Reader> reader_;
  std::optional<Reader> paging_;
  struct Paging {
    std::uint64_t snapshot = 0;
    const void* pinned_by = nullptr;
    std::int64_t pinned_ns = 0;
    std::int64_t pinner_ns = 0;  // when the one who pinned it had a page that was not the last
    std::int64_t others_ns = 0;  // and when somebody else had
  };
  Paging page_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_QUERY_HANDLER_H_
