// Start here. An Engine keeps samples of the posterior of one model up to date over a stream.
//
//   auto bytes = Engine::footprint(config);            // how much memory, exactly
//   auto engine = Engine::create(config, block);       // block: 64-byte aligned, yours
//   engine.value()->observe(batch, refused);           // the observe thread
//   engine.value()->poll(1000);                        // the learner thread
//   Reader reader = engine.value()->reader().value();  // one a query thread
//   reader.predict(request, summaries, provenance);
//
// Threads: observe() from one thread at a time; poll() from one; each Reader from one; assist(), if
// used, from one for each worker; captures and each RowFollower, if used, from one. These may be
// different threads or the same. Nothing here allocates, throws or prints; after create() there is
// no heap call at all. Nothing blocks, with one exception: in an engine that keeps keys
// (EngineConfig::labels) questions with keys and labels() take a lock while one key is looked up
// and its row copied (labels/pending_labels.h); the learner never does. The engine lives in the
// block: dropping the block drops the engine, and no destructor need run.
#ifndef WINDHOVER_RUNTIME_ENGINE_H_
#define WINDHOVER_RUNTIME_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "windhover/platform/arena.h"
#include "windhover/platform/clock.h"
#include "windhover/platform/counters.h"
#include "windhover/platform/result.h"
#include "windhover/runtime/checkpoint/engine_state.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/counter_ids.h"
#include "windhover/runtime/diagnostics/event_log.h"
#include "windhover/runtime/engine_progress.h"
#include "windhover/runtime/labels/late_labels.h"
#include "windhover/runtime/observation.h"
#include "windhover/runtime/prediction/predictive.h"
#include "windhover/runtime/scoring/conformal.h"
#include "windhover/runtime/window/row_follower.h"

namespace windhover {

class Learner;
class Engine;
struct EngineLayout;
struct Posterior;
struct PredictionScores;

// Answers questions from the newest snapshot, or while draws() holds one, from that. One thread at
// a time; do not copy it once it is in use. predict() never waits for learning, and learning never
// waits for it.
class Reader {
 public:
  // Fills request.rows `summaries`. RequestCheck::check() says what may be wrong with the request;
  // kInvalidArgument also where `summaries` are too few; kUnsupported for a watcher; kUnavailable
  // between begin_predict() and its end. After these nothing is written. Before the first
  // observation the answer is the prior's. O(rows x draws x dimension + rows x dimension^2).
  Status predict(const PredictRequest& request, std::span<PredictiveSummary> summaries,
                 Provenance& provenance) noexcept;

  // The same answer, to the last bit, in pieces, between which the thread may do other things:
  // begin, then the rows in order, however many at a time, then end. All are answered from the
  // snapshot that begin_predict() pins; a refused request pins nothing. Until the end the request
  // must stay as it is, though keys may move, and this reader answers nothing else (kUnavailable).
  // `summaries`: of the whole request. Rows with keys are kept as they are answered.
  Status begin_predict(const PredictRequest& request) noexcept;
  void predict_rows(const PredictRequest& request, std::size_t first, std::size_t count,
                    std::span<PredictiveSummary> summaries) noexcept;
  void end_predict(const PredictRequest& request, std::span<PredictiveSummary> summaries,
                   Provenance& provenance) noexcept;
  // Ends without an answer. Does nothing if none has begun.
  void abandon_predict() noexcept;

  // Fills in one entry a parameter, the intercept last; kInvalidArgument unless `summaries` has
  // room for dimension() of them.
  Status posterior(std::span<ParameterSummary> summaries, Provenance& provenance) noexcept;
  // Only the provenance of that answer. O(1). kUnavailable between begin_predict() and its end.
  Status provenance(Provenance& provenance) noexcept;

  // Writes draws [first, first + count) of theta, dimension() numbers each. snapshot_id 0 takes the
  // newest snapshot and keeps it pinned for later pages; kUnavailable: that snapshot is gone.
  Status draws(std::uint64_t snapshot_id, std::size_t first, std::size_t count,
               std::span<double> out, Provenance& provenance) noexcept;

  // The engine's newest events, as of the end of some poll(). Never waits. O(1).
  void events(EventList& list) noexcept;

  // Releases the snapshot that draws() keeps pinned.
  void release() noexcept;

 private:
  friend class Engine;
  Reader(Engine* engine, std::uint32_t id) : engine_(engine), id_(id) {}
  Engine* engine_;
  std::uint32_t id_;
  const Posterior* held_ = nullptr;   // pinned by draws()
  const Posterior* asked_ = nullptr;  // pinned by begin_predict()
  Conformal::Bounds served_{};        // the conformal intervals of that request
};

class Engine {
 public:
  // How many bytes create() needs, computed by the code that lays the block out. Fails as check()
  // does.
  static Result<std::size_t> footprint(const EngineConfig& config) noexcept;

  // The same, region by region, recorded in `arena` (an Arena::measuring()).
  static Result<std::size_t> plan(const EngineConfig& config, Arena& arena) noexcept;

  // Lays the engine out in `block`, which must be 64-byte aligned and hold footprint(config)
  // bytes; kArenaTooSmall with the size needed otherwise. `clock` outlives the engine.
  static Result<Engine*> create(const EngineConfig& config, std::span<std::byte> block,
                                Clock& clock) noexcept;

  // Takes the rows of one batch into the window: each is accepted or refused by itself; the first
  // refused.size() refusals are listed there. O(rows x features).
  ObserveResult observe(const ObservationBatch& batch, std::span<RefusedRow> refused) noexcept;

  // Takes one dense row, without offset and weight; kTrialsMissing for a binomial model.
  Status observe(std::span<const double> features, double target) noexcept;

  // Takes `rows` rows as RowFollower::pack() wrote them (runtime/window/packed_rows.h), so that the
  // window holds the same bits. Otherwise like observe(); kMalformed where `bytes` are not so many
  // rows.
  ObserveResult observe_packed(std::span<const std::byte> bytes, std::uint64_t rows) noexcept;

  // Outcomes of rows that were asked about with a key: labels/late_labels.h.
  LateLabels& labels() noexcept;

  // From now on poll() first takes rows from `leader`, an engine of the same rows (features, dense
  // or sparse, offsets, trials, weights): those that its window holds, then those that come, each
  // once and in order. Answers say kRecovering until the former are learned. The leader's writer
  // waits for an engine that is behind by the leader's slack. observe() must not be called any
  // more, and both engines must live as long as one of them is at work. Call it before any thread
  // is at work. kUnsupported without EngineConfig::follows; kWrongDimension: the rows are not the
  // same; kUnavailable: the leader has no follower to spare; kInvalidArgument: it follows an engine
  // already, or is the leader.
  Status follow(Engine& leader) noexcept;

  // Does at most `max_work` rounds of learning, in which every chain moves while chains do not
  // rest. Returns how many it did; 0: there is nothing to do, park for up to a millisecond and call
  // again.
  int poll(int max_work) noexcept;

  // How often poll() has returned, how many rows wait for it; and a pause, in which it does
  // nothing.
  EngineProgress& progress() noexcept;
  const EngineProgress& progress() const noexcept;

  // Helps poll() with the round under way, if there is one: moves chains and sums rows, on a thread
  // that is not poll()'s. `worker` is 1 to EngineConfig::learner_threads - 1, another one on each
  // helper's thread. Returns how many pieces it did; 0: none is open, so look again within
  // microseconds while the learner has work, or there is no such worker. Changes no bit of any
  // result.
  int assist(std::uint32_t worker) noexcept;

  // kUnavailable when max_readers have been handed out.
  Result<Reader> reader() noexcept;

  // A reader that does not predict (kUnsupported): one of max_watchers. When these have been handed
  // out, a full reader, or kUnavailable.
  Result<Reader> watcher() noexcept;

  // Hands out one of EngineConfig::max_followers, which read rows beside the learner; kUnavailable
  // when all have been handed out. Call it before any thread is at work, or on the learner's thread
  // between polls.
  Result<RowFollower> follower() noexcept;

  // All that the engine goes on from, to be saved and restored, also while it works
  // (checkpoint/engine_state.h).
  EngineState& state() noexcept;

  // Logs the event that a host begins to serve the engine. Call it once the engine is restored,
  // before any thread is at work.
  void tell_start() noexcept;

  // The scores of the predictions of rows that have come. False without
  // EngineConfig::score_predictions. Any thread.
  bool scores(PredictionScores& scores) const noexcept;

  // For tests, experiments and replay: traces, phases, state. The learner's thread only.
  Learner& learner() noexcept;

  std::uint32_t dimension() const noexcept;
  std::uint64_t head() const noexcept;          // observations accepted so far
  const EngineConfig& config() const noexcept;  // defaults filled in
  // Changes when the meaning of a row does; see fingerprint() in config.h.
  std::uint64_t fingerprint() const noexcept;
  Counters<RuntimeCounter>& counters() noexcept;

 private:
  friend class Reader;
  friend struct EngineLayout;
  explicit Engine(EngineLayout* layout) : layout_(layout) {}
  EngineLayout* layout_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_ENGINE_H_
