// A Predict that costs more than a turn, answered in pieces of rows.
#ifndef WINDHOVER_IO_LONG_PREDICT_H_
#define WINDHOVER_IO_LONG_PREDICT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "windhover/io/predict_and_keep.h"
#include "windhover/io/predict_scratch.h"
#include "windhover/io/replies.h"
#include "windhover/runtime/engine.h"

namespace windhover {

// The place of an endpoint for one such question at a time; between its pieces other connections
// have their turns, and short questions are answered elsewhere. Every piece comes from the snapshot
// that was the newest when the first began. One thread.
class LongPredict {
 public:
  // Takes memory, writes nothing but itself.
  LongPredict(Arena& arena, const Limits& limits) noexcept : scratch_(arena, limits) {}

  // Before use.
  void reset() noexcept { scratch_.reset(); }

  // Whose question it is; null: the place is free.
  const void* asker() const noexcept { return asker_; }
  std::int64_t begun_ns() const noexcept { return begun_ns_; }

  // Takes the place, unless the question is refused. `reader` is that of the model, for this alone.
  // Rows with keys are kept by `elsewhere`, the engine that was asked about, where it is not null
  // because another one answers. REQUIRES: asker() is null.
  Status begin(Reader& reader, const PredictQuery& query, Engine* elsewhere, const void* asker,
               std::int64_t now_ns) noexcept {
    request_ = scratch_.load(query);
    const Status status = begin_predict(reader, request_, elsewhere);
    if (!ok(status)) return status;
    keeper_ = elsewhere;
    reader_ = &reader;
    asker_ = asker;
    begun_ns_ = now_ns;
    rows_done_ = 0;
    return Status::kOk;
  }

  // Before advance(): `query` is that of begin(), and this is where its frame lies by now.
  void find_keys(const PredictQuery& query) noexcept {
    if (query.keys.count > 0) request_.keys = scratch_.load_keys(query);
  }
  // Answers so many rows more, or as many as there are left, and keeps those with keys. Returns how
  // many.
  std::size_t advance(std::size_t rows) noexcept {
    rows = std::min(rows, request_.rows - rows_done_);
    predict_rows(*reader_, request_, keeper_, rows_done_, rows, scratch_.summaries(request_.rows));
    rows_done_ += rows;
    return rows;
  }
  bool is_answered() const noexcept { return rows_done_ == request_.rows; }

  // The answer, which lives until the next question begins. The place is free. REQUIRES:
  // is_answered().
  PredictReply end(Provenance& provenance) noexcept {
    const std::span<PredictiveSummary> summaries = scratch_.summaries(request_.rows);
    reader_->end_predict(request_, summaries, provenance);
    asker_ = nullptr;
    return {&provenance, summaries, request_.quantile_probabilities.size(),
            request_.thresholds.size()};
  }

  // This one does not want it any more.
  void abandon(const void* asker) noexcept {
    if (asker_ == nullptr || asker_ != asker) return;
    reader_->abandon_predict();
    asker_ = nullptr;
  }

 private:
  PredictScratch scratch_;
  PredictRequest request_;
  Reader* reader_ = nullptr;
  Engine* keeper_ = nullptr;
  const void* asker_ = nullptr;
  std::int64_t begun_ns_ = 0;
  std::size_t rows_done_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_LONG_PREDICT_H_
