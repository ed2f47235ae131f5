#include "windhover/io/client.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <thread>

#include "windhover/io/keys.h"

namespace windhover {

namespace {

constexpr std::size_t kMaxIdBytes = 11;  // of a request: tag and varint

template <class From, class To>
void add_all(const From& from, To* to) {
  to->Add(from.begin(), from.end());
}

}  // namespace

Status Client::predict(const PredictRequest& request, std::vector<PredictiveSummary>& summaries,
                       Provenance& provenance) {
  if (connected() && !request.offsets.empty() && !welcome().takes_offsets()) {
    return fail(Status::kOffsetNotTaken, "the server's model has no offset: model.offset is false");
  }
  if (connected() && !request.trials.empty() && !welcome().takes_trials()) {
    return fail(Status::kTrialsNotTaken, "the server's model has no trials: it is not binomial");
  }
  if (connected() && !request.keys.empty() && !welcome().takes_keys()) {
    return fail(Status::kKeyNotTaken, std::string(kNoKeys));
  }
  if (!are_keys(request.keys)) return fail(Status::kInvalidArgument, std::string(kNoKey));
  v1::Request message;
  v1::Predict* predict = message.mutable_predict();
  for (const std::string_view key : request.keys) predict->add_keys(key.data(), key.size());
  predict->set_rows(static_cast<std::uint32_t>(request.rows));
  add_all(request.features, predict->mutable_features_f64());
  add_all(request.indices, predict->mutable_indices());
  add_all(request.row_ends, predict->mutable_row_ends());
  add_all(request.quantile_probabilities, predict->mutable_quantile_probabilities());
  add_all(request.thresholds, predict->mutable_thresholds());
  add_all(request.outcomes, predict->mutable_outcomes());
  add_all(request.offsets, predict->mutable_offsets());
  add_all(request.trials, predict->mutable_trials());
  predict->set_interval_probability(request.interval_probability);
  predict->set_thompson_id(request.thompson_id);
  predict->set_posterior_spread(request.posterior_spread);
  if (connected() && message.ByteSizeLong() + kMaxIdBytes > welcome().frame_cap()) {
    return fail(Status::kTooLarge, "the question is larger than a frame may be; ask for fewer rows",
                welcome().frame_cap());
  }
  v1::Response response;
  if (const Status status = ask(message, response); !ok(status)) return status;
  const v1::PredictResult& result = response.predict_result();
  if (static_cast<std::size_t>(result.predictions_size()) != request.rows) {
    return fail(Status::kMalformed, "the server answers for another number of rows");
  }
  summaries.clear();
  for (const v1::Prediction& prediction : result.predictions()) {
    summaries.push_back(summary_of(prediction));
  }
  provenance = provenance_of(result.provenance());
  return Status::kOk;
}

Status Client::posterior(std::vector<ParameterSummary>& summaries, Provenance& provenance) {
  v1::Request message;
  message.mutable_posterior_summary();
  v1::Response response;
  if (const Status status = ask(message, response); !ok(status)) return status;
  const v1::PosteriorSummaryResult& r = response.posterior_summary_result();
  const int count = r.mean_size();
  for (const int size :
       {r.mode_size(), r.sd_size(), r.sd_robust_size(), r.q5_size(), r.q50_size(), r.q95_size(),
        r.ess_bulk_size(), r.r_hat_size(), r.ess_tail_size(), r.mcse_mean_size(),
        r.autocorrelation_time_size(), r.prior_precision_size()}) {
    if (size != count) return fail(Status::kMalformed, "the server's arrays differ in length");
  }
  // A server from before this field sends no drift scores.
  const bool drifts = r.drift_score_size() == count;
  summaries.clear();
  for (int i = 0; i < count; ++i) {
    summaries.push_back({r.mean(i), r.mode(i), r.sd(i), r.sd_robust(i), r.q5(i), r.q50(i), r.q95(i),
                         r.ess_bulk(i), r.r_hat(i), r.ess_tail(i), r.mcse_mean(i),
                         r.autocorrelation_time(i), r.prior_precision(i),
                         drifts ? r.drift_score(i) : std::numeric_limits<double>::quiet_NaN()});
  }
  provenance = provenance_of(r.provenance());
  return Status::kOk;
}

Status Client::draws(std::vector<double>& theta, Provenance& provenance) {
  constexpr int kAttempts = 5;
  Status status = Status::kUnavailable;
  for (int attempt = 0; attempt < kAttempts && status == Status::kUnavailable; ++attempt) {
    theta.clear();
    provenance = {};
    std::uint64_t snapshot = 0;
    std::uint32_t first = 0;
    do {
      v1::Request message;
      message.mutable_draws()->set_snapshot_id(snapshot);
      message.mutable_draws()->set_first(first);
      v1::Response response;
      status = ask(message, response);
      if (!ok(status)) break;
      const v1::DrawsResult& page = response.draws_result();
      const auto dimension = static_cast<int>(page.dimension());
      if (dimension <= 0 || page.theta_size() == 0 || page.theta_size() % dimension != 0 ||
          page.first() != first) {
        return fail(Status::kMalformed, "the server's page of draws is not the one asked for");
      }
      theta.insert(theta.end(), page.theta().begin(), page.theta().end());
      first += static_cast<std::uint32_t>(page.theta_size()) / page.dimension();
      provenance = provenance_of(page.provenance());
      snapshot = provenance.snapshot_id;
    } while (first < provenance.draws);
  }
  return status;
}

Status Client::status(v1::StatusResult& result) {
  v1::Request message;
  message.mutable_status();
  v1::Response response;
  if (const Status status = ask(message, response); !ok(status)) return status;
  result = std::move(*response.mutable_status_result());
  return Status::kOk;
}

Status Client::outcomes(std::span<const std::string_view> keys, std::span<const double> targets,
                        v1::OutcomeResult& result) {
  if (keys.size() != targets.size()) {
    return fail(Status::kInvalidArgument, "there is one target a key");
  }
  if (connected() && !welcome().takes_keys()) {
    return fail(Status::kKeyNotTaken, std::string(kNoKeys));
  }
  if (!are_keys(keys)) return fail(Status::kInvalidArgument, std::string(kNoKey));
  v1::Request message;
  v1::Outcome* outcome = message.mutable_outcome();
  for (const std::string_view key : keys) outcome->add_keys(key.data(), key.size());
  add_all(targets, outcome->mutable_targets());
  if (connected() && message.ByteSizeLong() + kMaxIdBytes > welcome().frame_cap()) {
    return fail(Status::kTooLarge, "the keys are larger than a frame may be; send fewer at once",
                welcome().frame_cap());
  }
  v1::Response response;
  if (const Status status = ask(message, response); !ok(status)) return status;
  if (!response.has_outcome_result()) {
    return fail_closed(Status::kMalformed, "the server does not say what became of the keys");
  }
  result = std::move(*response.mutable_outcome_result());
  return Status::kOk;
}

Status Client::models(std::vector<v1::ModelState>& states) {
  states.clear();
  for (;;) {
    v1::Request message;
    message.mutable_list_models()->set_first(static_cast<std::uint32_t>(states.size()));
    v1::Response response;
    if (const Status status = ask(message, response); !ok(status)) return status;
    if (!response.has_list_models_result()) {
      return fail_closed(Status::kMalformed, "the server does not say which models it has");
    }
    const v1::ListModelsResult& result = response.list_models_result();
    for (const v1::ModelState& state : result.states()) states.push_back(state);
    if (result.states().empty() || states.size() >= result.models()) return Status::kOk;
  }
}

Status Client::events(std::vector<Event>& events) {
  events.clear();
  v1::Request message;
  message.mutable_list_events();
  v1::Response response;
  if (const Status status = ask(message, response); !ok(status)) return status;
  if (!response.has_list_events_result()) {
    return fail_closed(Status::kMalformed, "the server does not say what has happened");
  }
  for (const v1::Event& event : response.list_events_result().events()) {
    events.push_back(event_of(event));
  }
  return Status::kOk;
}

Status Client::change_model(const v1::ChangeModel& change, v1::ModelState& state) {
  v1::Request message;
  *message.mutable_change_model() = change;
  v1::Response response;
  if (const Status status = ask(message, response); !ok(status)) return status;
  if (!response.has_change_model_result()) {
    return fail_closed(Status::kMalformed, "the server does not say how the model stands");
  }
  state = response.change_model_result().state();
  return Status::kOk;
}

Status Client::host_model(const v1::HostModel& order, v1::HostModelResult& result,
                          const std::function<bool()>& go_on) {
  constexpr auto kAskAgain = std::chrono::milliseconds(20);
  v1::Request message;
  *message.mutable_host_model() = order;
  for (;;) {
    v1::Response response;
    const Status status = ask(message, response);
    const bool busy = refusal() == v1::REASON_UNAVAILABLE && message.host_model().action() != 0;
    if (!ok(status) && !(status == Status::kUnavailable && busy)) return status;
    if (ok(status)) {
      if (!response.has_host_model_result()) {
        return fail_closed(Status::kMalformed, "the server does not say what became of the order");
      }
      result = response.host_model_result();
      if (result.finished()) return Status::kOk;
      message.mutable_host_model()->Clear();
      message.mutable_host_model()->set_request(result.request());
    }
    if (go_on && !go_on()) return Status::kTimeout;
    std::this_thread::sleep_for(kAskAgain);
  }
}

}  // namespace windhover
