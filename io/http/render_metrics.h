#ifndef WINDHOVER_IO_HTTP_RENDER_METRICS_H_
#define WINDHOVER_IO_HTTP_RENDER_METRICS_H_

#include <string>

#include "windhover/io/http/metrics_writer.h"
#include "windhover/io/http/server_metrics.h"

namespace windhover {

// The answer of /metrics. What is not known (NaN) is left out, infinity is written; a state or a
// reason is one gauge for each that there is, 0 or 1.
std::string render_metrics(const ServerMetrics& metrics, MetricsFormat format);

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_RENDER_METRICS_H_
