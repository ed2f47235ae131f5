#include "windhover/io/http/metrics_protobuf.h"

#include <cmath>
#include <limits>
#include <utility>

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/delimited_message_util.h>

namespace windhover {
namespace {

// No duration is 0. A threshold other than 0 marks a histogram without samples as native.
constexpr double kZeroThreshold = 0x1p-128;

void add_native(const LatencyMetrics& latency, exposition::Histogram& out) {
  out.set_schema(LatencyMetrics::kSchema);
  out.set_zero_threshold(kZeroThreshold);
  int next = 0;
  std::uint64_t before = 0;
  exposition::BucketSpan* span = nullptr;
  for (const LatencyMetrics::NativeBucket& bucket : latency.native) {
    if (span == nullptr || bucket.index != next) {
      span = out.add_positive_span();
      span->set_offset(bucket.index - next);
    }
    span->set_length(span->length() + 1);
    out.add_positive_delta(static_cast<std::int64_t>(bucket.count - before));
    before = bucket.count;
    next = bucket.index + 1;
  }
}

}  // namespace

void MetricsProtobuf::family(MetricType type, std::string_view name, std::string_view help) {
  end_family();
  type_ = type;
  family_.set_name(std::string(name) + std::string(suffix_of(type)));
  family_.set_help(std::string(help));
  family_.set_type(type == MetricType::kCounter     ? exposition::COUNTER
                   : type == MetricType::kHistogram ? exposition::HISTOGRAM
                                                    : exposition::GAUGE);
}

void MetricsProtobuf::end_family() {
  if (family_.metric_size() > 0) {
    google::protobuf::io::StringOutputStream out(&bytes_);
    google::protobuf::util::SerializeDelimitedToZeroCopyStream(family_, &out);
  }
  family_.Clear();
}

exposition::Metric& MetricsProtobuf::add(MetricLabels labels) {
  exposition::Metric& metric = *family_.add_metric();
  for (const MetricLabel& label : labels) {
    if (label.name.empty()) continue;
    exposition::LabelPair& pair = *metric.add_label();
    pair.set_name(std::string(label.name));
    pair.set_value(std::string(label.value));
  }
  return metric;
}

void MetricsProtobuf::sample(MetricLabels labels, double value) {
  if (std::isnan(value)) return;
  exposition::Metric& metric = add(labels);
  (type_ == MetricType::kCounter ? metric.mutable_counter() : metric.mutable_gauge())
      ->set_value(value);
}

void MetricsProtobuf::sample(MetricLabels labels, std::uint64_t value) {
  sample(labels, static_cast<double>(value));
}

void MetricsProtobuf::histogram(MetricLabels labels, const LatencyMetrics& latency) {
  exposition::Histogram& out = *add(labels).mutable_histogram();
  out.set_sample_count(latency.count);
  out.set_sample_sum(latency.sum_seconds);
  for (std::size_t i = 0; i < LatencyMetrics::kBounds; ++i) {
    exposition::Bucket& bucket = *out.add_bucket();
    bucket.set_cumulative_count(latency.at_most[i]);
    bucket.set_upper_bound(LatencyMetrics::bound_seconds(i));
  }
  add_native(latency, out);
}

std::string MetricsProtobuf::finish() {
  end_family();
  return std::move(bytes_);
}

}  // namespace windhover
