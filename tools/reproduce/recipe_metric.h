// What the parts of `complete-recipe` with a metric share.
#ifndef WINDHOVER_TOOLS_REPRODUCE_RECIPE_METRIC_H_
#define WINDHOVER_TOOLS_REPRODUCE_RECIPE_METRIC_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "windhover/samplers/langevin/metric.h"
#include "windhover/tools/reproduce/library.h"
#include "windhover/tools/reproduce/report.h"

namespace windhover::reproduce {

struct MetricMethod {
  std::string label;
  SamplerConfig config;
  int colour = 0;
  bool drawn = false;
  bool barred = false;
};

SamplerConfig with_metric(const Metric& metric, double step);

// Every `thin`-th of that many moves of one chain, which is told the curvature I and no noise.
Series path(const MetricMethod& method, void (*gradient)(const double*, double*),
            const Eigen::Vector2d& start, std::size_t moves, std::size_t thin, std::uint64_t seed);

// A run that left the finite numbers has no means, and so have the figures over all runs.
void add_lost(Report& report, const std::string& group, const std::string& label,
              const std::vector<nlohmann::ordered_json>& runs);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_RECIPE_METRIC_H_
