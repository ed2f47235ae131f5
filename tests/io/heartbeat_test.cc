// Whether the threads of a server and its learner can be seen to turn.
#include <gtest/gtest.h>

#include "windhover/runtime/learner_thread.h"
#include "windhover/tests/io/server_fixture.h"

namespace windhover::heartbeat_test {

using testing::eventually;
using testing::TestServer;

ServerConfig quickly_swept() {
  ServerConfig config = testing::small_server();
  config.write_timeout = std::chrono::milliseconds(40);  // a sweep each 10 ms
  return config;
}

TEST(Heartbeat, OfEachEndpointGoesOnUntilItStops) {
  TestServer server(quickly_swept());
  RealClock clock;
  for (const auto endpoint : {&Server::observe, &Server::query}) {
    const auto now = [&] { return (server.server().*endpoint)().beat_ns; };
    ASSERT_TRUE(eventually([&] { return now() > 0; }));
    for (int turn = 0; turn < 3; ++turn) {
      const std::int64_t before = now();
      EXPECT_LE(before, clock.now_ns());
      EXPECT_TRUE(eventually([&] { return now() > before; }));
    }
  }
  server.server().request_stop();
  server.server().join();
  const std::int64_t last = server.server().observe().beat_ns;
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(server.server().observe().beat_ns, last);
}

TEST(Heartbeat, OfTheLearnerGoesOnAlsoWithNothingToLearn) {
  const EngineConfig config = testing::small_engine();
  const MappedBlock block(Engine::footprint(config).value());
  RealClock clock;
  Engine& engine = *Engine::create(config, block.bytes(), clock).value();
  LearnerThread learner;
  EXPECT_EQ(learner.beat_ns(), 0);
  ASSERT_EQ(learner.start(engine, {}, IdleStrategy::kPark), Status::kOk);
  for (int turn = 0; turn < 3; ++turn) {
    const std::int64_t before = learner.beat_ns();
    EXPECT_LE(before, clock.now_ns());
    EXPECT_TRUE(eventually([&] { return learner.beat_ns() > before; }));
  }
  learner.stop();
  const std::int64_t last = learner.beat_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(learner.beat_ns(), last);
}

}  // namespace windhover::heartbeat_test
