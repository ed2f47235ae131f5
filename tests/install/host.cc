// The smallest host: one block of memory, rows in, an answer out. Exits with 0 when the answer is
// what the rows say.
#include <cmath>
#include <cstdio>
#include <vector>

#include "windhover/platform/clock.h"
#include "windhover/platform/memory.h"
#include "windhover/runtime/engine.h"

int main() {
  windhover::EngineConfig config;
  config.model.features = 1;
  config.window_size = 1000;

  const auto bytes = windhover::Engine::footprint(config);
  if (!bytes.ok()) {
    std::fprintf(stderr, "%s\n", bytes.error().sentence);
    return 2;
  }
  windhover::MappedBlock block(bytes.value());
  windhover::RealClock clock;
  windhover::Engine& engine = *windhover::Engine::create(config, block.bytes(), clock).value();

  for (int i = 0; i < 500; ++i) {
    const double x = 0.01 * i;
    const double y = 2.0 + 3.0 * x + 0.1 * std::sin(12.9898 * i);
    if (!windhover::ok(engine.observe({&x, 1}, y))) return 1;
  }
  while (engine.poll(1000) > 0) {
  }

  windhover::Reader reader = engine.reader().value();
  const double x = 2.5;
  windhover::PredictRequest request;
  request.rows = 1;
  request.features = {&x, 1};
  windhover::PredictiveSummary answer;
  windhover::Provenance provenance;
  if (!windhover::ok(reader.predict(request, {&answer, 1}, provenance))) return 1;
  std::printf("y at 2.5: %.3f, sd %.3f, of the mean %.4f (%s)\n", answer.mean, answer.sd,
              answer.epred_sd, windhover::to_string(provenance.status));
  return std::abs(answer.mean - 9.5) < 0.05 ? 0 : 1;
}
