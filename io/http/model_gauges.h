// The numbers that /metrics shows for each model, beside its counters.
#ifndef WINDHOVER_IO_HTTP_MODEL_GAUGES_H_
#define WINDHOVER_IO_HTTP_MODEL_GAUGES_H_

#include <span>

#include "windhover/io/http/metrics_writer.h"
#include "windhover/io/http/server_metrics.h"

namespace windhover {

// A number of each model; NaN where it has none.
struct ModelGauge {
  const char* name;
  const char* help;
  double (*value)(const ModelMetrics& model);
  MetricType type = MetricType::kGauge;
};

// A number of each model and each memory of its scores; likewise.
struct ScoreGauge {
  const char* name;
  const char* help;
  double (*value)(const ScoreMeans& means);
};

std::span<const ModelGauge> model_gauges() noexcept;
std::span<const ScoreGauge> score_gauges() noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_MODEL_GAUGES_H_
