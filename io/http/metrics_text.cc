#include "windhover/io/http/metrics_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace windhover {
namespace {

template <class Number>
std::string number_text(Number value) {
  if constexpr (std::is_floating_point_v<Number>) {
    if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  }
  std::array<char, 40> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return std::string(digits.data(), end);
}

// Escapes what a label's value or a help text may not contain.
void append_escaped(std::string& text, std::string_view value) {
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    if (c == '\n') {
      text += "\\n";
    } else {
      text += c;
    }
  }
}

std::string_view type_name(MetricType type, MetricsFormat format) noexcept {
  switch (type) {
    case MetricType::kCounter:
      return "counter";
    case MetricType::kHistogram:
      return "histogram";
    case MetricType::kInfo:
      return format == MetricsFormat::kOpenMetrics ? "info" : "gauge";
    case MetricType::kGauge:
      break;
  }
  return "gauge";
}

}  // namespace

void MetricsText::family(MetricType type, std::string_view name, std::string_view help) {
  type_ = type;
  name_ = name;
  help_ = help;
  head_written_ = false;
}

// The head has the name of the family in OpenMetrics, and that of its samples in Prometheus'
// format.
void MetricsText::head() {
  if (std::exchange(head_written_, true)) return;
  std::string name(name_);
  if (format_ == MetricsFormat::kPrometheus) name += suffix_of(type_);
  text_ += "# HELP " + name + " ";
  append_escaped(text_, help_);
  text_ += "\n# TYPE " + name + " ";
  text_ += type_name(type_, format_);
  text_ += '\n';
  if (format_ == MetricsFormat::kPrometheus) return;
  for (const std::string_view unit : {"seconds", "bytes"}) {
    if (!name_.ends_with(unit)) continue;
    text_ += "# UNIT " + name + " ";
    text_ += unit;
    text_ += '\n';
  }
}

void MetricsText::line(std::string_view suffix, MetricLabels labels, MetricLabel last,
                       std::string_view value) {
  head();
  text_ += name_;
  text_ += suffix;
  char before = '{';
  const auto add = [&](const MetricLabel& label) {
    if (label.name.empty()) return;
    text_ += std::exchange(before, ',');
    text_ += label.name;
    text_ += "=\"";
    append_escaped(text_, label.value);
    text_ += '"';
  };
  for (const MetricLabel& label : labels) add(label);
  add(last);
  if (before == ',') text_ += '}';
  text_ += ' ';
  text_ += value;
  text_ += '\n';
}

void MetricsText::sample(MetricLabels labels, double value) {
  if (std::isnan(value)) return;
  line(suffix_of(type_), labels, {}, number_text(value));
}

void MetricsText::sample(MetricLabels labels, std::uint64_t value) {
  line(suffix_of(type_), labels, {}, number_text(value));
}

void MetricsText::histogram(MetricLabels labels, const LatencyMetrics& latency) {
  for (std::size_t i = 0; i < LatencyMetrics::kBounds; ++i) {
    line("_bucket", labels, {"le", number_text(LatencyMetrics::bound_seconds(i))},
         number_text(latency.at_most[i]));
  }
  line("_bucket", labels, {"le", "+Inf"}, number_text(latency.count));
  line("_sum", labels, {}, number_text(latency.sum_seconds));
  line("_count", labels, {}, number_text(latency.count));
}

std::string MetricsText::finish() {
  if (format_ == MetricsFormat::kOpenMetrics) text_ += "# EOF\n";
  return std::move(text_);
}

}  // namespace windhover
