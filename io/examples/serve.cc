// A host that serves its engine: rows come in on one port, questions on another. Prints the two
// addresses and serves until its standard input ends.
#include <cstdio>
#include <memory>

#include "windhover/io/server.h"
#include "windhover/platform/clock.h"
#include "windhover/platform/memory.h"
#include "windhover/runtime/engine.h"
#include "windhover/runtime/learner_thread.h"

int main() {
  windhover::EngineConfig engine_config;
  engine_config.model.features = 1;
  engine_config.window_size = 1000;
  const windhover::ServerConfig server_config;  // loopback, any free ports

  windhover::RealClock clock;
  windhover::MappedBlock engine_block(windhover::Engine::footprint(engine_config).value());
  windhover::Engine& engine =
      *windhover::Engine::create(engine_config, engine_block.bytes(), clock).value();
  windhover::MappedBlock server_block(
      windhover::Server::footprint(server_config, engine_config).value());
  auto server =
      windhover::Server::create(server_config, engine, server_block.bytes(), clock).value();
  const auto opened = server->open();
  if (!opened.ok()) {
    std::fprintf(stderr, "%s\n", opened.error().sentence);
    return 1;
  }

  windhover::LearnerThread learner;
  if (!windhover::ok(learner.start(engine, {}, windhover::IdleStrategy::kPark))) return 1;
  if (!windhover::ok(server->start())) return 1;
  std::printf("127.0.0.1:%u 127.0.0.1:%u\n", server->observe().port, server->query().port);
  std::fflush(stdout);

  while (std::getchar() != EOF) {
  }
  server->request_stop();
  server->join();
}
