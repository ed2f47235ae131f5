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
// have their turns, whose short questions do not need the place. All pieces come from the snapshot
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

  // Takes the place, unless the question is refused. `reader` is the model's, used for nothing
  // else. `elsewhere` is the engine that was asked about where another one answers, else null; it
  // keeps the rows with keys. REQUIRES: asker() is null.
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

  // Called before advance() with the question of begin(), whose frame may have moved.
  void find_keys(const PredictQuery& query) noexcept {
    if (query.keys.count > 0) request_.keys = scratch_.load_keys(query);
  }
  // Answers `rows` rows more, or as many as are left, and keeps those with keys. Returns how many.
  std::size_t advance(std::size_t rows) noexcept {
    rows = std::min(rows, request_.rows - rows_done_);
    predict_rows(*reader_, request_, keeper_, rows_done_, rows, scratch_.summaries(request_.rows));
    rows_done_ += rows;
    return rows;
  }
  bool is_answered() const noexcept { return rows_done_ == request_.rows; }

  // Frees the place and returns the answer, which lives until the next question begins. REQUIRES:
  // is_answered().
  PredictReply end(Provenance& provenance) noexcept {
    const std::span<PredictiveSummary> summaries = scratch_.summaries(request_.rows);
    reader_->end_predict(request_, summaries, provenance);
    asker_ = nullptr;
    return {&provenance, summaries, request_.quantile_probabilities.size(),
            request_.thresholds.size()};
  }

  // Frees the place if `asker` has it.
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
