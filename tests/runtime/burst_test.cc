// Rows that come much faster than chains move, as a file does that is sent at once: what the engine
// has when nothing more comes is right, and it says so.
#include <gtest/gtest.h>

#include <algorithm>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover {
namespace {

using test::Data;
using test::Index;
using test::TestEngine;

struct Burst {
  Index before;  // rows that the chains begin with
  int rounds;    // that are done with them
  Index at_once;
  int rounds_between;
};

EngineConfig config_of(const char* model, std::uint64_t window) {
  EngineConfig config;
  config.model.name = model;
  config.model.features = 9;
  config.model.prior_precision = 1;
  config.model.intercept_precision = 0.1;
  config.sampler.chains = 8;
  config.window_size = window;
  return config;
}

Provenance after(const Burst& burst, const EngineConfig& config, const Data& data) {
  TestEngine engine(config);
  engine.feed(data, 0, burst.before);
  engine.poll_rounds(static_cast<std::uint64_t>(burst.rounds));
  for (Index at = burst.before; at < data.rows(); at += burst.at_once) {
    engine.feed(data, at, std::min(data.rows(), at + burst.at_once));
    engine.poll_rounds(static_cast<std::uint64_t>(burst.rounds_between));
  }
  engine.poll_until_idle();
  return engine.provenance();
}

// One Newton step from the mode of 200 rows does not reach that of 8,500. Each further one takes a
// pass, which must not wait for new rows or for the chains to rest.
TEST(Burst, ModeIsReachedBeforeDrawsAreComparedWithIt) {
  const Data data = test::logistic_data(8500, 9, 0.0, 2);
  for (const int rounds_between : {1, 2, 20}) {
    for (const Index at_once : {1000, 5000, 10000}) {
      const Provenance p =
          after({200, 40, at_once, rounds_between}, config_of("logistic", 10'000), data);
      EXPECT_EQ(p.reason, StatusReason::kNone) << at_once << " rows, " << rounds_between;
    }
  }
}

// Chains that have drawn all that rows grant do not rest before their draws have been compared:
// while many rows join the sums, the law is that of another size of minibatch, and nothing is.
TEST(Burst, DrawsAreComparedBeforeChainsRest) {
  const Data data = test::linear_data(110'000, 9, 1.0, 2);
  for (const int rounds_between : {1, 20}) {
    const Provenance p = after({400, 40, 5000, rounds_between}, config_of("linear", 100'000), data);
    EXPECT_EQ(p.reason, StatusReason::kNone) << rounds_between;
  }
}

}  // namespace
}  // namespace windhover
