// Writes numbers for Prometheus, family by family, in one of its formats.
#ifndef WINDHOVER_IO_HTTP_METRICS_WRITER_H_
#define WINDHOVER_IO_HTTP_METRICS_WRITER_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "windhover/io/http/latency_metrics.h"

namespace windhover {

enum class MetricsFormat : std::uint8_t { kPrometheus, kOpenMetrics, kProtobuf };

// The value of Content-Type.
std::string_view content_type_of(MetricsFormat format) noexcept;
// The format to answer with, among those that the Accept header names with a weight other than 0:
// Protobuf, which alone has native histograms, else OpenMetrics, else the text of Prometheus, also
// if the header names none of them. Prometheus names Protobuf where it is to keep native
// histograms.
MetricsFormat format_for(std::string_view accept) noexcept;

enum class MetricType : std::uint8_t { kGauge, kCounter, kHistogram, kInfo };
// The suffix of its samples' names.
std::string_view suffix_of(MetricType type) noexcept;

struct MetricLabel {
  std::string_view name;  // empty: no label
  std::string_view value;
};
using MetricLabels = std::initializer_list<MetricLabel>;

// A number that is NaN is not known and left out, and so is a family without known samples.
class MetricsWriter {
 public:
  virtual ~MetricsWriter() = default;

  // `name` without _total and _info, with its unit (_seconds, _bytes) at the end. The strings
  // outlive the family.
  virtual void family(MetricType type, std::string_view name, std::string_view help) = 0;

  // Add samples to the family begun last.
  virtual void sample(MetricLabels labels, double value) = 0;
  virtual void sample(MetricLabels labels, std::uint64_t value) = 0;
  virtual void histogram(MetricLabels labels, const LatencyMetrics& latency) = 0;

  // Returns all that was written; nothing may follow.
  virtual std::string finish() = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_METRICS_WRITER_H_
