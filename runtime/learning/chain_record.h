// What the chains have been through since sampling began, and what it says about their draws.
#ifndef WINDHOVER_RUNTIME_LEARNING_CHAIN_RECORD_H_
#define WINDHOVER_RUNTIME_LEARNING_CHAIN_RECORD_H_

#include <cmath>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/runtime/diagnostics/consistency.h"
#include "windhover/runtime/learning/estimator.h"
#include "windhover/runtime/posterior/posterior.h"
#include "windhover/samplers/estimates/diagnostics.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

// Time is counted in relaxations of a chain. Invariant: the diagnostics stand for recorded_moves_
// moves of each chain, the ratio for what the chains had done when it was computed. One thread.
class ChainRecord {
 public:
  // Time before and after one move.
  struct Step {
    double before;
    double after;
    // Whether the move passed a mark, where `marks` marks a relaxation are shifted by `offset` of
    // the distance between two.
    bool passed(double marks, double offset) const noexcept {
      return std::floor(marks * after + offset) > std::floor(marks * before + offset);
    }
  };

  // 0 `chains`: no diagnostics of single chains are kept, which say nothing where rows are seen
  // once.
  ChainRecord(Arena& arena, const EngineConfig& config, std::uint32_t chains) noexcept;
  void reset() noexcept;
  // Sampling begins: forgets what has been recorded, but for the observed spread, which
  // restart_spread() begins anew.
  void begin() noexcept;

  double relaxations() const noexcept { return relaxations_; }
  Step advance(double relaxations) noexcept {
    const double before = relaxations_;
    relaxations_ += relaxations;
    return {before, relaxations_};
  }
  // All chains moved, and their iterates are draws.
  void count_draws() noexcept {
    last_draw_ = relaxations_;
    recorded_moves_ += 1;
  }
  // Adds all chains' iterates, as deviations from the centre of `estimator`. O(chains x D^2).
  void add_iterates(std::span<const Chain> chains, const Estimator& estimator) noexcept;
  // Adds one chain's iterate to the observed spread alone.
  void add_spread(const Chain& chain, const Estimator& estimator) noexcept;

  // The observed spread begins anew, with the iterates from `forgetting` relaxations after now on.
  void restart_spread(double forgetting) noexcept {
    spread_from_ = relaxations_ + forgetting;
    consistency_.reset(spread_from_);
  }
  // Forgets a ratio that says nothing about the present draws.
  void forget_ratio() noexcept { ratio_ = consistency_.none(); }
  // The next comparison need not wait until moves have paid for it.
  void compare_soon() noexcept { ratio_paid_ = 1; }
  // Whether the draws have been compared, or cannot be.
  bool is_compared() const noexcept { return ratio_.largest != 0; }

  // Whether the draws have been compared with their law and the chains with each other, or there
  // has been no draw for so long that none is waited for: a sampler that has gone on to refine
  // (Santa) has none.
  bool can_be_judged() const noexcept;

  // Whether enough has been recorded since the spread was compared last, or it never was; `rows`
  // are in the window. REQUIRES: add_iterates().
  bool comparison_due(std::uint64_t rows) noexcept;
  // Compares observed with predicted spread. law(H, injected covariance) says whether there is a
  // law. O(60 D^3) up to Consistency::kLyapunovDimension, O(D) above.
  template <class Law>
  void compare(const Estimator& estimator, double minibatch_size, double temperature,
               Law&& law) noexcept {
    ratio_relaxations_ = relaxations_ - consistency_.since();
    ratio_ = consistency_.ratio(estimator.laplace().curvature(), estimator.laplace().factor(),
                                estimator.noise().values().data(), estimator.laplace().covariance(),
                                minibatch_size, estimator.laplace().n(), temperature,
                                static_cast<Law&&>(law));
  }
  // Whether the draws that were compared last are wider or narrower than they should be, beyond
  // what chance allows if there was one effective draw a relaxation of each chain.
  bool spread_is_off() const noexcept;
  // The same of draws that are narrower in some direction.
  bool spread_is_narrow() const noexcept;
  // See Consistency::follow().
  void follow_law(const LawTerms& terms, Interlude* interlude) noexcept {
    consistency_.follow(terms, interlude);
  }
  Consistency::Band band(double draws) const noexcept { return consistency_.band(ratio_, draws); }
  const Consistency::Ratio& ratio() const noexcept { return ratio_; }
  // Relaxations that the ratio stands on, and those that the observed spread stands on by now.
  double compared_relaxations() const noexcept { return ratio_relaxations_; }
  double observed_relaxations() const noexcept { return relaxations_ - consistency_.since(); }

  // Effective draws, R-hat, Monte Carlo error and autocorrelation time of `chains` chains.
  void summarize(std::size_t chains, Posterior& posterior) const noexcept;

  void visit_state(StateVisitor& visitor) noexcept {
    visitor.section("record of the chains");
    visitor.values(relaxations_, last_draw_, recorded_moves_);
    diagnostics_.visit_state(visitor);
    consistency_.visit_state(visitor);
    visitor.section("comparison of spreads", 2);
    visitor.values(ratio_.largest, ratio_.smallest, ratio_.law_largest, ratio_.law_smallest,
                   ratio_.decided, ratio_paid_, ratio_rows_, ratio_relaxations_, spread_from_);
  }

 private:
  std::uint32_t dimension_;
  std::uint32_t chains_;
  double temperature_;
  double relaxations_ = 0;
  double last_draw_ = 0;       // when all chains' iterates were draws
  double recorded_moves_ = 0;  // of each chain, that the diagnostics stand for
  ChainDiagnostics diagnostics_;
  Consistency consistency_;
  Consistency::Ratio ratio_;
  double ratio_paid_ = 0;  // share of the next comparison that the moves since the last have paid
  double ratio_rows_ = 0;  // in the window at the last one
  double ratio_relaxations_ = 0;
  double spread_from_ = 0;
  double* deviations_;  // chains x dimension: scratch
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_CHAIN_RECORD_H_
