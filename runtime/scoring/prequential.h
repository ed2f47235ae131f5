#ifndef WINDHOVER_RUNTIME_SCORING_PREQUENTIAL_H_
#define WINDHOVER_RUNTIME_SCORING_PREQUENTIAL_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/clock.h"
#include "windhover/platform/snapshots.h"
#include "windhover/runtime/posterior/posterior.h"
#include "windhover/runtime/prediction/predict.h"
#include "windhover/runtime/scoring/calibration_check.h"
#include "windhover/runtime/scoring/conformal.h"
#include "windhover/runtime/scoring/given_answers.h"
#include "windhover/runtime/scoring/outcome_filter.h"
#include "windhover/runtime/scoring/outcome_use.h"
#include "windhover/runtime/scoring/reference_forecast.h"
#include "windhover/runtime/scoring/score_average.h"
#include "windhover/runtime/window/window.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// Predicts rows before the learner takes them in, and scores the predictions (Dawid 1984: the
// prequential approach). It scores every row where there is time, otherwise evenly spaced ones, as
// many as kShare of the thread's time allows; where the units of y are learned, none before there
// are two rows. Invariant: a row is scored only by an answer of a posterior that had not seen it.
// The learner's thread, but for what says any thread. Makes no heap call.
class Prequential {
 public:
  static constexpr double kShare = 0.05;
  // A log score that is worse counts as this, in nats: one impossible row must not be all that is
  // seen.
  static constexpr double kWorst = -1'000;

  // `memories`: the most columns of a MemoryAverage. `given`: answers to rows whose outcome comes
  // later; null: there are none. `recovered`: rows below it were scored before a restart, and are
  // not again. All arguments outlive it.
  Prequential(Arena& arena, const EngineConfig& config, std::uint32_t memories,
              const Window& window, const Model* model, Snapshots<Posterior>& snapshots,
              GivenAnswers* given, Clock& clock,
              const std::atomic<std::uint64_t>& recovered) noexcept;
  void reset() noexcept;

  // Scores the rows [first, head) of the window, which are about to be taken in. A row that was
  // asked about before its outcome came is scored by the answer given then.
  void score(std::uint64_t first, std::uint64_t head) noexcept;

  // Shows what outlives a restart: the ends of conformal intervals.
  void visit_state(StateVisitor& visitor) noexcept { conformal_.visit_state(visitor); }
  // Shows the same for an engine that scores nothing.
  static void visit_none(StateVisitor& visitor) noexcept {
    Conformal(Conformal::Ends::kTogether).visit_state(visitor);
  }

  // Any thread.
  PredictionScores scores() const noexcept;
  double recent_coverage() const noexcept;            // of 90 % intervals; NaN: none yet
  double recent_conformal_coverage() const noexcept;  // likewise
  // Whether a check of calibration has raised an alarm that stands.
  bool failing() const noexcept { return given_others_.failing() || as_served_.failing(); }
  // See BorneOut.
  bool borne_out() const noexcept { return borne_out_.yes(); }
  // What the outcome of a row may be used for that this posterior has predicted, however many rows
  // have judged it.
  OutcomeUse use_of(const Posterior& posterior) const noexcept;
  // The ends of conformal intervals now.
  Conformal::Bounds conformal() const noexcept { return conformal_.bounds(); }

 private:
  static constexpr std::int64_t kMostNs = 5'000'000;  // the most time saved up
  static constexpr std::uint64_t kRowsATime = 8;      // between two looks at the clock

  // The answer to a row: of a posterior now, or one that was given before.
  struct Answer {
    const Posterior* posterior;
    const GivenAnswer* given;
    Conformal::Bounds served;  // the conformal intervals served
    OutcomeUse use;
  };

  std::uint64_t affordable(std::uint64_t rows) noexcept;
  void note_unscored(std::uint64_t first, std::uint64_t head) noexcept;
  void score_some(std::uint64_t first, std::uint64_t head) noexcept;
  Answer answer_to(const Answer& now, std::uint64_t sequence) noexcept;
  void score_row(const Answer& answer, const double* row) noexcept;
  void ask(const Answer& answer, const PredictRequest& request,
           PredictiveSummary& summary) noexcept;
  void add_to_reference(const double* row) noexcept;
  void score_conformal(const Answer& answer, const PredictRequest& asked,
                       const PredictiveSummary& summary, RowScore& score) noexcept;
  void judge(const Answer& answer, const PredictRequest& asked, const PredictiveSummary& summary,
             double reference, double weight) noexcept;
  OutcomeRatios given_others(const Posterior& posterior, const PredictRequest& asked,
                             const PredictiveSummary& summary, double reference,
                             double weight) noexcept;
  OutcomeRatios ratios(const PredictiveSummary& summary, double y, double reference) noexcept;
  double transform(const PredictiveSummary& summary, double y) noexcept;
  NormalScore normal_score(const Answer& answer, const PredictRequest& asked,
                           const PredictiveSummary& summary) noexcept;

  const std::uint64_t seed_;
  const bool learns_units_;  // whether the units of y are learned
  const Window& window_;
  const Model* model_;
  Snapshots<Posterior>& snapshots_;
  GivenAnswers* given_;
  Clock& clock_;
  const std::atomic<std::uint64_t>& recovered_;
  Predictor predictor_;
  ReferenceForecast reference_;
  std::array<ScoreAverage, PredictionScores::kMemories.size()> averages_;
  // Three checks: of outcomes each given those before it, of a posterior's outcomes taken together,
  // and of each by itself.
  CalibrationCheck given_others_;
  CalibrationCheck as_served_;
  BorneOut borne_out_;
  RatiosOfOnePosterior of_posterior_;
  JudgedRows judged_;
  OutcomeFilter filter_;  // is told the outcomes of the rows that judge
  Conformal conformal_;
  std::atomic<std::uint64_t> offered_{0};
  std::uint64_t scored_ = 0;
  std::int64_t looked_ns_ = 0;  // when the budget was last filled; 0: never
  std::int64_t budget_ns_ = kMostNs;
  double row_ns_ = -1;  // what a row costs, about; below 0: not known yet
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_SCORING_PREQUENTIAL_H_
