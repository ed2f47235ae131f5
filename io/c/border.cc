#include "windhover/io/c/border.h"

#include "windhover/platform/check.h"

namespace windhover {
namespace {

static_assert(WINDHOVER_MAX_KEY == kMaxKeyBytes && static_cast<int>(WINDHOVER_KEY_TABLE_FULL) ==
                                                       static_cast<int>(PendingKey::kTableFull));
static_assert(WINDHOVER_MAX_QUANTILES == kMaxQuantiles &&
              WINDHOVER_MAX_THRESHOLDS == kMaxThresholds);

bool there(const void* array, std::size_t count) noexcept { return array != nullptr || count == 0; }

// Copies as much of `value` as both sides know, and leaves the rest of the caller's struct.
template <class T>
void give_at(const T& value, T* array, std::size_t stride, std::size_t i) noexcept {
  std::memcpy(reinterpret_cast<std::byte*>(array) + i * stride, &value,
              std::min(stride, sizeof(T)));
}

// REQUIRES: count <= from.size(), which check_question() has checked.
void give_numbers(std::span<const double> from, std::size_t row, std::size_t count,
                  double* to) noexcept {
  if (to == nullptr) return;
  WINDHOVER_CHECK(count <= from.size());
  std::copy_n(from.begin(), count, to + row * count);
}

windhover_prediction prediction_of(const PredictiveSummary& s) noexcept {
  return {s.linpred_mean,
          s.linpred_sd,
          s.epred_mean,
          s.epred_sd,
          s.mean,
          s.sd,
          s.var_epistemic,
          s.var_aleatoric,
          s.interval_lower,
          s.interval_upper,
          s.entropy,
          s.expected_entropy,
          s.mutual_information,
          s.log_score,
          s.pit,
          s.crps,
          s.brier,
          s.prob_best,
          s.expected_regret,
          s.thompson,
          s.conformal_lower,
          s.conformal_upper,
          s.conformal_set,
          s.conformal_alpha,
          static_cast<windhover_pending_key>(s.pending)};
}

}  // namespace

windhover_status check_rows(const windhover_rows* rows) noexcept {
  constexpr std::size_t kFirst = offsetof(windhover_rows, offsets);
  if (const windhover_status status = check_given(rows, kFirst); status != WINDHOVER_OK) {
    return status;
  }
  if (!there(rows->features, rows->feature_values) || !there(rows->targets, rows->rows)) {
    return WINDHOVER_INVALID_ARGUMENT;
  }
  // If all sparse rows are empty there are no indices.
  const bool sparse = rows->row_ends != nullptr;
  if (!sparse && rows->indices != nullptr) return WINDHOVER_INVALID_ARGUMENT;
  if (sparse && !there(rows->indices, rows->feature_values)) return WINDHOVER_INVALID_ARGUMENT;
  return WINDHOVER_OK;
}

windhover_status check_question(const windhover_question* q, const windhover_answer* a,
                                std::size_t classes) noexcept {
  constexpr std::size_t kFirst = offsetof(windhover_question, offsets);
  if (const windhover_status status = check_given(q, kFirst); status != WINDHOVER_OK) return status;
  if (const windhover_status status = check_given(a); status != WINDHOVER_OK) return status;
  if (const windhover_status status = check_wanted(a->provenance); status != WINDHOVER_OK) {
    return status;
  }
  const bool sparse = q->row_ends != nullptr;
  if (!there(q->features, q->feature_values) || !there(q->quantiles, q->quantile_count) ||
      !there(q->thresholds, q->threshold_count) || (!sparse && q->indices != nullptr) ||
      (sparse && !there(q->indices, q->feature_values)) ||
      (a->predictions != nullptr && a->prediction_size < sizeof(windhover_prediction))) {
    return WINDHOVER_INVALID_ARGUMENT;
  }
  // Summaries have room for no more (predictive.h).
  if (q->quantile_count > kMaxQuantiles || q->threshold_count > kMaxThresholds) {
    return WINDHOVER_TOO_LARGE;
  }
  const bool wants_classes = a->probabilities != nullptr || a->probabilities_sd != nullptr ||
                             a->probabilities_lower != nullptr || a->probabilities_upper != nullptr;
  if (!wants_classes) return WINDHOVER_OK;
  if (classes == 0 || a->classes != classes) return WINDHOVER_WRONG_DIMENSION;
  // `classes` may come from a server, so it may be any number.
  return classes > kMaxClasses ? WINDHOVER_UNSUPPORTED : WINDHOVER_OK;
}

bool has_keys(const windhover_question& q) noexcept {
  return q.struct_size >= offsetof(windhover_question, keys) + sizeof(q.keys) && q.keys != nullptr;
}

std::span<const std::string_view> keys_of(const char* const* keys, std::size_t count,
                                          std::string_view* room) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const char* key = keys[i] == nullptr ? "" : keys[i];
    room[i] = {key, strnlen(key, kMaxKeyBytes + 1)};
  }
  return {room, count};
}

ObservationBatch batch_of(const windhover_rows& rows) noexcept {
  const auto bytes = [](const auto* array) { return reinterpret_cast<const std::byte*>(array); };
  ObservationBatch batch;
  batch.rows = rows.rows;
  batch.features = bytes(rows.features);
  batch.feature_values = rows.feature_values;
  batch.targets = bytes(rows.targets);
  batch.indices = bytes(rows.indices);
  batch.row_ends = bytes(rows.row_ends);
  batch.offsets = bytes(offsets_of(rows));
  batch.weights = bytes(weights_of(rows));
  batch.trials = bytes(trials_of(rows));
  return batch;
}

// False where the caller's struct is from before this member.
bool wants_posterior_spread(const windhover_question& q) noexcept {
  constexpr std::size_t kEnd =
      offsetof(windhover_question, posterior_spread) + sizeof(q.posterior_spread);
  return q.struct_size >= kEnd && q.posterior_spread != 0;
}

PredictRequest request_of(const windhover_question& q) noexcept {
  PredictRequest request;
  request.rows = q.rows;
  request.features = {q.features, q.feature_values};
  if (q.row_ends != nullptr) {
    request.indices = {q.indices, q.feature_values};
    request.row_ends = {q.row_ends, q.rows};
  }
  if (q.outcomes != nullptr) request.outcomes = {q.outcomes, q.rows};
  if (offsets_of(q) != nullptr) request.offsets = {q.offsets, q.rows};
  if (trials_of(q) != nullptr) request.trials = {q.trials, q.rows};
  request.quantile_probabilities = {q.quantiles, q.quantile_count};
  request.thresholds = {q.thresholds, q.threshold_count};
  request.interval_probability = q.interval;
  request.thompson_id = q.thompson_id;
  request.posterior_spread = wants_posterior_spread(q);
  return request;
}

void give_answer(const windhover_question& q, std::span<const PredictiveSummary> summaries,
                 const Provenance& provenance, const windhover_answer& a) noexcept {
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const PredictiveSummary& s = summaries[i];
    if (a.predictions != nullptr) {
      give_at(prediction_of(s), a.predictions, a.prediction_size, i);
    }
    give_numbers(s.quantiles, i, q.quantile_count, a.quantiles);
    give_numbers(s.exceedance, i, q.threshold_count, a.exceedance);
    give_numbers(s.probs, i, a.classes, a.probabilities);
    give_numbers(s.probs_sd, i, a.classes, a.probabilities_sd);
    give_numbers(s.probs_eti_lower, i, a.classes, a.probabilities_lower);
    give_numbers(s.probs_eti_upper, i, a.classes, a.probabilities_upper);
  }
  give_provenance(provenance, a.provenance);
}

void give_provenance(const Provenance& p, windhover_provenance* to) noexcept {
  if (to == nullptr) return;
  windhover_provenance out{};
  out.snapshot_id = p.snapshot_id;
  out.sequence = p.sequence;
  out.n_seen = p.n_seen;
  out.n_eff = p.n_eff;
  out.steps = p.steps;
  out.age_ns = p.age_ns;
  out.draws = p.draws;
  out.status = static_cast<windhover_posterior_status>(p.status);
  out.reason = static_cast<int>(p.reason);
  out.horizon = static_cast<windhover_horizon>(p.horizon);
  out.recovery_target = p.recovery_target;
  out.divergences = p.divergences;
  out.ess_bulk = p.ess_bulk;
  out.ess_tail = p.ess_tail;
  out.r_hat = p.r_hat;
  out.autocorrelation_time = p.autocorrelation_time;
  out.draws_per_observation = p.draws_per_observation;
  out.ou_ratio = p.ou_ratio;
  out.law_ratio = p.law_ratio;
  out.misspecification_index = p.misspecification_index;
  out.prior_conflict = p.prior_conflict;
  out.score_autocorrelation = p.score_autocorrelation;
  out.drift_score = p.drift_score;
  out.repeated_rows = p.repeated_rows;
  out.coverage_90 = p.coverage_90;
  out.noise_variance = p.noise_variance;
  out.noise_variance_sd = p.noise_variance_sd;
  out.conformal_coverage_90 = p.conformal_coverage_90;
  out.drift_onset = p.drift_onset;
  out.drift_onset_time_ns = p.drift_onset_time_ns;
  out.r_hat_chance = p.r_hat_chance;
  out.robust_spread = p.robust_spread ? 1 : 0;
  give(out, to);
}

windhover_status check_events(const windhover_event* to, std::size_t event_size, std::size_t room,
                              const std::size_t* count) noexcept {
  const bool fits = room == 0 || (to != nullptr && event_size >= sizeof(windhover_event));
  return count != nullptr && fits ? WINDHOVER_OK : WINDHOVER_INVALID_ARGUMENT;
}

void give_events(std::span<const Event> events, windhover_event* to, std::size_t event_size,
                 std::size_t room, std::size_t& count) noexcept {
  count = std::min(events.size(), room);
  events = events.last(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Event& e = events[i];
    const windhover_event out = {e.id,
                                 static_cast<int>(e.kind),
                                 static_cast<windhover_posterior_status>(e.from),
                                 static_cast<windhover_posterior_status>(e.status),
                                 static_cast<int>(e.reason),
                                 e.time_ns,
                                 e.times,
                                 e.first_time_ns,
                                 e.row,
                                 e.number,
                                 e.before,
                                 e.drift_onset,
                                 e.drift_onset_time_ns};
    give_at(out, to, event_size, i);
  }
}

windhover_status check_parameters(const windhover_parameter* to, std::size_t parameter_size,
                                  std::size_t room, std::size_t count) noexcept {
  if (to == nullptr || parameter_size < sizeof(windhover_parameter)) {
    return WINDHOVER_INVALID_ARGUMENT;
  }
  return room < count ? WINDHOVER_WRONG_DIMENSION : WINDHOVER_OK;
}

void give_parameters(std::span<const ParameterSummary> summaries, windhover_parameter* to,
                     std::size_t parameter_size) noexcept {
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const ParameterSummary& s = summaries[i];
    const windhover_parameter out = {s.mean,
                                     s.mode,
                                     s.sd,
                                     s.sd_robust,
                                     s.q5,
                                     s.q50,
                                     s.q95,
                                     s.ess_bulk,
                                     s.r_hat,
                                     s.ess_tail,
                                     s.mcse_mean,
                                     s.autocorrelation_time,
                                     s.prior_precision,
                                     s.drift_score};
    give_at(out, to, parameter_size, i);
  }
}

}  // namespace windhover
