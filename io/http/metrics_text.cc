#include "windhover/io/http/metrics_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace windhover {
namespace {

constexpr std::string_view kOpenMetricsType = "application/openmetrics-text";

template <class Number>
std::string number_text(Number value) {
  if constexpr (std::is_floating_point_v<Number>) {
    if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  }
  std::array<char, 40> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return std::string(digits.data(), end);
}

// What may not stand in a label's value, or in a help text, as it is.
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

std::string_view suffix_of(MetricType type) noexcept {
  if (type == MetricType::kCounter) return "_total";
  return type == MetricType::kInfo ? "_info" : "";
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Up to the separator, which goes too.
std::string_view take_until(std::string_view& text, char separator) noexcept {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return trimmed(part);
}

// Whether "q=0.5" and its like leave any weight.
bool has_weight(std::string_view parameters) noexcept {
  while (!parameters.empty()) {
    const std::string_view one = take_until(parameters, ';');
    if (one.starts_with("q=")) return one.find_first_of("123456789") != std::string_view::npos;
  }
  return true;
}

}  // namespace

std::string_view content_type_of(MetricsFormat format) noexcept {
  return format == MetricsFormat::kOpenMetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

MetricsFormat format_for(std::string_view accept) noexcept {
  while (!accept.empty()) {
    std::string_view one = take_until(accept, ',');
    const std::string_view type = take_until(one, ';');
    if (type == kOpenMetricsType && has_weight(one)) return MetricsFormat::kOpenMetrics;
  }
  return MetricsFormat::kPrometheus;
}

void MetricsText::family(MetricType type, std::string_view name, std::string_view help) noexcept {
  type_ = type;
  name_ = name;
  help_ = help;
  head_written_ = false;
}

// OpenMetrics names the family, Prometheus its samples.
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

void MetricsText::bucket(MetricLabels labels, double at_most_seconds, std::uint64_t count) {
  line("_bucket", labels, {"le", number_text(at_most_seconds)}, number_text(count));
}

void MetricsText::sum_and_count(MetricLabels labels, double sum, std::uint64_t count) {
  line("_bucket", labels, {"le", "+Inf"}, number_text(count));
  line("_sum", labels, {}, number_text(sum));
  line("_count", labels, {}, number_text(count));
}

std::string MetricsText::finish() {
  if (format_ == MetricsFormat::kOpenMetrics) text_ += "# EOF\n";
  return std::move(text_);
}

}  // namespace windhover
