// Chooses the format of an answer of /metrics.
#include "windhover/io/http/metrics_writer.h"

namespace windhover {
namespace {

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Takes the text up to the separator, and drops the separator.
std::string_view take_until(std::string_view& text, char separator) noexcept {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return trimmed(part);
}

// Whether a weight such as "q=0.5" is not 0.
bool has_weight(std::string_view parameters) noexcept {
  while (!parameters.empty()) {
    const std::string_view one = take_until(parameters, ';');
    if (one.starts_with("q=")) return one.find_first_of("123456789") != std::string_view::npos;
  }
  return true;
}

// Whether the parameters name the Protobuf that is written here: MetricFamily messages, each with
// its length in front.
bool is_what_we_say(std::string_view parameters) noexcept {
  bool messages = false;
  bool delimited = false;
  while (!parameters.empty()) {
    const std::string_view one = take_until(parameters, ';');
    messages = messages || one == "proto=io.prometheus.client.MetricFamily";
    delimited = delimited || one == "encoding=delimited";
  }
  return messages && delimited;
}

}  // namespace

std::string_view suffix_of(MetricType type) noexcept {
  if (type == MetricType::kCounter) return "_total";
  return type == MetricType::kInfo ? "_info" : "";
}

std::string_view content_type_of(MetricsFormat format) noexcept {
  switch (format) {
    case MetricsFormat::kProtobuf:
      return "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
             "encoding=delimited";
    case MetricsFormat::kOpenMetrics:
      return "application/openmetrics-text; version=1.0.0; charset=utf-8";
    case MetricsFormat::kPrometheus:
      break;
  }
  return "text/plain; version=0.0.4; charset=utf-8";
}

MetricsFormat format_for(std::string_view accept) noexcept {
  MetricsFormat format = MetricsFormat::kPrometheus;
  while (!accept.empty()) {
    std::string_view one = take_until(accept, ',');
    const std::string_view type = take_until(one, ';');
    if (!has_weight(one)) continue;
    if (type == "application/vnd.google.protobuf" && is_what_we_say(one)) {
      return MetricsFormat::kProtobuf;
    }
    if (type == "application/openmetrics-text") format = MetricsFormat::kOpenMetrics;
  }
  return format;
}

}  // namespace windhover
