#include "windhover/io/http/metrics_text.h"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace windhover {
namespace metrics_text_test {

std::string text_of(MetricsFormat format) {
  MetricsText text(format);
  text.family(MetricType::kCounter, "rows", "Rows.");
  text.sample({{"model", "default"}, {"outcome", "accepted"}},
              std::uint64_t{18446744073709551615U});
  text.family(MetricType::kGauge, "age_seconds", "Age.");
  text.sample({}, 0.25);
  text.family(MetricType::kInfo, "build", "Version.");
  text.sample({{"version", "1\\2\"3\n4"}}, std::uint64_t{1});
  return text.finish();
}

TEST(MetricsText, PrometheusNamesTheSamples) {
  EXPECT_EQ(text_of(MetricsFormat::kPrometheus),
            "# HELP rows_total Rows.\n"
            "# TYPE rows_total counter\n"
            "rows_total{model=\"default\",outcome=\"accepted\"} 18446744073709551615\n"
            "# HELP age_seconds Age.\n"
            "# TYPE age_seconds gauge\n"
            "age_seconds 0.25\n"
            "# HELP build_info Version.\n"
            "# TYPE build_info gauge\n"
            "build_info{version=\"1\\\\2\\\"3\\n4\"} 1\n");
}

TEST(MetricsText, OpenMetricsNamesTheFamilyItsUnitAndTheEnd) {
  EXPECT_EQ(text_of(MetricsFormat::kOpenMetrics),
            "# HELP rows Rows.\n"
            "# TYPE rows counter\n"
            "rows_total{model=\"default\",outcome=\"accepted\"} 18446744073709551615\n"
            "# HELP age_seconds Age.\n"
            "# TYPE age_seconds gauge\n"
            "# UNIT age_seconds seconds\n"
            "age_seconds 0.25\n"
            "# HELP build Version.\n"
            "# TYPE build info\n"
            "build_info{version=\"1\\\\2\\\"3\\n4\"} 1\n"
            "# EOF\n");
}

TEST(MetricsText, UnknownNumbersAreLeftOutAndInfinityIsWritten) {
  MetricsText text(MetricsFormat::kPrometheus);
  text.family(MetricType::kGauge, "unknown", "Never seen.");
  text.sample({{"model", "a"}}, std::nan(""));
  text.family(MetricType::kGauge, "ratio", "Seen.");
  text.sample({{"model", "a"}}, std::nan(""));
  text.sample({{"model", "b"}}, std::numeric_limits<double>::infinity());
  text.sample({{"model", "c"}}, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(text.finish(),
            "# HELP ratio Seen.\n# TYPE ratio gauge\n"
            "ratio{model=\"b\"} +Inf\nratio{model=\"c\"} -Inf\n");
}

TEST(MetricsText, HistogramEndsWithInfinitySumAndCount) {
  MetricsText text(MetricsFormat::kPrometheus);
  text.family(MetricType::kHistogram, "wait_seconds", "Wait.");
  LatencyMetrics latency;
  latency.at_most.fill(2);
  latency.count = 3;
  latency.sum_seconds = 0.5;
  text.histogram({{"endpoint", "query"}}, latency);
  const std::string written = text.finish();
  EXPECT_TRUE(
      written.starts_with("# HELP wait_seconds Wait.\n# TYPE wait_seconds histogram\n"
                          "wait_seconds_bucket{endpoint=\"query\",le=\"1.024e-06\"} 2\n"))
      << written;
  EXPECT_TRUE(
      written.ends_with("wait_seconds_bucket{endpoint=\"query\",le=\"+Inf\"} 3\n"
                        "wait_seconds_sum{endpoint=\"query\"} 0.5\n"
                        "wait_seconds_count{endpoint=\"query\"} 3\n"))
      << written;
}

TEST(MetricsFormat, FollowsWhatIsAccepted) {
  const auto open = [](std::string_view accept) {
    return format_for(accept) == MetricsFormat::kOpenMetrics;
  };
  EXPECT_FALSE(open(""));
  EXPECT_FALSE(open("*/*"));
  EXPECT_FALSE(open("text/plain"));
  EXPECT_TRUE(open("application/openmetrics-text"));
  EXPECT_TRUE(open("application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"));
  EXPECT_TRUE(open("text/plain;q=0.5, application/openmetrics-text; version=1.0.0; q=0.1"));
  EXPECT_FALSE(open("application/openmetrics-text;q=0"));
  EXPECT_FALSE(open("application/openmetrics-text; version=1.0.0; q=0.00, text/plain"));
  EXPECT_FALSE(open("application/openmetrics-texts"));
  EXPECT_FALSE(open(",;,;;=,"));
  const std::string messages =
      "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
  for (const std::string& accept :
       {messages, messages + ",application/openmetrics-text;q=0.8",
        "application/openmetrics-text;version=1.0.0;q=0.5, " + messages + ";q=0.3"}) {
    EXPECT_EQ(format_for(accept), MetricsFormat::kProtobuf) << accept;
  }
  for (const std::string& accept :
       {messages + ";q=0", std::string("application/vnd.google.protobuf"),
        std::string("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
                    "encoding=text"),
        std::string("application/vnd.google.protobuf;encoding=delimited")}) {
    EXPECT_EQ(format_for(accept), MetricsFormat::kPrometheus) << accept;
  }
}

}  // namespace metrics_text_test
}  // namespace windhover
