// Writes answers about a posterior: predictions, its summary, its draws; and bounds their sizes.
#include <bit>
#include <cmath>
#include <iterator>

#include "windhover/io/codec.h"
#include "windhover/io/response_writer.h"

// The numbers below are field numbers of the messages in windhover.proto.

namespace windhover {
namespace {

// The columns of PosteriorSummaryResult, from field 2 on.
constexpr double ParameterSummary::*kColumns[] = {&ParameterSummary::mean,
                                                  &ParameterSummary::mode,
                                                  &ParameterSummary::sd,
                                                  &ParameterSummary::sd_robust,
                                                  &ParameterSummary::q5,
                                                  &ParameterSummary::q50,
                                                  &ParameterSummary::q95,
                                                  &ParameterSummary::ess_bulk,
                                                  &ParameterSummary::r_hat,
                                                  &ParameterSummary::ess_tail,
                                                  &ParameterSummary::mcse_mean,
                                                  &ParameterSummary::autocorrelation_time,
                                                  &ParameterSummary::prior_precision,
                                                  &ParameterSummary::drift_score};

constexpr std::size_t kHeaderBound =
    kMaxFrameHeader + 11 + 6;  // prefix, id, tag and length of body
constexpr std::size_t kProvenanceBound = 319;

template <class Sink>
void write_prediction(Sink& out, const PredictiveSummary& s, std::size_t quantiles,
                      std::size_t thresholds) noexcept {
  out.real(1, s.linpred_mean);
  out.real(2, s.linpred_sd);
  out.real(3, s.epred_mean);
  out.real(4, s.epred_sd);
  out.real(5, s.mean);
  out.real(6, s.sd);
  out.real(7, s.var_epistemic);
  out.real(8, s.var_aleatoric);
  out.real(9, s.interval_lower);
  out.real(10, s.interval_upper);
  out.doubles(11, quantiles, [&](std::size_t i) { return s.quantiles[i]; });
  out.doubles(12, thresholds, [&](std::size_t i) { return s.exceedance[i]; });
  out.real(13, s.entropy);
  out.real(14, s.expected_entropy);
  out.real(15, s.mutual_information);
  out.real(16, s.log_score);
  out.real(17, s.pit);
  out.real(18, s.crps);
  out.real(19, s.brier);
  out.real(20, s.prob_best);
  out.real(21, s.expected_regret);
  out.real(22, s.thompson);
  out.doubles(23, s.classes, [&](std::size_t i) { return s.probs[i]; });
  out.doubles(24, s.classes, [&](std::size_t i) { return s.probs_sd[i]; });
  out.doubles(25, s.classes, [&](std::size_t i) { return s.probs_eti_lower[i]; });
  out.doubles(26, s.classes, [&](std::size_t i) { return s.probs_eti_upper[i]; });
  if (s.pending != PendingKey::kNone) [[unlikely]] {
    out.u64(31, static_cast<std::uint64_t>(s.pending));
  }
  if (std::isnan(s.conformal_alpha)) return;
  if (!std::isnan(s.conformal_lower)) {
    out.real(27, s.conformal_lower);
    out.real(28, s.conformal_upper);
  }
  std::uint64_t left = s.conformal_set;  // a bit a class
  const auto next_class = [&](std::size_t i) {
    if (i == 0) left = s.conformal_set;
    const auto c = static_cast<std::uint64_t>(std::countr_zero(left));
    left &= left - 1;
    return c;
  };
  out.varints(29, static_cast<std::size_t>(std::popcount(s.conformal_set)), next_class);
  out.real(30, s.conformal_alpha);
}

}  // namespace

std::size_t encode(std::uint64_t id, const PredictReply& r, std::span<std::byte> out) noexcept {
  return write_response(id, response_field::kPredictResult, out, [&](auto& sink) {
    provenance(sink, *r.provenance);
    for (const PredictiveSummary& summary : r.summaries) {
      sink.message(2, [&](auto& s) { write_prediction(s, summary, r.quantiles, r.thresholds); });
    }
  });
}

std::size_t encode(std::uint64_t id, const PosteriorReply& r, std::span<std::byte> out) noexcept {
  return write_response(id, response_field::kPosteriorSummaryResult, out, [&](auto& sink) {
    provenance(sink, *r.provenance);
    int field = 2;
    for (const auto column : kColumns) {
      sink.doubles(field++, r.parameters.size(),
                   [&](std::size_t i) { return r.parameters[i].*column; });
    }
  });
}

std::size_t encode(std::uint64_t id, const DrawsReply& r, std::span<std::byte> out) noexcept {
  return write_response(id, response_field::kDrawsResult, out, [&](auto& sink) {
    provenance(sink, *r.provenance);
    sink.u64(2, r.dimension);
    sink.u64(3, r.first);
    sink.doubles(4, r.theta.size(), [&](std::size_t i) { return r.theta[i]; });
  });
}

std::size_t predict_reply_bound(std::size_t rows, std::size_t quantiles, std::size_t thresholds,
                                std::size_t classes) noexcept {
  // 23 numbers with tags of at most two bytes, seven arrays, what became of the key, tag and length
  // of the row. Logistic has sets of up to two classes, though `classes` is 0.
  const std::size_t row =
      23 * 10 + 7 * 7 + 8 * (quantiles + thresholds + 4 * classes) + classes + 2 + 3 + 7;
  return kHeaderBound + kProvenanceBound + rows * row;
}

std::size_t posterior_reply_bound(std::size_t dimension) noexcept {
  return kHeaderBound + kProvenanceBound + std::size(kColumns) * (6 + 8 * dimension);
}

std::size_t draws_reply_bound(std::size_t dimension, std::size_t draws) noexcept {
  return kHeaderBound + kProvenanceBound + 2 * 7 + 6 + 8 * dimension * draws;
}

}  // namespace windhover
