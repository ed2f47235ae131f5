#include "windhover/tools/evaluate/evaluated_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "windhover/tools/error.h"

namespace windhover {
namespace {

// Where rows leave the posterior nearly flat in some direction, chains can take 100,000 rounds to
// rest after each row. A row grants as many as nearly all rows need; rounds that are not used are
// saved for a cold start.
constexpr int kRoundsARow = 64;
constexpr int kMostSaved = 1 << 14;

std::string status_text(const Provenance& provenance) {
  std::string text = to_string(provenance.status);
  if (provenance.reason != StatusReason::kNone &&
      provenance.status != PosteriorStatus::kWarmingUp) {
    text += fmt::format(": {}", to_string(provenance.reason));
  }
  return text;
}

}  // namespace

EvaluatedStream::EvaluatedStream(const EngineConfig& config, const Dataset& data, bool records,
                                 int most_rounds)
    : data_(data),
      records_(records),
      most_rounds_(most_rounds),
      block_(value_or_throw(Engine::footprint(config))),
      clock_(1) {
  if (!block_.valid()) throw RunError("no memory for the engine");
  engine_ = value_or_throw(Engine::create(config, block_.bytes(), clock_));
  reader_.emplace(value_or_throw(engine_->reader()));
}

StreamChunk EvaluatedStream::learn(std::size_t first, std::size_t end, SaidTally& said) {
  const ScoreMeans scored = means();
  Provenance before;
  const bool answers = ok(reader_->provenance(before));
  warming_up_ = !answers || before.status == PosteriorStatus::kWarmingUp;
  ObservationBatch batch;
  batch.rows = end - first;
  put_features(first, end, batch);
  batch.targets = reinterpret_cast<const std::byte*>(data_.targets.data() + first);
  if (!data_.offsets.empty())
    batch.offsets = reinterpret_cast<const std::byte*>(data_.offsets.data() + first);
  if (!data_.weights.empty())
    batch.weights = reinterpret_cast<const std::byte*>(data_.weights.data() + first);
  if (!data_.trials.empty())
    batch.trials = reinterpret_cast<const std::byte*>(data_.trials.data() + first);
  std::array<RefusedRow, 1> refused;
  if (records_) ask(first, end);
  const ObserveResult result = engine_->observe(batch, refused);
  if (!ok(result.status)) throw RunError(fmt::format("observing: {}", to_string(result.status)));
  if (result.refused > 0) {
    throw UserError(fmt::format("row {} of the file is refused: {}", first + refused[0].row + 1,
                                to_string(refused[0].reason)));
  }
  clock_.advance_ns(1'000'000);
  rest(end - first);
  const ScoreMeans now = means();
  const std::uint64_t more = now.rows - scored.rows;
  if (answers && more > 0) {
    Said& entry = said[status_text(before)];
    entry.rows += more;
    entry.held += Tally::between(scored, now).covered[kReportedInterval];
  }
  // Rows go unscored only before the units are known, and these come first.
  for (std::size_t i = end - more; i < end && records_; ++i) {
    record_.add(said_[i - first], data_.targets[i]);
  }
  return {first, end, end - more};
}

ScoreMeans EvaluatedStream::means() const {
  PredictionScores scores;
  if (!engine_->scores(scores)) throw RunError("the engine keeps no scores");
  return scores.means.back();
}

void EvaluatedStream::rest(std::size_t rows) {
  granted_ = std::min(granted_, kMostSaved) + kRoundsARow * static_cast<int>(rows);
  granted_ = std::min(granted_, most_rounds_);
  int done = 0;
  do {
    done = engine_->poll(std::min(kRoundsARow, granted_));
    granted_ -= done;
  } while (done > 0 && granted_ > 0);
  if (done > 0) ++cut_short_;
  engine_->poll(0);  // publishes what there is
}

void EvaluatedStream::put_features(std::size_t first, std::size_t end, ObservationBatch& batch) {
  if (data_.sparse_columns == 0) {
    batch.features = reinterpret_cast<const std::byte*>(data_.row(first));
    batch.feature_values = batch.rows * data_.columns();
    return;
  }
  const std::size_t begin = first > 0 ? data_.row_ends[first - 1] : 0;
  ends_.clear();
  for (std::size_t i = first; i < end; ++i)
    ends_.push_back(static_cast<std::uint32_t>(data_.row_ends[i] - begin));
  batch.features = reinterpret_cast<const std::byte*>(data_.features.data() + begin);
  batch.indices = reinterpret_cast<const std::byte*>(data_.indices.data() + begin);
  batch.row_ends = reinterpret_cast<const std::byte*>(ends_.data());
  batch.feature_values = data_.row_ends[end - 1] - begin;
}

// Records the probability of 1 that is predicted for each row about to arrive.
void EvaluatedStream::ask(std::size_t first, std::size_t end) {
  said_.clear();
  PredictiveSummary summary;
  Provenance provenance;
  for (std::size_t i = first; i < end; ++i) {
    const std::size_t begin = i > 0 ? data_.row_ends[i - 1] : 0;
    const auto count = static_cast<std::uint32_t>(data_.row_ends[i] - begin);
    PredictRequest request;
    request.rows = 1;
    request.features = std::span(data_.features).subspan(begin, count);
    request.indices = std::span(data_.indices).subspan(begin, count);
    request.row_ends = {&count, 1};
    require(reader_->predict(request, {&summary, 1}, provenance), "predicting");
    said_.push_back(summary.mean);
  }
}

}  // namespace windhover
