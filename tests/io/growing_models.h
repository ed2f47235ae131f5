// A server whose models come and go while a test looks.
#ifndef WINDHOVER_TESTS_IO_GROWING_MODELS_H_
#define WINDHOVER_TESTS_IO_GROWING_MODELS_H_

#include <span>
#include <string>
#include <vector>

#include "windhover/tests/io/served_models.h"

namespace windhover::testing {

inline ServerConfig growing_server() {
  ServerConfig config = small_server();
  config.added.memory_bytes = 64 << 20;
  config.added.max_models = 2;
  config.http.listen.tcp_address = "127.0.0.1";
  return config;
}

inline EngineConfig kept(EngineConfig engine) {
  engine.checkpoints = true;
  engine.max_followers = 1;
  return engine;
}

// One model, "first", and places for two more.
struct Growing : ServedModels {
  explicit Growing(const ServerConfig& config = growing_server(), bool starts = true)
      : ServedModels({{"first", kept(small_engine_of(3))}}, config, starts) {}
  std::string http_address() { return "127.0.0.1:" + std::to_string(server().http().port); }
};

inline Status predict(Client& client, std::size_t columns, std::size_t rows = 1,
                      std::span<const double> quantiles = {}) {
  const std::vector<double> x(rows * columns, 0.25);
  PredictRequest request;
  request.rows = rows;
  request.features = x;
  request.quantile_probabilities = quantiles;
  std::vector<PredictiveSummary> answers;
  Provenance provenance;
  return client.predict(request, answers, provenance);
}

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_GROWING_MODELS_H_
