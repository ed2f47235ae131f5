// A host that serves its engine, and a client of it: rows over a socket, then a question. Exits
// with 0 when every row was accepted and the answer is what the rows say.
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/io/server.h"
#include "windhover/platform/clock.h"
#include "windhover/platform/memory.h"
#include "windhover/runtime/engine.h"

namespace {

bool send_and_ask(windhover::Client& observe, windhover::Client& query, windhover::Engine& engine) {
  constexpr std::size_t kRows = 500;
  std::vector<double> features(kRows);
  std::vector<double> targets(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    features[i] = 0.01 * static_cast<double>(i);
    targets[i] = 2.0 + 3.0 * features[i] + 0.1 * std::sin(12.9898 * static_cast<double>(i));
  }
  windhover::ObserveRows rows;
  rows.features = features;
  rows.targets = targets;
  if (!windhover::ok(observe.send_observe(rows))) return false;
  if (!windhover::ok(observe.wait_acknowledged())) return false;
  if (observe.totals().accepted != kRows) return false;
  while (engine.poll(1000) > 0) {
  }

  const double x = 2.5;
  windhover::PredictRequest request;
  request.rows = 1;
  request.features = {&x, 1};
  std::vector<windhover::PredictiveSummary> answers;
  windhover::Provenance provenance;
  if (!windhover::ok(query.predict(request, answers, provenance)) || answers.size() != 1)
    return false;
  std::printf("y at 2.5: %.3f, sd %.3f, of the mean %.4f (%s)\n", answers[0].mean, answers[0].sd,
              answers[0].epred_sd, windhover::to_string(provenance.status));
  return std::abs(answers[0].mean - 9.5) < 0.05;
}

}  // namespace

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
    return 2;
  }
  if (!windhover::ok(server->start())) return 2;

  windhover::Client observe;
  windhover::Client query;
  const std::string host = "127.0.0.1:";
  const bool connected =
      windhover::ok(observe.connect(host + std::to_string(server->observe_port()))) &&
      windhover::ok(query.connect(host + std::to_string(server->query_port())));
  const bool right = connected && send_and_ask(observe, query, engine);
  observe.close();
  query.close();
  server->request_stop();
  server->join();
  return right ? 0 : 1;
}
