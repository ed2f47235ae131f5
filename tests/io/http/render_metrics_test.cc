#include "windhover/io/http/render_metrics.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "windhover/io/http/counter_families.h"

namespace windhover {
namespace render_metrics_test {

// Samples by name and labels, as they stand in the text.
std::map<std::string, std::string> samples_in(const std::string& text) {
  std::map<std::string, std::string> samples;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    const std::size_t blank = line.rfind(' ');
    EXPECT_NE(blank, std::string::npos) << line;
    const bool first = samples.emplace(line.substr(0, blank), line.substr(blank + 1)).second;
    EXPECT_TRUE(first) << "twice: " << line;
  }
  return samples;
}

ServerMetrics two_models() {
  ServerMetrics metrics;
  metrics.version = "1.2.3";
  metrics.sessions = {3, 4};
  metrics.session_limit = 64;
  for (const char* name : {"default", "other"}) {
    ModelMetrics model;
    model.name = name;
    model.likelihood = "linear";
    metrics.models.push_back(model);
  }
  metrics.models[1].head = 100;
  metrics.models[1].provenance.sequence = 58;
  metrics.models[1].provenance.status = PosteriorStatus::kDrifting;
  metrics.models[1].provenance.reason = StatusReason::kDrift;
  metrics.models[1].provenance.age_ns = 1'500'000'000;
  metrics.models[1].provenance.law_ratio = std::numeric_limits<double>::infinity();
  metrics.models[1].provenance.r_hat = std::nan("");
  return metrics;
}

TEST(RenderMetrics, EachModelHasItsNumbers) {
  const auto samples = samples_in(render_metrics(two_models(), MetricsFormat::kPrometheus));
  EXPECT_EQ(samples.at("windhover_lag_rows{model=\"default\"}"), "0");
  EXPECT_EQ(samples.at("windhover_lag_rows{model=\"other\"}"), "42");
  EXPECT_EQ(samples.at("windhover_answer_age_seconds{model=\"other\"}"), "1.5");
  EXPECT_EQ(samples.at("windhover_law_ratio{model=\"other\"}"), "+Inf");
  EXPECT_FALSE(samples.contains("windhover_law_ratio{model=\"default\"}")) << "it is NaN";
  EXPECT_FALSE(samples.contains("windhover_r_hat{model=\"other\"}")) << "it is NaN";
  EXPECT_EQ(samples.at("windhover_sessions{endpoint=\"query\"}"), "4");
  EXPECT_EQ(samples.at("windhover_build_info{version=\"1.2.3\"}"), "1");
}

TEST(RenderMetrics, CertificatesThatThereAreHaveAGauge) {
  const std::string own = "windhover_tls_certificate_expiry_timestamp_seconds";
  const std::string client_ca = "windhover_tls_client_ca_expiry_timestamp_seconds";
  ServerMetrics metrics = two_models();
  auto samples = samples_in(render_metrics(metrics, MetricsFormat::kPrometheus));
  EXPECT_FALSE(samples.contains(own));
  EXPECT_FALSE(samples.contains(client_ca));
  metrics.certificate_until_seconds = 1'800'000'000;
  metrics.client_ca_until_seconds = 1'900'000'000;
  samples = samples_in(render_metrics(metrics, MetricsFormat::kPrometheus));
  EXPECT_EQ(std::stod(samples.at(own)), 1'800'000'000);
  EXPECT_EQ(std::stod(samples.at(client_ca)), 1'900'000'000);
}

TEST(RenderMetrics, OneStateAndOneReasonAreOneAndTheOthersZero) {
  const auto samples = samples_in(render_metrics(two_models(), MetricsFormat::kPrometheus));
  const auto ones = [&](const std::string& name) {
    std::set<std::string> set;
    std::size_t all = 0;
    for (const auto& [sample, value] : samples) {
      if (!sample.starts_with(name + "{model=\"other\"")) continue;
      ++all;
      if (value == "1") set.insert(sample);
      EXPECT_TRUE(value == "0" || value == "1") << sample;
    }
    EXPECT_GE(all, 5U);
    return set;
  };
  EXPECT_EQ(ones("windhover_posterior_state"),
            std::set<std::string>{"windhover_posterior_state{model=\"other\",state=\"drifting\"}"});
  EXPECT_EQ(ones("windhover_posterior_reason"),
            std::set<std::string>{"windhover_posterior_reason{model=\"other\",reason=\"drift\"}"});
}

template <class Enum>
void expect_all(const std::map<std::string, std::string>& samples,
                std::span<const CounterFamily<Enum>> families, const std::string& model) {
  for (std::size_t i = 0; i < families.size(); ++i) {
    std::string labels = model;
    if (*families[i].label != '\0') {
      labels += std::string(labels.empty() ? "" : ",") + families[i].label + "=\"" +
                families[i].value + "\"";
    }
    if (!labels.empty()) labels = "{" + labels + "}";
    const std::string name = std::string("windhover_") + families[i].name + "_total" + labels;
    const auto found = samples.find(name);
    ASSERT_NE(found, samples.end()) << name;
    EXPECT_EQ(found->second, std::to_string(1000 + i)) << name;
  }
}

TEST(RenderMetrics, EveryCounterIsThereWithItsOwnValue) {
  ServerMetrics metrics = two_models();
  const auto fill = [](auto& values) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1000 + i;
  };
  fill(metrics.io_counters);
  fill(metrics.http_counters);
  for (ModelMetrics& model : metrics.models) fill(model.counters);
  const auto samples = samples_in(render_metrics(metrics, MetricsFormat::kPrometheus));
  expect_all(samples, io_counter_families(), "");
  expect_all(samples, http_counter_families(), "");
  expect_all(samples, runtime_counter_families(), "model=\"default\"");
  expect_all(samples, runtime_counter_families(), "model=\"other\"");
}

TEST(RenderMetrics, WithoutAFolderNothingIsSaidOfOne) {
  ServerMetrics metrics = two_models();
  metrics.models[1].durable.keeps_folder = true;
  metrics.models[1].durable.checkpoint_age_seconds = std::nan("");
  const auto samples = samples_in(render_metrics(metrics, MetricsFormat::kPrometheus));
  EXPECT_FALSE(samples.contains("windhover_checkpoints_total{model=\"default\"}"));
  EXPECT_TRUE(samples.contains("windhover_checkpoints_total{model=\"other\"}"));
  EXPECT_FALSE(samples.contains("windhover_checkpoint_age_seconds{model=\"other\"}"));
  EXPECT_FALSE(samples.contains("windhover_log_ok{model=\"other\"}")) << "it keeps no log";
  metrics.models[1].durable.logs = true;
  metrics.models[1].durable.commit_age_seconds = 2.5;
  const auto logged = samples_in(render_metrics(metrics, MetricsFormat::kPrometheus));
  EXPECT_EQ(logged.at("windhover_log_commit_age_seconds{model=\"other\"}"), "2.5");
  EXPECT_FALSE(logged.contains("windhover_log_commit_age_seconds{model=\"default\"}"));
}

// Both formats name a family once, with its help and its type, before its samples.
TEST(RenderMetrics, FamiliesAreSaidOnceAndTheirSamplesFollow) {
  for (const auto format : {MetricsFormat::kPrometheus, MetricsFormat::kOpenMetrics}) {
    std::set<std::string> families;
    std::string family;
    std::istringstream lines(render_metrics(two_models(), format));
    std::string last;
    for (std::string line; std::getline(lines, line); last = line) {
      if (line.starts_with("# HELP ")) {
        family = line.substr(7, line.find(' ', 7) - 7);
        EXPECT_TRUE(families.insert(family).second) << family;
        EXPECT_GT(line.size(), family.size() + 9) << "no help: " << line;
      } else if (line.starts_with("# TYPE ")) {
        EXPECT_TRUE(last.starts_with("# HELP " + family + " ")) << line;
        EXPECT_TRUE(line.starts_with("# TYPE " + family + " ")) << line;
      } else if (!line.starts_with("#")) {
        EXPECT_TRUE(line.starts_with(family)) << line;
      }
    }
    EXPECT_EQ(last == "# EOF", format == MetricsFormat::kOpenMetrics);
    EXPECT_GT(families.size(), 60U);
  }
}

TEST(LatencyMetrics, BucketsAreCumulativeAndExactAtTheirBounds) {
  Histogram histogram;
  for (const std::int64_t ns :
       {1LL, 1023LL, 1024LL, 2047LL, 2048LL, 1'000'000'000LL, 40'000'000'000LL}) {
    histogram.record(ns);
  }
  const LatencyMetrics metrics = latency_metrics(histogram);
  EXPECT_DOUBLE_EQ(LatencyMetrics::bound_seconds(0), 1.024e-6);
  EXPECT_EQ(metrics.at_most[0], 2U);
  EXPECT_EQ(metrics.at_most[1], 4U);
  EXPECT_EQ(metrics.at_most[2], 5U);
  EXPECT_EQ(metrics.at_most[LatencyMetrics::kBounds - 1], 6U) << "40 s are above 17 s";
  EXPECT_EQ(metrics.count, 7U);
  EXPECT_GE(metrics.sum_seconds, 41.0);
  EXPECT_LE(metrics.sum_seconds, 41.0 * (1 + 1.0 / 32) + 1e-6);
  for (std::size_t i = 1; i < LatencyMetrics::kBounds; ++i) {
    EXPECT_GE(metrics.at_most[i], metrics.at_most[i - 1]);
  }
}

}  // namespace render_metrics_test
}  // namespace windhover
