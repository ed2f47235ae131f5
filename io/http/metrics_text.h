#ifndef WINDHOVER_IO_HTTP_METRICS_TEXT_H_
#define WINDHOVER_IO_HTTP_METRICS_TEXT_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace windhover {

enum class MetricsFormat : std::uint8_t { kPrometheus, kOpenMetrics };

// As in Content-Type.
std::string_view content_type_of(MetricsFormat format) noexcept;
// OpenMetrics where the Accept header names it with a weight that is not 0.
MetricsFormat format_for(std::string_view accept) noexcept;

enum class MetricType : std::uint8_t { kGauge, kCounter, kHistogram, kInfo };

struct MetricLabel {
  std::string_view name;  // empty: no label
  std::string_view value;
};
using MetricLabels = std::initializer_list<MetricLabel>;

// Writes the text of Prometheus 0.0.4 or of OpenMetrics 1.0.0, family by family. A family of which
// no sample is known is left out, head and all: a number that is NaN is not known.
class MetricsText {
 public:
  explicit MetricsText(MetricsFormat format) noexcept : format_(format) {}

  // `name` without _total and _info, with its unit (_seconds, _bytes) at the end. The strings
  // outlive the family.
  void family(MetricType type, std::string_view name, std::string_view help) noexcept;

  // Samples of the family begun last.
  void sample(MetricLabels labels, double value);
  void sample(MetricLabels labels, std::uint64_t value);
  // Of a histogram: its parts, in the order of the format.
  void bucket(MetricLabels labels, double at_most_seconds, std::uint64_t count);
  void sum_and_count(MetricLabels labels, double sum, std::uint64_t count);

  // The whole text; nothing may follow.
  std::string finish();

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
