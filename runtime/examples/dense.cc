// Measurements stream in; what is y at x = 2.5, and how sure are we?
#include <cstdio>
#include <random>

#include "windhover/platform/clock.h"
#include "windhover/platform/memory.h"
#include "windhover/runtime/chosen_horizon.h"
#include "windhover/runtime/engine.h"

int main() {
  windhover::EngineConfig config;
  config.model.features = 1;
  config.window_size = 1000;  // of the last thousand rows, or of fewer that predict better
  config.horizon = windhover::chosen_horizon(config);

  windhover::RealClock clock;
  windhover::MappedBlock block(windhover::Engine::footprint(config).value());
  windhover::Engine& engine = *windhover::Engine::create(config, block.bytes(), clock).value();

  std::mt19937 random(1);
  std::uniform_real_distribution<double> where(0, 5);
  std::normal_distribution<double> noise(0, 0.1);
  for (int i = 0; i < 500; ++i) {
    const double x = where(random);
    const double y = 2 + 3 * x + noise(random);
    if (!windhover::ok(engine.observe({&x, 1}, y))) return 1;
  }
  while (engine.poll(1000) > 0) {  // a service has a LearnerThread for this
  }

  windhover::Reader reader = engine.reader().value();
  const double x = 2.5;
  windhover::PredictRequest request;
  request.rows = 1;
  request.features = {&x, 1};
  windhover::PredictiveSummary y;
  windhover::Provenance provenance;
  if (!windhover::ok(reader.predict(request, {&y, 1}, provenance))) return 1;
  std::printf("y at 2.5: %.2f, 90 %% of y within %.2f .. %.2f (%s)\n", y.mean, y.interval_lower,
              y.interval_upper, windhover::to_string(provenance.status));
}
