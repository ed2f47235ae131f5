#include "windhover/runtime/scoring/prequential.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/registry.h"

namespace windhover {
namespace {

EngineConfig of_one_row(const EngineConfig& config) noexcept {
  EngineConfig one = config;
  one.max_query_rows = 1;
  one.labels.pending = 0;
  return one;
}

// Numbers that fill [0, 1) evenly (Weyl), by an irrational `step`: one to break ties with, and
// another to choose the rows that judge.
constexpr double kTies = 0.6180339887498949;
constexpr double kJudges = 0.7548776662466927;
double even_number(std::uint64_t n, double step) noexcept {
  const double product = static_cast<double>(n) * step;
  return product - std::floor(product);
}

// What the reference forecast is told of a row beside y: its trials or its offset.
double known_of(const RowLayout& layout, const double* row) noexcept {
  return layout.has_trials() ? layout.trials(row) : layout.offset(row);
}

}  // namespace

Prequential::Prequential(Arena& arena, const EngineConfig& config, std::uint32_t memories,
                         const Window& window, const Model* model, Snapshots<Posterior>& snapshots,
                         GivenAnswers* given, Clock& clock,
                         const std::atomic<std::uint64_t>& recovered) noexcept
    : seed_(config.seed),
      learns_units_(with_defaults(config).standardize_target == Standardize::kColdStart),
      window_(window),
      model_(model),
      snapshots_(snapshots),
      given_(given),
      clock_(clock),
      recovered_(recovered),
      predictor_(arena, of_one_row(config)),
      reference_(arena, config.model),
      averages_{ScoreAverage(PredictionScores::kMemories[0]),
                ScoreAverage(PredictionScores::kMemories[1]),
                ScoreAverage(PredictionScores::kMemories[2])},
      filter_(arena, Predictor::directions(config, memories)),
      conformal_(is_number(find_model(config.model.name)->response) ? Conformal::Ends::kApart
                                                                    : Conformal::Ends::kTogether) {}

void Prequential::reset() noexcept {
  reference_.reset();
  judged_ = {};
  of_posterior_.reset();
}

OutcomeUse Prequential::use_of(const Posterior& posterior) const noexcept {
  if (learns_units_ && posterior.provenance.n_seen < 2) return OutcomeUse::kNothing;
  return posterior.provenance.status == PosteriorStatus::kWarmingUp ? OutcomeUse::kScores
                                                                    : OutcomeUse::kCheck;
}

// How many of `rows` rows there is time to score.
std::uint64_t Prequential::affordable(std::uint64_t rows) noexcept {
  const std::int64_t now_ns = clock_.now_ns();
  if (looked_ns_ != 0) {
    const double earned = kShare * static_cast<double>(now_ns - looked_ns_);
    budget_ns_ = std::min(kMostNs, budget_ns_ + static_cast<std::int64_t>(earned));
  }
  looked_ns_ = now_ns;
  if (budget_ns_ <= 0) return 0;
  if (row_ns_ < 0) return rows;  // as long as the budget lasts
  const double most = std::ceil(static_cast<double>(budget_ns_) / std::max(row_ns_, 1e-3));
  return most < static_cast<double>(rows) ? static_cast<std::uint64_t>(most) : rows;
}

void Prequential::score(std::uint64_t first, std::uint64_t head) noexcept {
  score_some(first, head);
  conformal_.end_take();
  if (given_ != nullptr) given_->scored(head);
}

void Prequential::score_some(std::uint64_t first, std::uint64_t head) noexcept {
  if (first < recovered_.load(std::memory_order_relaxed)) return;
  const std::uint64_t rows = head - first;
  offered_.store(offered_.load(std::memory_order_relaxed) + rows, std::memory_order_relaxed);
  const Posterior* const posterior = snapshots_.published();
  if (posterior == nullptr) return;
  const Provenance& of = posterior->provenance;
  Answer now = {posterior, nullptr, conformal_.bounds(), use_of(*posterior)};
  if (now.use == OutcomeUse::kNothing) return note_unscored(first, head);
  const std::uint64_t count = affordable(rows);
  // The rows that judge the posterior are spread over all that it predicts, which may be sorted.
  const bool judges = now.use == OutcomeUse::kCheck;
  const double share = static_cast<double>(judged_.left(of.n_seen, of.n_eff)) /
                       static_cast<double>(std::max<std::uint64_t>(count, 1));
  for (std::uint64_t i = 0; i < count;) {
    const std::uint64_t end = std::min(count, i + kRowsATime);
    const std::int64_t begin_ns = clock_.now_ns();
    const std::uint64_t here = end - i;
    for (; i < end; ++i) {
      const std::uint64_t sequence = first + i * rows / count;
      if (judges) {
        now.use =
            even_number(scored_, kJudges) < share ? OutcomeUse::kCheck : OutcomeUse::kConformal;
      }
      score_row(answer_to(now, sequence), window_.row(sequence));
    }
    const std::int64_t took_ns = clock_.now_ns() - begin_ns;
    const double each = static_cast<double>(took_ns) / static_cast<double>(here);
    row_ns_ = row_ns_ < 0 ? each : row_ns_ + 0.1 * (each - row_ns_);
    budget_ns_ -= took_ns;
    if (budget_ns_ <= 0) return;
  }
}

// The probability integral transform of y. For a discrete y it is randomized, so that it is uniform
// when the predictions are honest (Czado, Gneiting, Held 2009).
double Prequential::transform(const PredictiveSummary& s, double y) noexcept {
  const double tie = even_number(scored_, kTies);
  const double probability = std::exp(std::min(s.log_score, 0.0));
  switch (model_->response()) {
    case Response::kBernoulli:
      return y == 1 ? 1 - tie * probability : tie * probability;
    case Response::kCount:
    case Response::kOverdispersedCount:
    case Response::kBinomial:
    case Response::kZeroInflatedCount:
      return std::clamp(s.pit - tie * probability, 0.0, 1.0);
    case Response::kCategorical: {
      // Classes count from the middle outwards: the central intervals are the sets of the most
      // probable classes.
      const double before = ClassShares(s).before(static_cast<std::size_t>(y));
      return 0.5 + 0.5 * std::clamp(before + tie * probability, 0.0, 1.0);
    }
    default:
      return s.pit;
  }
}

// Before there are two rows the units of y are not known, and what is predicted is worth nothing.
void Prequential::note_unscored(std::uint64_t first, std::uint64_t head) noexcept {
  for (std::uint64_t i = first; i < head; ++i) add_to_reference(window_.row(i));
}

void Prequential::add_to_reference(const double* row) noexcept {
  const RowLayout& layout = window_.layout();
  reference_.add(model_->response(), row[layout.target_index()], known_of(layout, row));
}

void Prequential::ask(const Answer& answer, const PredictRequest& request,
                      PredictiveSummary& summary) noexcept {
  const Response response = model_->response();
  if (answer.given != nullptr) {
    predictor_.answer_given(response, answer.given->numbers, request, summary);
  } else {
    predictor_.predict(*answer.posterior, response, seed_, request, {&summary, 1});
  }
}

// The answer that was given when the row was asked about; if it was not, `now`.
Prequential::Answer Prequential::answer_to(const Answer& now, std::uint64_t sequence) noexcept {
  const GivenAnswer* const given = given_ != nullptr ? given_->given(sequence) : nullptr;
  return given == nullptr ? now : Answer{nullptr, given, given->served, given->use};
}

void Prequential::score_row(const Answer& answer, const double* row) noexcept {
  if (answer.use == OutcomeUse::kNothing) return add_to_reference(row);
  const RowLayout& layout = window_.layout();
  const double y = row[layout.target_index()];
  PredictRequest request;
  request.rows = 1;
  request.outcomes = {&y, 1};
  request.intervals = false;
  if (layout.has_offset()) request.offsets = {row + layout.offset_index(), 1};
  if (layout.has_trials()) request.trials = {row + layout.trials_index(), 1};
  std::uint32_t count = 0;
  if (layout.sparse()) {
    const SparseRow sparse(layout, row);
    count = static_cast<std::uint32_t>(sparse.count);
    request.features = {sparse.values, sparse.count};
    request.indices = {sparse.indices, sparse.count};
    request.row_ends = {&count, 1};
  } else {
    request.features = {row, layout.features()};
  }
  const Response response = model_->response();
  PredictiveSummary summary;
  ask(answer, request, summary);
  RowScore score;
  score.log_score = std::isnan(summary.log_score) ? kWorst : std::max(summary.log_score, kWorst);
  score.reference = std::max(reference_.log_score(response, y, known_of(layout, row)), kWorst);
  score.pit = transform(summary, y);
  score_conformal(answer, request, summary, score);
  ++scored_;
  for (ScoreAverage& average : averages_) average.add(score);
  if (score.pit >= 0 && answer.use >= OutcomeUse::kConformal) {
    judge(answer, request, summary, score.reference, layout.weight(row));
  }
  add_to_reference(row);
}

double Prequential::recent_coverage() const noexcept {
  static_assert(kScoredIntervals[2] == 0.90);
  return averages_[0].coverage(2);
}

double Prequential::recent_conformal_coverage() const noexcept {
  return averages_[0].conformal_coverage(2);
}

PredictionScores Prequential::scores() const noexcept {
  PredictionScores scores;
  scores.offered = offered_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < averages_.size(); ++i) scores.means[i] = averages_[i].means();
  return scores;
}

}  // namespace windhover
