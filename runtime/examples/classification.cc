// Three kinds of things by two measurements: which is this one, and how sure are we?
#include <cstdio>
#include <random>

#include "windhover/platform/clock.h"
#include "windhover/platform/memory.h"
#include "windhover/runtime/engine.h"

int main() {
  windhover::EngineConfig config;
  config.model.name = "softmax";
  config.model.classes = 3;
  config.model.features = 2;
  config.window_size = 3000;

  windhover::RealClock clock;
  windhover::MappedBlock block(windhover::Engine::footprint(config).value());
  windhover::Engine& engine = *windhover::Engine::create(config, block.bytes(), clock).value();

  const double centre[3][2] = {{0, 0}, {2, 0}, {0, 2}};
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 1);
  for (int i = 0; i < 3000; ++i) {
    const int kind = i % 3;
    const double x[] = {centre[kind][0] + noise(random), centre[kind][1] + noise(random)};
    if (!windhover::ok(engine.observe(x, kind))) return 1;
  }
  while (engine.poll(1000) > 0) {
  }

  windhover::Reader reader = engine.reader().value();
  const double x[] = {1.8, 0.1};
  windhover::PredictRequest request;
  request.rows = 1;
  request.features = x;
  windhover::PredictiveSummary answer;
  windhover::Provenance provenance;
  if (!windhover::ok(reader.predict(request, {&answer, 1}, provenance))) return 1;
  for (int kind = 0; kind < 3; ++kind) {
    std::printf("kind %d: %.3f, 90 %% within %.3f .. %.3f\n", kind, answer.probs[kind],
                answer.probs_eti_lower[kind], answer.probs_eti_upper[kind]);
  }
}
