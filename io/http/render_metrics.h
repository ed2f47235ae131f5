#ifndef WINDHOVER_IO_HTTP_RENDER_METRICS_H_
#define WINDHOVER_IO_HTTP_RENDER_METRICS_H_

#include <string>

#include "windhover/io/http/metrics_writer.h"
#include "windhover/io/http/server_metrics.h"

namespace windhover {

// The body of /metrics. Numbers that are not known (NaN) are left out, infinity is written; states
// and reasons are gauges of 0 or 1, one for each value.
std::string render_metrics(const ServerMetrics& metrics, MetricsFormat format);

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_RENDER_METRICS_H_
