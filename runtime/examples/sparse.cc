// Which of a hundred advertisements is clicked? A row has one 1 among a hundred columns.
#include <cstdint>
#include <cstdio>

#include "windhover/platform/clock.h"
#include "windhover/platform/memory.h"
#include "windhover/runtime/engine.h"

int main() {
  windhover::EngineConfig config;
  config.model.name = "logistic";
  config.model.features = 100;
  config.model.max_nonzeros = 1;
  config.window_size = 20'000;

  windhover::RealClock clock;
  windhover::MappedBlock block(windhover::Engine::footprint(config).value());
  windhover::Engine& engine = *windhover::Engine::create(config, block.bytes(), clock).value();

  for (std::uint32_t i = 0; i < 20'000; ++i) {
    const std::uint32_t ad = i * 2654435761U % 100;  // in no order
    const double shown = 1;
    const double clicked = i * 40503U % 1000 < 10 * ad ? 1 : 0;  // ad k: k in a hundred
    const std::uint32_t row_end = 1;
    windhover::ObservationBatch batch;
    batch.rows = 1;
    batch.features = reinterpret_cast<const std::byte*>(&shown);
    batch.feature_values = 1;
    batch.indices = reinterpret_cast<const std::byte*>(&ad);
    batch.row_ends = reinterpret_cast<const std::byte*>(&row_end);
    batch.targets = reinterpret_cast<const std::byte*>(&clicked);
    if (engine.observe(batch, {}).accepted != 1) return 1;
    if (i % 100 == 99) engine.poll(20);
  }
  while (engine.poll(1000) > 0) {
  }

  windhover::Reader reader = engine.reader().value();
  const std::uint32_t ads[] = {5, 50, 90};
  const double shown[] = {1, 1, 1};
  const std::uint32_t row_ends[] = {1, 2, 3};
  windhover::PredictRequest request;
  request.rows = 3;
  request.features = shown;
  request.indices = ads;
  request.row_ends = row_ends;
  windhover::PredictiveSummary answers[3];
  windhover::Provenance provenance;
  if (!windhover::ok(reader.predict(request, answers, provenance))) return 1;
  for (int k = 0; k < 3; ++k) {
    std::printf("advertisement %u: clicked with probability %.2f, 90 %% within %.2f .. %.2f\n",
                ads[k], answers[k].mean, answers[k].interval_lower, answers[k].interval_upper);
  }
}
