#ifndef WINDHOVER_IO_HTTP_METRICS_PROTOBUF_H_
#define WINDHOVER_IO_HTTP_METRICS_PROTOBUF_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "windhover/io/http/exposition.pb.h"
#include "windhover/io/http/metrics_writer.h"

namespace windhover {

// Delimited messages (exposition.proto). Histograms are native, and have the classic buckets too,
// for those who keep these.
class MetricsProtobuf final : public MetricsWriter {
 public:
  void family(MetricType type, std::string_view name, std::string_view help) override;
  void sample(MetricLabels labels, double value) override;
  void sample(MetricLabels labels, std::uint64_t value) override;
  void histogram(MetricLabels labels, const LatencyMetrics& latency) override;
  std::string finish() override;

 private:
  exposition::Metric& add(MetricLabels labels);
  void end_family();

  MetricType type_ = MetricType::kGauge;
  exposition::MetricFamily family_;
  std::string bytes_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_METRICS_PROTOBUF_H_
