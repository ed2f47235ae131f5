// What operators want of a server's models: who may say so, and how it comes to who does it.
#include "windhover/io/model_orders.h"

#include <sys/resource.h>

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/access/identities.h"
#include "windhover/tests/io/growing_models.h"
#include "windhover/tests/io/http/http_peer.h"

namespace windhover::testing::model_orders_test {
namespace {

// Orders go to the thread that carries them out, one at a time, and their outcome is asked after.
TEST(ModelOrders, OrdersAreForWhoIsAdminOfAllModels) {
  ServerConfig config = growing_server();
  const std::string file =
      write_identities("orders", token_line("ada", "admin", "first") + token_line("root", "admin"));
  config.identities_file = file;
  config.max_identities = 8;
  Growing models(config);
  ModelOrders& orders = *models.server().models().orders();
  Client ada;
  Client root;
  ClientOptions options = about("first");
  options.token = "ada-token";
  ASSERT_EQ(ada.connect(models.query_address(), options), Status::kOk);
  options.token = "root-token";
  ASSERT_EQ(root.connect(models.observe_address(), options), Status::kOk);
  v1::HostModel order;
  order.set_action(v1::HOST_ACTION_ADD);
  order.set_name("second");
  order.set_configuration("[model]");
  v1::HostModelResult result;
  EXPECT_EQ(ada.host_model(order, result), Status::kNotPermitted);
  EXPECT_EQ(root.host_model(order, result), Status::kUnsupported) << "nobody carries them out";
  orders.begin();
  ModelOrder seen;
  std::thread carries_out([&] {
    while (orders.wait(seen)) {
      ModelOutcome outcome;
      outcome.number = seen.number;
      outcome.needed_bytes = 7;
      if (seen.number > 1) outcome.say(Status::kArenaTooSmall, "too l\xc3\xa4rge");
      orders.finish(outcome);
    }
  });
  EXPECT_EQ(ada.host_model(order, result), Status::kNotPermitted);
  ASSERT_EQ(root.host_model(order, result), Status::kOk) << root.error_text();
  EXPECT_EQ(result.request(), 1U);
  EXPECT_EQ(result.reason(), v1::REASON_OK);
  EXPECT_EQ(result.needed_bytes(), 7U);
  EXPECT_STREQ(seen.name.data(), "second");
  EXPECT_EQ(seen.configuration(), "[model]");
  ASSERT_EQ(root.host_model(order, result), Status::kOk);
  EXPECT_EQ(result.reason(), v1::REASON_ARENA_TOO_SMALL);
  EXPECT_EQ(result.error(), "too l??rge");
  order.set_name("no/name");
  EXPECT_EQ(root.host_model(order, result), Status::kInvalidArgument);
  order.Clear();
  order.set_request(99);
  EXPECT_EQ(root.host_model(order, result), Status::kInvalidArgument) << "there is no such order";
  order.Clear();
  order.set_action(v1::HOST_ACTION_ADD);
  order.set_name("second");
  order.set_configuration(std::string(HostModelQuery::kMostConfiguration + 1, ' '));
  EXPECT_NE(root.host_model(order, result), Status::kOk);
  EXPECT_EQ(root.refusal(), v1::REASON_TOO_LARGE);
  HttpPeer http(models.http_address());
  const std::string fields = "Content-Type: application/json\r\nAuthorization: Bearer ";
  EXPECT_EQ(http.ask("POST", "/v1/host_model", fields + "ada-token\r\n", "{}").status, 403);
  const HttpResponse asked =
      http.ask("POST", "/v1/host_model", fields + "root-token\r\n", R"({"request": "1"})");
  EXPECT_EQ(asked.status, 200);
  EXPECT_NE(asked.body.find("\"finished\":true"), std::string::npos) << asked.body;
  orders.end();
  carries_out.join();
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(ModelOrders, AServerLeavesNoDescriptorBehind) {
  { const Growing once; }  // what the process keeps for ever
  const std::size_t before = open_descriptors();
  { const Growing models; }
  EXPECT_EQ(open_descriptors(), before);
}

// However few descriptors there are: a server that is made can wait for orders.
TEST(ModelOrders, WithoutADescriptorForOrdersThereIsNoServer) {
#ifdef WINDHOVER_SANITIZED
  GTEST_SKIP() << "the sanitizer itself needs a descriptor to look at an object that is thrown";
#endif
  RealClock clock;
  EngineConfig engine_config = kept(small_engine_of(3));
  const ServerConfig config = growing_server();
  engine_config.max_readers = 8 * readers_of(config);
  engine_config.max_watchers = 8 * watchers_of(config);
  const std::vector<PlannedModel> planned = {{"first", engine_config}};
  const MappedBlock engine_block(Engine::footprint(engine_config).value());
  const MappedBlock block(Server::footprint(config, planned).value());
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit before = limit;
  std::unique_ptr<Server> server;
  int refused = 0;
  for (limit.rlim_cur = open_descriptors(); server == nullptr && refused < 100; ++limit.rlim_cur) {
    Engine* const engine = Engine::create(engine_config, engine_block.bytes(), clock).value();
    const HostedModel first{"first", engine};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    auto made = Server::create(config, {&first, 1}, block.bytes(), clock);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    if (made.ok()) {
      server = std::move(made).value();
    } else {
      EXPECT_EQ(made.status(), Status::kIoError) << made.error().sentence;
      EXPECT_EQ(errno_of(made.error()), EMFILE);
      ++refused;
    }
  }
  EXPECT_GT(refused, 1);
  ASSERT_NE(server, nullptr);
  EXPECT_TRUE(server->models().orders()->valid());
}

}  // namespace
}  // namespace windhover::testing::model_orders_test
