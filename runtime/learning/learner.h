// What an engine asks of whatever keeps its posterior up to date.
#ifndef WINDHOVER_RUNTIME_LEARNING_LEARNER_H_
#define WINDHOVER_RUNTIME_LEARNING_LEARNER_H_

#include <atomic>
#include <cstdint>
#include <span>

#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/learning/estimator.h"
#include "windhover/samplers/registry.h"

namespace windhover {

// Called with each iterate that is a draw: with a window while sampling, without one after every
// move on new rows, with Structure::kDiagonal never. Must not allocate or throw.
using TraceFunction = void (*)(void* context, std::uint16_t chain, const double* theta) noexcept;
// Called when the learner takes a new head: what replay needs to repeat a live run bit for bit.
using HeadSink = void (*)(void* context, std::uint64_t round, std::uint64_t head) noexcept;

struct LearnerView;
class Prequential;

// There are three: WindowLearner draws the rows of a window again and again, SinglePassLearner sees
// each row once, RowBlockLearner is for many sparse columns and keeps no D x D matrix. The first
// two go through the same phases:
//   warming up  passes over all rows so far, Newton's method to the mode; answers are the prior's,
//               then Laplace's.
//   approach    chains start as Laplace draws while C is measured for the first time.
//   burn-in     they forget the law that they came by; nothing is retained yet.
//   sampling    iterates are retained and counted.
// Without a window each chain gets its place in the approach from the rows of the cold start under
// weights of its own, and there is no burn-in; RowBlockLearner warms up and samples. Invariant:
// head() never falls, and is at most what the window's writer has published. One thread, but for
// assist().
class Learner {
 public:
  enum class Phase : std::uint8_t { kWarmingUp, kApproach, kBurnIn, kSampling };

  virtual void reset() noexcept = 0;  // publishes the prior

  // See Engine::poll. Once `interrupt` is true it returns when the round under way ends.
  int poll(int max_work, const std::atomic<bool>* interrupt = nullptr) noexcept;
  // The same with the head given: replay.
  int replay(std::uint64_t head, int max_work) noexcept;
  // See Engine::assist.
  virtual int assist(std::uint32_t) noexcept { return 0; }

  // Shows all that it goes on from, but for the window and the counters; see EngineState. Call it
  // between polls. The hooks below are the host's and stay as they are.
  virtual void visit_state(StateVisitor& visitor) noexcept = 0;

  virtual void set_trace(TraceFunction trace, void* context) noexcept = 0;
  void set_head_sink(HeadSink sink, void* context) noexcept {
    head_sink_ = sink;
    head_context_ = context;
  }

  // Predicts rows before they are taken in; null: no row is predicted.
  void set_scorer(Prequential* scorer) noexcept { scorer_ = scorer; }

  // The state of the learner, between rounds.
  virtual LearnerView view() const noexcept = 0;
  virtual std::uint64_t head() const noexcept = 0;  // rows taken in
  std::uint64_t round() const noexcept { return round_; }

 protected:
  ~Learner() = default;  // lives in an arena; nobody deletes it

  void tell_head(std::uint64_t head) const noexcept {
    if (head_sink_ != nullptr) head_sink_(head_context_, round_, head);
  }

  std::uint64_t round_ = 0;  // rounds, also those in which the chains rest
  bool dirty_ = false;       // there is something to publish

 private:
  // The head to take over before the next round; it has been published.
  virtual std::uint64_t next_head() noexcept = 0;
  virtual void take_head(std::uint64_t head) noexcept = 0;
  // false: there is nothing to do.
  virtual bool do_round() noexcept = 0;
  // Whether the last snapshot is old enough for another one although rounds go on.
  virtual bool publication_due() const noexcept = 0;
  virtual void publish() noexcept = 0;

  HeadSink head_sink_ = nullptr;
  void* head_context_ = nullptr;
  Prequential* scorer_ = nullptr;
};

// The state of a learner between two rounds. What follows `minibatch_size` concerns rows in memory
// only.
struct LearnerView {
  // REQUIRES: the learner has one.
  const Estimator& estimator() const noexcept { return *estimates; }

  Learner::Phase phase;
  const Estimator* estimates;      // null with Structure::kDiagonal
  std::span<const double> chains;  // chains x dimension
  double minibatch_size;
  std::uint64_t passes = 0;  // over the window, see RunPhase::passes()
  const AnySampler* sampler = nullptr;
  double relaxation = 0;     // see ChainMover::relaxation()
  std::uint64_t memory = 0;  // Horizon::kAdaptive: rows that the chosen memory is worth, at most
  bool limit_aside = false;  // SurpriseLimit::stands_aside()
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_LEARNER_H_
