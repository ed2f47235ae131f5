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

// Rows with a key, as they were answered.
void Engine::Layout::keep_rows(const Posterior& posterior, const Predictor& predictor,
                               const PredictRequest& request,
                               std::span<PredictiveSummary> summaries) noexcept {
  GivenAnswer answer;
  if (scorer != nullptr) {
    answer.served = scorer->conformal();
    answer.warming_up = posterior.provenance.status == PosteriorStatus::kWarmingUp;
    answer.scored = scorer->can_score(posterior);
  }
  for (std::size_t row = 0; row < request.keys.size(); ++row) {
    if (request.keys[row].empty()) continue;
    if (scorer != nullptr) answer.numbers = predictor.given(row);
    summaries[row].pending =
        labels->keep(request.keys[row], request, row, scorer != nullptr ? &answer : nullptr);
  }
}

ObserveResult Engine::observe_outcomes(const OutcomeBatch& batch,
                                       std::span<RefusedRow> refused) noexcept {
  return layout_->parts.ingest.observe_outcomes(batch, layout_->labels, refused);
}

ObserveResult Engine::settle_labels(std::uint64_t most) noexcept {
  if (layout_->labels == nullptr) return {};
  return layout_->parts.ingest.settle_overdue(*layout_->labels, most);
}

Status Engine::keep_rows(const PredictRequest& request,
                         std::span<PredictiveSummary> summaries) noexcept {
  const Status status =
      layout_->parts.predictors[0].check(request, layout_->parts.model->response());
  if (!ok(status)) return status;
  if (summaries.size() < request.rows) return Status::kInvalidArgument;
  for (std::size_t row = 0; row < request.keys.size(); ++row) {
    if (request.keys[row].empty()) continue;
    summaries[row].pending = layout_->labels->keep(request.keys[row], request, row, nullptr);
  }
  return Status::kOk;
}

std::uint64_t Engine::pending_labels() const noexcept {
  return layout_->labels == nullptr ? 0 : layout_->labels->pending();
}

}  // namespace windhover
