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
// at all, from one a worker; captures and each RowFollower, if at all, from one. These may be as
// many threads or one. Nothing here allocates, throws or prints; after create() there is no heap
// call at all. Nothing blocks, with one exception: of an engine that keeps keys (EngineConfig::
// labels) questions with keys, outcomes and settle_labels() take a lock while one key is looked up
// and its row copied (labels/pending_labels.h); the learner never does. The engine lives in the
// block: dropping the block drops the engine, no destructor matters.
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
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/checkpoint/sink.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/counter_ids.h"
#include "windhover/runtime/diagnostics/event_log.h"
#include "windhover/runtime/observation.h"
#include "windhover/runtime/prediction/predictive.h"
#include "windhover/runtime/scoring/conformal.h"
#include "windhover/runtime/window/row_follower.h"

namespace windhover {

class Learner;
class Engine;
struct Posterior;
struct PredictionScores;

// Answers questions from the newest snapshot; while draws() holds one, from that. One thread at a
// time uses it; do not copy it once it is in use. predict() never waits for learning and learning
// never waits for it.
class Reader {
 public:
  // Fills `summaries` (request.rows of them). Complexity O(rows x draws x dimension +
  // rows x dimension^2). kWrongDimension, kInvalidArgument, kNotFinite, kTooLarge say what is
  // wrong with the request; nothing is written then. Before the first observation the answer is the
  // prior's.
  Status predict(const PredictRequest& request, std::span<PredictiveSummary> summaries,
                 Provenance& provenance) noexcept;

  // The same answer, to the last bit, in pieces between which its thread does other things: begin,
  // then the rows in order, however many at a time, then end. All of them are answered from the
  // snapshot that begin_predict() pins; refused, nothing is pinned. Meanwhile the request stays as
  // it is, though keys may move, and this reader answers nothing else (kUnavailable). `summaries`
  // are the request's. Rows with keys are kept as they are answered.
  Status begin_predict(const PredictRequest& request) noexcept;
  void predict_rows(const PredictRequest& request, std::size_t first, std::size_t count,
                    std::span<PredictiveSummary> summaries) noexcept;
  void end_predict(const PredictRequest& request, std::span<PredictiveSummary> summaries,
                   Provenance& provenance) noexcept;
  // Instead of the end: nobody wants the answer any more. Nothing if none has begun.
  void abandon_predict() noexcept;

  // One entry a parameter, the intercept last; `summaries` holds dimension() of them.
  Status posterior(std::span<ParameterSummary> summaries, Provenance& provenance) noexcept;
  // The second half of that alone. O(1). kUnavailable between begin_predict() and its end.
  Status provenance(Provenance& provenance) noexcept;

  // Draws `first` to `first + count` of theta, dimension() numbers each. snapshot_id 0 takes the
  // newest snapshot and keeps it pinned for later pages; kUnavailable: that snapshot is gone.
  Status draws(std::uint64_t snapshot_id, std::size_t first, std::size_t count,
               std::span<double> out, Provenance& provenance) noexcept;

  // The engine's newest events, as they were after some poll(). Never waits. O(1).
  void events(EventList& list) noexcept;

  // Lets go of the snapshot that draws() keeps pinned.
  void release() noexcept;

 private:
  friend class Engine;
  Reader(Engine* engine, std::uint32_t id) : engine_(engine), id_(id) {}
  Engine* engine_;
  std::uint32_t id_;
  const Posterior* held_ = nullptr;   // by draws()
  const Posterior* asked_ = nullptr;  // by a predict in pieces
  Conformal::Bounds served_{};        // by the same: conformal intervals
};

class Engine {
 public:
  // Bytes of the block that create() needs, computed by the code that lays it out. Fails as
  // check() fails.
  static Result<std::size_t> footprint(const EngineConfig& config) noexcept;

  // The same, region by region, recorded in `arena` (an Arena::measuring()).
  static Result<std::size_t> plan(const EngineConfig& config, Arena& arena) noexcept;

  // Lays the engine out in `block`, which must be 64-byte aligned and hold footprint(config)
  // bytes; kArenaTooSmall with the size needed otherwise. `clock` outlives the engine.
  static Result<Engine*> create(const EngineConfig& config, std::span<std::byte> block,
                                Clock& clock) noexcept;

  // Takes the rows of one batch into the window: each is accepted or refused on its own; the first
  // refused.size() refusals are listed there. Complexity O(rows x features).
  ObserveResult observe(const ObservationBatch& batch, std::span<RefusedRow> refused) noexcept;

  // One dense row, without offset and weight; kTrialsMissing of a binomial model.
  Status observe(std::span<const double> features, double target) noexcept;

  // `rows` rows as RowFollower::pack() gave them (runtime/window/packed_rows.h): the window then
  // holds the same bits. Otherwise as observe(), and kMalformed where `bytes` are not so many rows.
  ObserveResult observe_packed(std::span<const std::byte> bytes, std::uint64_t rows) noexcept;

  // What happened, of rows that were asked about with a key (PredictRequest::keys): each is then an
  // observation as any other, accepted or refused on its own; the first refused.size() refusals are
  // listed. Its score, where predictions are scored, is that of the answer given when it was asked
  // about. kUnknownKey: nobody has asked with it, or it was long ago, or before a restart;
  // kKeyTimedOut; `duplicate` counts keys that have been joined. Otherwise as observe(): of
  // kWindowFull nothing has happened; kKeyNotTaken: EngineConfig::labels keeps none. Complexity
  // O(keys x features).
  ObserveResult observe_outcomes(const OutcomeBatch& batch, std::span<RefusedRow> refused) noexcept;

  // Keys whose time is up, `most` of them, are no longer waited for (`timed_out`: how many): call
  // it now and then, again while there are as many. With EngineConfig::labels.timeout_outcome their
  // rows, max_frame_rows at most, are observations with that outcome: accepted, or refused;
  // kWindowFull: later. On the observe thread. Complexity O(most).
  ObserveResult settle_labels(std::uint64_t most) noexcept;

  // Whether keep_rows() may have the rows of a question with keys that another engine is to answer:
  // kOk, or what is wrong with them as Reader::predict() says it. Rows, offsets and keys are looked
  // at, whatever else is asked. Any thread.
  Status may_keep_rows(const PredictRequest& request) noexcept;
  // Keeps rows `first` to `first + count` of it, once they are answered: `summaries`, the whole
  // question's, are told what became of the keys. When an outcome comes the row is scored like one
  // that came with it. Any thread. REQUIRES: may_keep_rows() is kOk.
  void keep_rows(const PredictRequest& request, std::size_t first, std::size_t count,
                 std::span<PredictiveSummary> summaries) noexcept;

  // Keys that are waited for now. They are in memory alone: neither save() nor a log has them, and
  // after restore() there are none. Any thread.
  std::uint64_t pending_labels() const noexcept;

  // From now on poll() first takes rows from `leader`, an engine of the same rows (features, dense
  // or sparse, offsets, weights) with a follower to spare: those that its window holds, then what
  // comes, each once and in order. Answers say kRecovering until the former are learned. The
  // leader's writer waits for an engine that is behind by its slack. observe() must not be called
  // any more, and both engines live as long as one of them is at work. Before any thread is.
  // kUnsupported without EngineConfig::follows; kWrongDimension; kUnavailable as follower();
  // kInvalidArgument: it follows somebody already, or is the leader.
  Status follow(Engine& leader) noexcept;

  // While true poll() does nothing: answers stay what they are, and rows wait until the window's
  // slack is used up. One that follows passes its leader's rows over meanwhile, so that the leader
  // does not wait for it. Any thread.
  void pause(bool paused) noexcept;
  bool paused() const noexcept;

  // Does at most `max_work` rounds of learning (one step of every chain each) and returns how many
  // were worth doing; 0: nothing to do, park for up to a millisecond and call again.
  int poll(int max_work) noexcept;

  // How often poll() has come back: it grows while somebody learns, or rests. Any thread.
  std::uint64_t polls() const noexcept;

  // Helps poll() with the round under way, if there is one: moves of chains and sums over rows, on
  // a thread that is not poll()'s. `worker` is 1 to EngineConfig::learner_threads - 1, another one
  // on each helper's thread. Returns how many pieces were done; 0: none open, look again within
  // microseconds while the learner has work, or there is no such worker. Changes no bit of any
  // result.
  int assist(std::uint32_t worker) noexcept;

  // kUnavailable when max_readers have been handed out.
  Result<Reader> reader() noexcept;

  // One whose predict() and begin_predict() say kUnsupported: of max_watchers, and when these have
  // been handed out one of max_readers, or kUnavailable.
  Result<Reader> watcher() noexcept;

  // One of EngineConfig::max_followers who read rows beside the learner; kUnavailable when all have
  // been handed out. Before any thread is at work, or on the learner's between polls.
  Result<RowFollower> follower() noexcept;

  // All that the engine goes on from: rows, learner, newest snapshot, counters. What is restored
  // into an engine of the same configuration goes on bit for bit as the one that was shown would
  // have, and answers at once as it did. On the learner's thread, between polls, while nobody is in
  // observe() or assist(); Readers may go on. Writing changes nothing. See
  // platform/state_visitor.h.
  void visit_state(StateVisitor& visitor) noexcept;

  // Writes all of that, with what a reader needs to check it (runtime/checkpoint/README.md). Under
  // the same conditions. kUnsupported without EngineConfig::checkpoints; kUnavailable while a
  // capture is under way; otherwise what the sink said. Complexity O(rows + state).
  Status save(Sink& sink) noexcept;

  // Becomes the engine that was saved: answers at once as it did, and goes on bit for bit where the
  // processor has the same instruction set. Before the first observe() as a rule; in any case
  // while nobody is in observe(), poll(), assist() or a Reader, and no Reader holds a snapshot
  // (Reader::release). Refused, with a sentence that says why: what is no checkpoint, or one of a
  // later version, of another model or configuration (the field is named), damaged (the section is
  // named), or ended too early. Everything is verified before any of it counts, and after a refusal
  // the engine is as after create(), but for Readers and followers, which stay good. Window slack,
  // frame size, readers, followers and threads may be other ones than when it was saved.
  Result<bool> restore(Source& source) noexcept;

  // The same of an engine at work. request_capture() has the learner copy its state, without the
  // rows, when the round under way ends, inside poll(), also when there is nothing to do. From
  // then on the rows of that moment stay readable until they have been written: the writer may go
  // on for window_slack rows meanwhile. request_capture() may be called on any one thread:
  // kUnsupported without EngineConfig::checkpoints, kUnavailable until release_capture() has ended
  // the one before.
  Status request_capture() noexcept;
  // Whether the copy is there. Any thread.
  bool captured() const noexcept;
  // Rows that the learner had taken in. REQUIRES: captured().
  std::uint64_t captured_head() const noexcept;
  // Writes what save() writes, with the rows up to `head`: restored, the engine is as it was
  // captured, and the rows since then wait for its learner. On a thread of its own, once a capture.
  // kInvalidArgument unless captured_head() <= head <= head(); kUnavailable without a capture, or
  // where it has been written; otherwise what the sink said.
  Status save_captured(Sink& sink, std::uint64_t head) noexcept;
  // Lets go of rows and copy; the same thread. Without a capture it does nothing; one that is
  // requested and not taken yet is called off.
  void release_capture() noexcept;

  // Every answer whose snapshot holds fewer rows than `head` says kRecovering, kReplay, until one
  // holds them, or the learner rests with all of them. 0: none. Any thread.
  void set_recovery_target(std::uint64_t head) noexcept;

  // An event says that a host begins to serve the engine. Before any thread is at work, once it is
  // restored.
  void tell_start() noexcept;

  // What the predictions of rows that have come were worth. False without
  // EngineConfig::score_predictions. Any thread.
  bool scores(PredictionScores& scores) const noexcept;

  // What tests, experiments and replay need: traces, phases, state. The learner's thread only.
  Learner& learner() noexcept;

  std::uint32_t dimension() const noexcept;
  std::uint64_t head() const noexcept;  // observations accepted so far
  // With what waits for it in the engine that it follows. The learner's thread.
  std::uint64_t offered_rows() const noexcept;
  std::uint64_t waiting_rows() const noexcept;  // of these, what the learner has not taken in
  const EngineConfig& config() const noexcept;  // defaults filled in
  // Changes when the meaning of a row does: model, dimension, intercept.
  std::uint64_t fingerprint() const noexcept;
  Counters<RuntimeCounter>& counters() noexcept;

 private:
  friend class Reader;
  struct Layout;
  void start_anew() noexcept;  // in the same block
  explicit Engine(Layout* layout) : layout_(layout) {}
  Layout* layout_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_ENGINE_H_
