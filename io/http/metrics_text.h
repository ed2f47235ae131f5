#ifndef WINDHOVER_IO_HTTP_METRICS_TEXT_H_
#define WINDHOVER_IO_HTTP_METRICS_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "windhover/io/http/metrics_writer.h"

namespace windhover {

// The text of Prometheus 0.0.4 or of OpenMetrics 1.0.0. Neither has native histograms.
class MetricsText final : public MetricsWriter {
 public:
  explicit MetricsText(MetricsFormat format) noexcept : format_(format) {}

  void family(MetricType type, std::string_view name, std::string_view help) override;
  void sample(MetricLabels labels, double value) override;
  void sample(MetricLabels labels, std::uint64_t value) override;
  void histogram(MetricLabels labels, const LatencyMetrics& latency) override;
  std::string finish() override;

 private:
  void head();
  void line(std::string_view suffix, MetricLabels labels, MetricLabel last, std::string_view value);

  MetricsFormat format_;
  MetricType type_ = MetricType::kGauge;
  std::string_view name_;
  std::string_view help_;
  bool head_written_ = false;
  std::string text_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_METRICS_TEXT_H_
