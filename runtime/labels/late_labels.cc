#include "windhover/runtime/labels/late_labels.h"

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

// answer(row) returns a pointer to what was answered; null: nothing that is to be scored.
template <class Answer>
void keep_each(PendingLabels& labels, const PredictRequest& request, std::size_t first,
               std::size_t count, std::span<PredictiveSummary> summaries,
               Answer&& answer) noexcept {
  for (std::size_t row = first; row < first + count; ++row) {
    if (request.keys[row].empty()) continue;
    summaries[row].pending = labels.keep(request.keys[row], request, row, answer(row));
  }
}

PendingLabels* make_table(EngineLayout& engine, Arena& arena) noexcept {
  if (engine.config.labels.pending == 0) return nullptr;
  arena.region("labels");
  return arena.make<PendingLabels>(arena, engine.config, engine.clock, engine.progress,
                                   engine.counters);
}

}  // namespace

LateLabels::LateLabels(EngineLayout& engine, Arena& arena) noexcept
    : engine_(engine), table_(make_table(engine, arena)) {}

void LateLabels::reset() noexcept {
  if (table_ != nullptr) table_->reset();
}

std::uint64_t LateLabels::pending() const noexcept {
  return table_ == nullptr ? 0 : table_->pending();
}

std::uint64_t LateLabels::rows_end() const noexcept {
  return table_ == nullptr ? 0 : table_->rows_end();
}

Status LateLabels::may_keep(const PredictRequest& request) noexcept {
  const Status status = engine_.parts.request_check.check_rows(request);
  if (!ok(status)) engine_.counters.add(RuntimeCounter::kPredictionsRefused);
  return status;
}

void LateLabels::keep(const PredictRequest& request, std::size_t first, std::size_t count,
                      std::span<PredictiveSummary> summaries) noexcept {
  if (request.keys.empty()) return;
  keep_each(*table_, request, first, count, summaries,
            [](std::size_t) -> GivenAnswer* { return nullptr; });
}

void LateLabels::keep_answered(const Predictor& predictor, GivenAnswer answer,
                               const PredictRequest& request, std::size_t first, std::size_t count,
                               std::span<PredictiveSummary> summaries) noexcept {
  keep_each(*table_, request, first, count, summaries, [&](std::size_t row) {
    answer.numbers = predictor.given(row);
    return &answer;
  });
}

}  // namespace windhover
