#include "windhover/io/query_handler.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "windhover/io/codec.h"
#include "windhover/platform/check.h"

namespace windhover {
namespace {

constexpr std::size_t kMostRowsAtOnce = 32;  // in a question in pieces, between looks at the clock

}  // namespace

QueryScratch::QueryScratch(Arena& arena, const Limits& limits) noexcept
    : predict(arena, limits),
      parameters(arena.allocate<ParameterSummary>(limits.described)),
      theta(arena.allocate<double>(limits.page_numbers)) {}

void QueryScratch::reset() noexcept {
  predict.reset();
  std::uninitialized_default_construct(parameters.begin(), parameters.end());
}

void QueryHandler::bind(ServerState& state, EndpointKind kind, ServedModel& model,
                        QueryScratch& scratch, Reader reader, Reader paging) noexcept {
  state_ = &state;
  kind_ = kind;
  model_ = &model;
  scratch_ = &scratch;
  reader_ = reader;
  paging_.add(paging);
}

bool QueryHandler::too_large(const PredictQuery& query) const noexcept {
  return query.rows > model_->limits.max_query_rows ||
         query.quantile_probabilities.count > kMaxQuantiles ||
         query.thresholds.count > kMaxThresholds;
}

std::size_t QueryHandler::reply_bound(const RequestView& request) const noexcept {
  switch (request.kind) {
    case RequestKind::kPredict:
      if (too_large(request.predict)) return kSmallReplyBound;
      return predict_reply_bound(request.predict.rows, request.predict.quantile_probabilities.count,
                                 request.predict.thresholds.count, model_->limits.classes);
    case RequestKind::kPosteriorSummary:
      return posterior_reply_bound(model_->limits.described);
    case RequestKind::kDraws:
      return draws_reply_bound(model_->limits.described, model_->limits.page_draws);
    case RequestKind::kTakeCheckpoint:
      return kSmallReplyBound;
    default:
      return kStatusReplyBound;
  }
}

QueryHandler::Answer QueryHandler::answer(const RequestView& request, const ServedModel& about,
                                          const void* asker, std::span<std::byte> out) noexcept {
  const std::int64_t begin_ns = state_->clock->now_ns();
  std::size_t bytes = 0;
  switch (request.kind) {
    case RequestKind::kPredict:
      bytes = predict(request.id, request.predict, about, out);
      break;
    case RequestKind::kPosteriorSummary:
      bytes = posterior(request.id, out);
      break;
    case RequestKind::kDraws:
      bytes = draws(request.id, request.draws, asker, out);
      break;
    case RequestKind::kListEvents:
      bytes = events(request.id, request.list_events, out);
      break;
    case RequestKind::kTakeCheckpoint:
      bytes = take_checkpoint(request.id, request.take_checkpoint.request, out);
      break;
    default:
      bytes = status(request.id, out);
  }
  const std::int64_t end_ns = state_->clock->now_ns();
  count(end_ns - begin_ns);
  return {bytes, begin_ns, end_ns};
}

void QueryHandler::count(std::int64_t lasted_ns) noexcept {
  state_->counters.add(IoCounter::kQueries);
  state_->of(kind_).query_latency.record(lasted_ns);
}

QueryHandler::Piece QueryHandler::answer_piece(const RequestView& request, const ServedModel& about,
                                               LongPredict& place, const void* asker,
                                               std::int64_t most,
                                               std::span<std::byte> out) noexcept {
  WINDHOVER_CHECK(reader_in_pieces_ && (place.asker() == nullptr || place.asker() == asker));
  const QuestionCost& cost = model_->limits.cost;
  Piece piece;
  piece.begin_ns = piece.end_ns = state_->clock->now_ns();
  if (place.asker() == nullptr) {
    piece.cost = QuestionCost::kFrameNs;
    Status status = check_size(request.predict, about);
    if (ok(status)) {
      status =
          place.begin(*reader_in_pieces_, request.predict, elsewhere(about), asker, piece.begin_ns);
    }
    if (!ok(status)) {
      piece.bytes = refuse_question(request.id, status, out);
      count(0);
      return piece;
    }
  }
  place.find_keys(request.predict);
  // The clock is looked at so often that it does not matter if the estimate is far too low.
  const std::int64_t row_ns = cost.of_row(request.predict);
  const auto rows = static_cast<std::size_t>(
      std::clamp<std::int64_t>(kTurnNs / 4 / row_ns, cost.rows_together, kMostRowsAtOnce));
  do {
    piece.cost += static_cast<std::int64_t>(place.advance(rows)) * row_ns;
    piece.end_ns = state_->clock->now_ns();
  } while (!place.is_answered() && piece.cost < most && piece.end_ns - piece.begin_ns < most);
  if (!place.is_answered()) return piece;
  const std::int64_t begun_ns = place.begun_ns();
  Provenance provenance;
  const PredictReply reply = place.end(provenance);
  piece.bytes = write(request.id, encode(request.id, reply, out), out);
  piece.end_ns = state_->clock->now_ns();
  count(piece.end_ns - begun_ns);
  return piece;
}

std::int64_t QueryHandler::cost(const RequestView& request) const noexcept {
  const QuestionCost& cost = model_->limits.cost;
  switch (request.kind) {
    case RequestKind::kPredict:
      return too_large(request.predict) ? QuestionCost::kFrameNs : cost.of(request.predict);
    case RequestKind::kPosteriorSummary:
      return cost.parameters_ns;
    case RequestKind::kDraws:
      return QuestionCost::kFrameNs + cost.draw_ns * model_->limits.page_draws;
    case RequestKind::kTakeCheckpoint:
      return QuestionCost::kFrameNs;
    default:
      return QuestionCost::kStatusNs;
  }
}

// The engine checks the rest.
Status QueryHandler::check_size(const PredictQuery& query,
                                const ServedModel& about) const noexcept {
  if (too_large(query)) return Status::kTooLarge;
  return query.keys.count > 0 && about.limits.pending_keys == 0 ? Status::kKeyNotTaken
                                                                : Status::kOk;
}

std::size_t QueryHandler::predict(std::uint64_t id, const PredictQuery& query,
                                  const ServedModel& about, std::span<std::byte> out) noexcept {
  Status status = check_size(query, about);
  if (!ok(status)) return refuse_question(id, status, out);
  const PredictRequest request = scratch_->predict.load(query);
  Engine* const keeper = elsewhere(about);
  status = begin_predict(*reader_, request, keeper);
  if (!ok(status)) return refuse_question(id, status, out);
  Provenance provenance;
  const std::span<PredictiveSummary> summaries = scratch_->predict.summaries(query.rows);
  predict_rows(*reader_, request, keeper, 0, request.rows, summaries);
  reader_->end_predict(request, summaries, provenance);
  return write(id,
               encode(id,
                      PredictReply{&provenance, summaries, request.quantile_probabilities.size(),
                                   request.thresholds.size()},
                      out),
               out);
}

Status QueryHandler::provenance(Provenance& provenance) noexcept {
  return reader_->provenance(provenance);
}

std::size_t QueryHandler::posterior(std::uint64_t id, std::span<std::byte> out) noexcept {
  if (model_->limits.described == 0) return refuse(id, Status::kTooLarge, kMostDescribed, out);
  Provenance provenance;
  const auto parameters = scratch_->parameters.first(model_->limits.described);
  const Status status = reader_->posterior(parameters, provenance);
  if (!ok(status)) return refuse(id, status, 0, out);
  return write(id, encode(id, PosteriorReply{&provenance, parameters}, out), out);
}

std::size_t QueryHandler::draws(std::uint64_t id, const DrawsQuery& query, const void* asker,
                                std::span<std::byte> out) noexcept {
  if (model_->limits.described == 0) return refuse(id, Status::kTooLarge, kMostDescribed, out);
  const std::uint32_t first = query.first;
  if (first > model_->limits.retained_draws) {
    return refuse(id, Status::kInvalidArgument, model_->limits.retained_draws, out);
  }
  const std::uint32_t wanted = query.count == 0 ? model_->limits.page_draws : query.count;
  const std::uint32_t count =
      std::min({wanted, model_->limits.page_draws, model_->limits.retained_draws - first});

  const bool last = first + count >= model_->limits.retained_draws;
  Provenance provenance;
  const std::span<double> theta =
      scratch_->theta.first(std::size_t{count} * model_->limits.described);
  const Status status = paging_.draws({query.snapshot_id, first, count, last}, asker,
                                      state_->clock->now_ns(), theta, provenance);
  if (!ok(status)) return refuse(id, status, 0, out);
  provenance.draws = model_->limits.retained_draws;
  return write(id, encode(id, DrawsReply{&provenance, model_->limits.dimension, first, theta}, out),
               out);
}

std::size_t QueryHandler::refuse_question(std::uint64_t id, Status reason,
                                          std::span<std::byte> out) noexcept {
  const std::uint64_t number = reason == Status::kTooLarge         ? model_->limits.max_query_rows
                               : reason == Status::kWrongDimension ? model_->limits.features
                                                                   : 0;
  return refuse(id, reason, number, out);
}

std::size_t QueryHandler::refuse(std::uint64_t id, Status reason, std::uint64_t number,
                                 std::span<std::byte> out) noexcept {
  state_->counters.add(IoCounter::kQueriesRefused);
  return encode(id, RefusalReply{refusal_of(reason), number, false}, out);
}

std::size_t QueryHandler::write(std::uint64_t id, std::size_t bytes,
                                std::span<std::byte> out) noexcept {
  // The bounds make this unreachable; a wrong bound must not silence the session.
  WINDHOVER_CHECK(bytes != 0);
  return bytes != 0 ? bytes : refuse(id, Status::kTooLarge, model_->limits.reply_cap, out);
}

}  // namespace windhover
