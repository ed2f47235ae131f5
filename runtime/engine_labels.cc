// Rows that are asked about with a key, and what happened then.
#include "windhover/runtime/engine.h"
#include "windhover/runtime/engine_layout.h"

namespace windhover {

const char* to_string(PendingKey key) noexcept {
  switch (key) {
    case PendingKey::kNone:
      return "none";
    case PendingKey::kKept:
      return "kept";
    case PendingKey::kReplaced:
      return "replaced";
    case PendingKey::kTableFull:
      return "table_full";
  }
  return "unknown";
}

namespace {

// `answer`: of a row, a pointer to what was said of it; null: nothing that is to be scored.
template <class Answer>
void keep_each(PendingLabels& labels, const PredictRequest& request, std::size_t first,
               std::size_t count, std::span<PredictiveSummary> summaries,
               Answer&& answer) noexcept {
  for (std::size_t row = first; row < first + count; ++row) {
    if (request.keys[row].empty()) continue;
    summaries[row].pending = labels.keep(request.keys[row], request, row, answer(row));
  }
}

}  // namespace

void Engine::Layout::keep_rows(const Posterior& posterior, const Conformal::Bounds& conformal,
                               const Predictor& predictor, const PredictRequest& request,
                               std::size_t first, std::size_t count,
                               std::span<PredictiveSummary> summaries) noexcept {
  GivenAnswer answer;
  if (scorer != nullptr) {
    answer.served = conformal;
    answer.use = scorer->use_of(posterior);
    answer.n_seen = posterior.provenance.n_seen;
    answer.n_eff = posterior.provenance.n_eff;
  }
  keep_each(*labels, request, first, count, summaries, [&](std::size_t row) -> GivenAnswer* {
    if (scorer == nullptr) return nullptr;
    answer.numbers = predictor.given(row);
    return &answer;
  });
}

Status Engine::may_keep_rows(const PredictRequest& request) noexcept {
  const Status status = layout_->parts.request_check.check_rows(request);
  if (!ok(status)) layout_->counters.add(RuntimeCounter::kPredictionsRefused);
  return status;
}

void Engine::keep_rows(const PredictRequest& request, std::size_t first, std::size_t count,
                       std::span<PredictiveSummary> summaries) noexcept {
  if (request.keys.empty()) return;
  keep_each(*layout_->labels, request, first, count, summaries,
            [](std::size_t) -> GivenAnswer* { return nullptr; });
}

ObserveResult Engine::observe_outcomes(const OutcomeBatch& batch,
                                       std::span<RefusedRow> refused) noexcept {
  return layout_->parts.ingest.observe_outcomes(batch, layout_->labels, refused);
}

ObserveResult Engine::settle_labels(std::uint64_t most) noexcept {
  if (layout_->labels == nullptr) return {};
  return layout_->parts.ingest.settle_overdue(*layout_->labels, most);
}

std::uint64_t Engine::pending_labels() const noexcept {
  return layout_->labels == nullptr ? 0 : layout_->labels->pending();
}

}  // namespace windhover
