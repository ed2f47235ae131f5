// The engine through which the rows of a file are run.
#ifndef WINDHOVER_TOOLS_EVALUATE_EVALUATED_STREAM_H_
#define WINDHOVER_TOOLS_EVALUATE_EVALUATED_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "windhover/platform/clock.h"
#include "windhover/platform/memory.h"
#include "windhover/runtime/engine.h"
#include "windhover/tools/data/dataset.h"
#include "windhover/tools/evaluate/probability_record.h"
#include "windhover/tools/evaluate/rivals.h"
#include "windhover/tools/evaluate/tally.h"

namespace windhover {

// One engine over the rows. Its clock advances by a millisecond after each chunk and stands still
// otherwise, so that no row is unscored for want of time, and a run is a function of the file and
// the options. RunError where the engine fails, UserError for a row that it refuses.
class EvaluatedStream {
 public:
  // `records`: probabilities predicted for targets of 0 and 1 are recorded, beside the engine's own
  // scores. `most_rounds`: of the learner after a chunk.
  EvaluatedStream(const EngineConfig& config, const Dataset& data, bool records,
                  int most_rounds = std::numeric_limits<int>::max());

  // Rows [first, end) arrive together. Adds to `said` how many were predicted by answers of which
  // status, and how many outcomes their intervals held; returns which rows were scored.
  StreamChunk learn(std::size_t first, std::size_t end, SaidTally& said);

  // Whether the last chunk was predicted by answers that said `warming_up`, or by none.
  bool warming_up() const { return warming_up_; }

  // A reader of the posterior that the rows so far have given.
  Reader& reader() { return *reader_; }

  bool records() const { return records_; }
  const ProbabilityRecord& record() const { return record_; }

  // Chunks after which the learner had not come to rest.
  std::uint64_t cut_short() const { return cut_short_; }

  ScoreMeans means() const;

 private:
  void rest(std::size_t rows);
  void put_features(std::size_t first, std::size_t end, ObservationBatch& batch);
  void ask(std::size_t first, std::size_t end);

  const Dataset& data_;
  const bool records_;
  const int most_rounds_;
  ProbabilityRecord record_;
  std::vector<double> said_;  // the means predicted for the rows that arrive
  MappedBlock block_;
  ManualClock clock_;
  Engine* engine_ = nullptr;
  std::optional<Reader> reader_;
  bool warming_up_ = true;
  int granted_ = 0;  // rounds that may still be used
  std::uint64_t cut_short_ = 0;
  std::vector<std::uint32_t> ends_;  // ends of the rows that arrive, where they are sparse
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_EVALUATE_EVALUATED_STREAM_H_
