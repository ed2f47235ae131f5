// Every metric that a daemon serves is on a panel of the dashboard, or stands here with a reason.
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "windhover/io/http/counter_families.h"
#include "windhover/io/http/model_gauges.h"
#include "windhover/io/http/render_metrics.h"

namespace windhover::dashboard_test {

const std::map<std::string, std::string>& on_no_panel() {
  static const std::map<std::string, std::string> reasons = {
      {"windhover_answer_rows", "lag_rows is what it lacks"},
      {"windhover_autocorrelation_steps", "effective_draws follows from it"},
      {"windhover_noise_variance", "in units of each model's y"},
      {"windhover_noise_variance_sd", "in units of each model's y"},
      {"windhover_drift_onset_timestamp_seconds", "a moment; an event says it too"},
      {"windhover_event_timestamp_seconds", "moments; events counts them"},
      {"windhover_recovering", "posterior_state says it"},
      {"windhover_recovery_target_rows", "lag_rows tells how far it is"},
      {"windhover_durable_rows", "rows in the log follow from log_used_bytes"},
      {"windhover_log_commits_total", "log_commit_age_seconds tells whether they stop"},
      {"windhover_checkpoint_rows", "checkpoint_age_seconds tells how old it is"},
      {"windhover_checkpoints_total", "checkpoint_age_seconds tells whether they stop"},
      {"windhover_prediction_scored_rows", "how many rows a score is of; the memory says so"},
      {"windhover_prediction_conformal_coverage_ratio", "it holds whatever the model"},
      {"windhover_prediction_conformal_size", "in units that differ from model to model"},
      {"windhover_model_info", "labels alone"},
      {"windhover_build_info", "labels alone"},
      {"windhover_start_time_seconds", "a moment; uptime_seconds names the instances"},
      {"windhover_stopping", "such a daemon is gone before it is scraped again"},
      // Work done, which rows and questions a second stand for.
      {"windhover_engine_rows_accepted_total", "rows_total has them"},
      {"windhover_engine_batches_refused_total", "rows_total has their rows"},
      {"windhover_engine_window_full_total", "window_full_waits_total counts who waited"},
      {"windhover_engine_steps_total", "draws_per_observation is what counts of it"},
      {"windhover_engine_examples_total", "draws_per_observation is what counts of it"},
      {"windhover_engine_refreshes_total", "part of learning, in order"},
      {"windhover_engine_passes_total", "part of learning, in order"},
      {"windhover_engine_cold_starts_total", "an event says it"},
      {"windhover_engine_snapshots_total", "answer_age_seconds tells whether they stop"},
      {"windhover_engine_predictions_total", "question_duration_seconds counts the questions"},
      {"windhover_queries_total", "question_duration_seconds counts them"},
      {"windhover_rows_received_total", "the sum of rows_total"},
      {"windhover_frames_total", "rows and questions are what they are for"},
      {"windhover_acknowledgements_total", "rows are what they are for"},
      {"windhover_received_bytes_total", "rows are what they are for"},
      {"windhover_sent_bytes_total", "rows and questions are what they are for"},
      {"windhover_http_requests_total", "http_answers_total has them"},
      // What happens when all is in order.
      {"windhover_connections_closed_total", "in order or not; sessions has those that are open"},
      {"windhover_operator_connections_total", "an operator's own"},
      {"windhover_accept_waits_total", "they are let in a moment later"},
      {"windhover_requests_unsupported_total", "of a newer client, which is told"},
      {"windhover_turn_pauses_total", "question_duration_seconds is what they protect"},
      {"windhover_write_stalls_total", "who never reads is in session_timeouts_total"},
  };
  return reasons;
}

template <class Enum>
void add(std::set<std::string>& names, std::span<const CounterFamily<Enum>> families) {
  for (const CounterFamily<Enum>& family : families) {
    names.insert(std::string("windhover_") + family.name + "_total");
  }
}

// By the tables, and what has no table by its samples.
std::set<std::string> served() {
  std::set<std::string> names;
  for (const ModelGauge& gauge : model_gauges()) {
    names.insert(gauge.name + std::string(gauge.type == MetricType::kCounter ? "_total" : ""));
  }
  for (const ScoreGauge& gauge : score_gauges()) names.insert(gauge.name);
  add(names, io_counter_families());
  add(names, runtime_counter_families());
  add(names, http_counter_families());
  ServerMetrics metrics;
  metrics.added_budget_bytes = metrics.added_used_bytes = metrics.resident_bytes = 1;
  metrics.certificate_until_seconds = metrics.client_ca_until_seconds = 1;
  ModelMetrics model;
  model.name = model.likelihood = "linear";
  model.newest_event_ns.fill(1);
  model.scored = true;
  metrics.models.push_back(model);
  const std::string text = render_metrics(metrics, MetricsFormat::kPrometheus);
  static const std::regex kType("# TYPE (windhover_[a-z0-9_]+) ");
  for (std::sregex_iterator at(text.begin(), text.end(), kType), end; at != end; ++at) {
    names.insert((*at)[1]);
  }
  // Only where OpenSSL has a block of its own, which a process gives it for good.
  for (const char* which : {"bytes", "used_bytes", "touched_bytes"}) {
    names.insert(std::string("windhover_tls_memory_") + which);
  }
  return names;
}

std::set<std::string> on_panels() {
  std::ifstream file(std::string(WINDHOVER_SOURCE_DIR) + "/tools/daemon/monitoring/dashboard.json");
  const nlohmann::json dashboard = nlohmann::json::parse(file);
  std::string all = dashboard.at("templating").dump();
  for (const auto& panel : dashboard.at("panels")) {
    if (!panel.contains("targets")) continue;
    for (const auto& target : panel.at("targets")) all += target.at("expr").get<std::string>();
  }
  std::set<std::string> names;
  static const std::regex kName("windhover_[a-z0-9_]+");
  for (std::sregex_iterator at(all.begin(), all.end(), kName), end; at != end; ++at) {
    names.insert(at->str());
  }
  return names;
}

TEST(Dashboard, EveryMetricIsOnAPanelOrHasAReason) {
  const std::set<std::string> all = served();
  const std::set<std::string> shown = on_panels();
  EXPECT_GT(all.size(), 100U);
  for (const std::string& name : all) {
    // A histogram is asked about by its buckets and its count.
    const bool is_shown = shown.contains(name) || shown.contains(name + "_bucket");
    EXPECT_NE(is_shown, on_no_panel().contains(name)) << name;
  }
  for (const auto& [name, reason] : on_no_panel()) {
    EXPECT_TRUE(all.contains(name)) << name << " is not served";
    EXPECT_FALSE(reason.empty()) << name;
  }
}

// Panels that lay over one another would hide one.
TEST(Dashboard, PanelsLieBesideOneAnother) {
  std::ifstream file(std::string(WINDHOVER_SOURCE_DIR) + "/tools/daemon/monitoring/dashboard.json");
  const nlohmann::json dashboard = nlohmann::json::parse(file);
  std::set<std::pair<int, int>> taken;
  for (const auto& panel : dashboard.at("panels")) {
    const auto& place = panel.at("gridPos");
    const int left = place.at("x");
    const int top = place.at("y");
    EXPECT_LE(left + place.at("w").get<int>(), 24) << panel.at("title");
    for (int x = left; x < left + place.at("w").get<int>(); ++x) {
      for (int y = top; y < top + place.at("h").get<int>(); ++y) {
        EXPECT_TRUE(taken.emplace(x, y).second) << panel.at("title");
      }
    }
  }
}

}  // namespace windhover::dashboard_test
