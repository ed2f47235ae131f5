#include "windhover/io/http/metrics_protobuf.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/delimited_message_util.h>

#include "windhover/tests/io/http/http_fixture.h"

namespace windhover::testing::metrics_protobuf_test {
namespace {

std::vector<exposition::MetricFamily> read(const std::string& bytes) {
  google::protobuf::io::ArrayInputStream in(bytes.data(), static_cast<int>(bytes.size()));
  std::vector<exposition::MetricFamily> families;
  exposition::MetricFamily family;
  bool at_end = false;
  while (google::protobuf::util::ParseDelimitedFromZeroCopyStream(&family, &in, &at_end)) {
    families.push_back(family);
    family.Clear();
  }
  EXPECT_TRUE(at_end);
  return families;
}

TEST(MetricsProtobuf, FamiliesHaveTheNamesOfTheirSamples) {
  MetricsProtobuf messages;
  messages.family(MetricType::kGauge, "unknown", "Never seen.");
  messages.sample({}, std::nan(""));
  messages.family(MetricType::kCounter, "rows", "Rows.");
  messages.sample({{"model", "a"}, {"", ""}}, std::uint64_t{7});
  messages.sample({{"model", "b"}}, std::uint64_t{8});
  messages.family(MetricType::kInfo, "build", "Version.");
  messages.sample({{"version", "1"}}, std::uint64_t{1});
  const auto families = read(messages.finish());
  ASSERT_EQ(families.size(), 2U) << "of the first nothing is known";
  EXPECT_EQ(families[0].name(), "rows_total");
  EXPECT_EQ(families[0].help(), "Rows.");
  EXPECT_EQ(families[0].type(), exposition::COUNTER);
  ASSERT_EQ(families[0].metric_size(), 2);
  EXPECT_EQ(families[0].metric(1).label(0).value(), "b");
  EXPECT_EQ(families[0].metric(1).counter().value(), 8);
  EXPECT_EQ(families[0].metric(0).label_size(), 1);
  EXPECT_EQ(families[1].name(), "build_info");
  EXPECT_EQ(families[1].type(), exposition::GAUGE);
  EXPECT_EQ(families[1].metric(0).gauge().value(), 1);
}

// Native buckets taken apart again: index to count.
std::map<int, std::int64_t> buckets_of(const exposition::Histogram& histogram) {
  std::map<int, std::int64_t> buckets;
  int index = 0;
  int at = 0;
  std::int64_t count = 0;
  for (const exposition::BucketSpan& span : histogram.positive_span()) {
    index += span.offset();
    for (std::uint32_t i = 0; i < span.length(); ++i) {
      count += histogram.positive_delta(at++);
      buckets[index++] = count;
    }
  }
  EXPECT_EQ(at, histogram.positive_delta_size());
  return buckets;
}

TEST(MetricsProtobuf, NativeBucketsHoldEveryDurationWithinWhatTheRecorderTells) {
  Histogram recorded;
  std::map<int, std::int64_t> expected;
  std::vector<std::int64_t> all;
  for (std::int64_t ns = 1; ns < 90'000'000'000; ns += 1 + ns / 7) all.push_back(ns);
  for (const std::int64_t ns : all) recorded.record(ns);
  MetricsProtobuf messages;
  messages.family(MetricType::kHistogram, "wait_seconds", "Wait.");
  messages.histogram({{"endpoint", "query"}}, latency_metrics(recorded));
  messages.histogram({{"endpoint", "http"}}, latency_metrics(Histogram()));
  const auto families = read(messages.finish());
  ASSERT_EQ(families.size(), 1U);
  EXPECT_EQ(families[0].type(), exposition::HISTOGRAM);
  const exposition::Histogram& histogram = families[0].metric(0).histogram();
  const auto buckets = buckets_of(histogram);
  EXPECT_EQ(histogram.sample_count(), all.size());
  EXPECT_EQ(histogram.schema(), 3);
  std::int64_t total = 0;
  for (const auto& [index, count] : buckets) {
    EXPECT_GT(count, 0) << "one that is empty is not said";
    total += count;
    // The count of durations that end in this bucket or before: none is missing, and at most those
    // are added that the recorder may have taken for up to 1/32 more.
    const double bound_ns = std::exp2(index / 8.0) * 1e9;
    const auto at_most = [&](double bound) {
      return std::ranges::count_if(
          all, [bound](std::int64_t ns) { return static_cast<double>(ns) <= bound; });
    };
    EXPECT_LE(total, at_most(bound_ns)) << index;
    EXPECT_GE(total, at_most(bound_ns / (1 + 1.0 / 32) - 1)) << index;
  }
  EXPECT_EQ(total, static_cast<std::int64_t>(all.size()));
  EXPECT_EQ(histogram.bucket_size(), static_cast<int>(LatencyMetrics::kBounds));
  const exposition::Histogram& empty = families[0].metric(1).histogram();
  EXPECT_EQ(empty.positive_span_size(), 0);
  EXPECT_GT(empty.zero_threshold(), 0) << "or nobody would know that it is native";
}

// What the text says the messages say, and the other way round.
TEST(MetricsProtobuf, SaysWhatTheTextSays) {
  HttpWorld world;
  const std::string head = "GET /metrics HTTP/1.1\r\n";
  const HttpResponse text = world.get("/metrics");
  const auto responses = world.ask(
      head +
      "Accept: application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
      "encoding=delimited,application/openmetrics-text;version=1.0.0;q=0.8,*/*;q=0.1\r\n\r\n");
  ASSERT_EQ(responses.size(), 1U);
  EXPECT_EQ(responses[0].field("Content-Type"),
            "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
            "encoding=delimited");
  std::size_t samples = 0;
  for (const exposition::MetricFamily& family : read(responses[0].body)) {
    const std::string type = family.type() == exposition::COUNTER     ? " counter\n"
                             : family.type() == exposition::HISTOGRAM ? " histogram\n"
                                                                      : " gauge\n";
    EXPECT_NE(text.body.find("# TYPE " + family.name() + type), std::string::npos) << family.name();
    for (const exposition::Metric& metric : family.metric()) {
      std::string name = family.name();
      char before = '{';
      for (const exposition::LabelPair& label : metric.label()) {
        name += std::exchange(before, ',') + label.name() + "=\"" + label.value() + '"';
      }
      if (before == ',') name += '}';
      if (family.type() == exposition::HISTOGRAM) {
        name.insert(family.name().size(), "_count");
      }
      EXPECT_NE(text.body.find("\n" + name + " "), std::string::npos) << name;
      ++samples;
    }
  }
  const auto lines = static_cast<std::size_t>(std::ranges::count(text.body, '\n'));
  const auto comments = [&] {
    std::size_t count = 0;
    for (std::size_t at = text.body.find("# "); at != std::string::npos;
         at = text.body.find("\n# ", at + 1)) {
      ++count;
    }
    return count;
  }();
  // Each of the three histograms is one message, and as many lines as it has bounds and three more.
  EXPECT_EQ(samples, lines - comments - 3 * (LatencyMetrics::kBounds + 2));
}

}  // namespace
}  // namespace windhover::testing::metrics_protobuf_test
