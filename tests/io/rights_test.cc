// Who may do what at a server, by token and by user, over real sockets.
#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

#include "windhover/io/framing.h"
#include "windhover/tests/io/access/identities.h"
#include "windhover/tests/io/http/http_fixture.h"
#include "windhover/tests/io/http/http_peer.h"
#include "windhover/tests/io/raw_peer.h"
#include "windhover/tests/io/served_models.h"
#include "windhover/tests/io/server_fixture.h"

namespace windhover {
namespace rights_test {

using testing::http_engine;
using testing::RawPeer;
using testing::small_engine;
using testing::small_server;
using testing::TestRows;
using testing::TestServer;
using testing::token_line;
using testing::write_identities;

ServerConfig server_with(const std::string& file) {
  ServerConfig config = small_server();
  config.identities_file = file;
  config.max_identities = 8;
  return config;
}

ClientOptions as(const std::string& name) {
  ClientOptions options;
  options.token = name + "-token";
  return options;
}

Status predict(Client& client) {
  const std::vector<double> x = {0.1, 0.2, 0.3};
  PredictRequest request;
  request.rows = 1;
  request.features = x;
  std::vector<PredictiveSummary> answers;
  Provenance provenance;
  return client.predict(request, answers, provenance);
}

// A request that is answered, or the reason why not.
v1::Reason ask(RawPeer& peer, const v1::Request& request) {
  v1::Response response;
  EXPECT_TRUE(peer.send(request) && peer.receive(response));
  return response.refusal().reason();
}

v1::Reason hello(RawPeer& peer, const std::string& token, const std::string& model = "") {
  v1::Request request;
  request.mutable_hello()->set_version_min(1);
  request.mutable_hello()->set_version_max(1);
  request.mutable_hello()->set_token(token);
  request.mutable_hello()->set_model(model);
  return ask(peer, request);
}

v1::Request checkpoint() {
  v1::Request request;
  request.mutable_take_checkpoint();
  return request;
}

TEST(Rights, EachRoleMayDoWhatItIsForAndNothingElse) {
  const std::string file = write_identities("each_role", token_line("feeder", "observe") +
                                                             token_line("reader", "query") +
                                                             token_line("keeper", "admin"));
  TestServer server(server_with(file));
  const TestRows rows(10);
  std::vector<ParameterSummary> parameters;
  std::vector<double> draws;
  Provenance provenance;
  v1::StatusResult status;
  v1::ProducerStatusResult producer;

  Client feeder;
  ASSERT_EQ(feeder.connect(server.observe_address(), as("feeder")), Status::kOk);
  EXPECT_EQ(feeder.observe(rows.rows()), Status::kOk);
  EXPECT_EQ(feeder.producer_status(7, producer), Status::kOk);
  EXPECT_EQ(feeder.status(status), Status::kOk);
  EXPECT_EQ(predict(feeder), Status::kNotPermitted);
  EXPECT_EQ(feeder.refusal(), v1::REASON_NOT_PERMITTED);
  EXPECT_NE(feeder.error_text().find("role query"), std::string::npos) << feeder.error_text();
  EXPECT_EQ(feeder.posterior(parameters, provenance), Status::kNotPermitted);
  EXPECT_EQ(feeder.draws(draws, provenance), Status::kNotPermitted);
  EXPECT_TRUE(feeder.connected());

  Client reader;
  ASSERT_EQ(reader.connect(server.observe_address(), as("reader")), Status::kOk);
  EXPECT_EQ(predict(reader), Status::kOk);
  EXPECT_EQ(reader.posterior(parameters, provenance), Status::kOk);
  EXPECT_EQ(reader.draws(draws, provenance), Status::kOk);
  EXPECT_EQ(reader.status(status), Status::kOk);
  EXPECT_EQ(reader.observe(rows.rows()), Status::kNotPermitted);
  EXPECT_EQ(reader.totals().refused, 10U);
  EXPECT_EQ(reader.producer_status(7, producer), Status::kNotPermitted);

  for (const std::string& address : {server.observe_address(), server.query_address()}) {
    RawPeer keeper(address);
    EXPECT_EQ(hello(keeper, "keeper-token"), v1::REASON_OK);
    EXPECT_EQ(ask(keeper, checkpoint()), v1::REASON_UNSUPPORTED);  // there is no folder
    RawPeer other(address);
    EXPECT_EQ(hello(other, "reader-token"), v1::REASON_OK);
    EXPECT_EQ(ask(other, checkpoint()), v1::REASON_NOT_PERMITTED);
  }
  EXPECT_EQ(server.counter(IoCounter::kNotPermitted), 7U);
}

TEST(Rights, WhoIsNotKnownIsRefusedAtHello) {
  const std::string file = write_identities("unknown", token_line("ada", "query"));
  TestServer server(server_with(file));
  for (const std::string& token :
       {std::string(), std::string("ada"), std::string("ada-tokem"), std::string(300, 'a')}) {
    RawPeer peer(server.query_address());
    v1::Request request;
    request.mutable_hello()->set_version_max(1);
    request.mutable_hello()->set_token(token);
    EXPECT_TRUE(peer.send(request));
    EXPECT_TRUE(peer.refused_and_closed(v1::REASON_NOT_PERMITTED)) << token;
  }
  Client client;
  EXPECT_EQ(client.connect(server.query_address()), Status::kNotPermitted);
  EXPECT_NE(client.error_text().find("knows no identity"), std::string::npos);
  EXPECT_EQ(server.counter(IoCounter::kNotPermitted), 5U);
  EXPECT_EQ(server.counter(IoCounter::kHelloRefused), 0U);
}

// The tests run as the server does: its user needs no token, and a token that nobody has is none.
TEST(Rights, UserOfAUnixDomainSocketIsKnown) {
  const std::string path = testing::temporary_path("rights.sock");
  const std::string file = write_identities("users", token_line("ada", "query"));
  ServerConfig config = server_with(file);
  config.query.unix_path = path;
  TestServer server(config);
  Client client;
  ASSERT_EQ(client.connect("unix:" + path), Status::kOk) << client.error_text();
  EXPECT_EQ(predict(client), Status::kOk);
  RawPeer keeper("unix:" + path);
  EXPECT_EQ(hello(keeper, ""), v1::REASON_OK);
  EXPECT_EQ(ask(keeper, checkpoint()), v1::REASON_UNSUPPORTED);
  EXPECT_EQ(client.connect("unix:" + path, as("nobody")), Status::kNotPermitted);
  struct stat facts {};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0666U);
  const std::string less = "uid:" + std::to_string(::geteuid()) + " observe *\n";
  write_identities("users", less);
  ASSERT_TRUE(server.server().reload().ok());
  EXPECT_EQ(ask(keeper, checkpoint()), v1::REASON_NOT_PERMITTED);
}

TEST(Rights, IdentityThatIsGoneLosesThemAtTheNextRequest) {
  const std::string file =
      write_identities("gone", token_line("ada", "query,observe") + token_line("bob", "query"));
  TestServer server(server_with(file));
  Client ada;
  Client bob;
  ASSERT_EQ(ada.connect(server.observe_address(), as("ada")), Status::kOk);
  ASSERT_EQ(bob.connect(server.query_address(), as("bob")), Status::kOk);
  EXPECT_EQ(predict(ada), Status::kOk);
  write_identities("gone", "nonsense\n");
  const auto refused = server.server().reload();
  EXPECT_EQ(std::string(refused.error().sentence).find(file + ":1: "), 0U);
  EXPECT_EQ(predict(ada), Status::kOk);
  EXPECT_EQ(predict(bob), Status::kOk);
  write_identities("gone", token_line("ada", "observe") + token_line("eve", "query"));
  ASSERT_EQ(server.server().reload().value(), 2U);
  EXPECT_EQ(predict(ada), Status::kNotPermitted);
  EXPECT_TRUE(ada.connected());
  EXPECT_EQ(ada.observe(TestRows(3).rows()), Status::kOk);
  EXPECT_EQ(predict(bob), Status::kNotPermitted);
  EXPECT_FALSE(bob.connected());  // it has no role any more
  EXPECT_EQ(bob.connect(server.query_address(), as("eve")), Status::kOk);
}

TEST(Rights, RowsOfWhoMayNotSendAreCountedAsRefused) {
  const std::string file = write_identities("rows", token_line("ada", "observe"));
  TestServer server(server_with(file));
  Client client;
  ASSERT_EQ(client.connect(server.observe_address(), as("ada")), Status::kOk);
  ASSERT_EQ(client.observe(TestRows(20).rows()), Status::kOk);
  write_identities("rows", token_line("ada", "query"));
  ASSERT_TRUE(server.server().reload().ok());
  EXPECT_EQ(client.observe(TestRows(5).rows()), Status::kNotPermitted);
  EXPECT_EQ(client.totals().accepted, 20U);
  EXPECT_EQ(client.totals().refused, 5U);
  EXPECT_EQ(server.counter(IoCounter::kRowsRefused), 5U);
}

TEST(Rights, FileThatIsWrongAtTheStartIsNamed) {
  const std::string file = write_identities("wrong", "\nada query *\n");
  RealClock clock;
  MappedBlock engine_block(Engine::footprint(small_engine()).value());
  Engine* engine = Engine::create(small_engine(), engine_block.bytes(), clock).value();
  MappedBlock block(Server::footprint(server_with(file), small_engine()).value());
  auto server = Server::create(server_with(file), *engine, block.bytes(), clock);
  const Result<bool> opened = server.value()->open();
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(std::string(opened.error().sentence).find(file + ":2: "), 0U);
}

// --- HTTP

ServerConfig http_with(const std::string& file) {
  ServerConfig config = server_with(file);
  config.http.listen.tcp_address = "127.0.0.1";
  return config;
}

std::string bearer(const std::string& name) {
  return "Authorization: Bearer " + name + "-token\r\n";
}

// Signs of life are for everybody; how many models recover, and how far they are, is for those who
// have a role on them.
TEST(Rights, SignsOfLifeTellAStrangerYesOrNoAlone) {
  const std::string file = write_identities(
      "signs", token_line("reader", "query", "price") + token_line("root", "admin"));
  testing::ServedModels models({{"price", small_engine()}, {"clicks", small_engine()}},
                               http_with(file));
  testing::HttpPeer peer("127.0.0.1:" + std::to_string(models.server().http().port));
  for (const std::string path : {"/healthz", "/readyz"}) {
    for (const std::string model : {"price", "none"}) {
      EXPECT_EQ(peer.get(path + "?model=" + model).status, 200) << path << " " << model;
    }
  }
  models.engine(0).progress().set_recovery_target(10);
  models.engine(1).progress().set_recovery_target(20);
  const auto told = [&](const std::string& who) {
    const testing::HttpResponse response = peer.get("/readyz", who);
    EXPECT_EQ(response.status, 503) << who;
    return response.body;
  };
  const std::string alone = "{\"error\":\"recovering\"}\n";
  EXPECT_EQ(told(""), alone);
  EXPECT_EQ(told(bearer("nobody")), alone);
  EXPECT_EQ(told(bearer("reader")),
            "{\"error\":\"recovering: price has 0 of 10 rows in its answer\"}\n");
  EXPECT_EQ(
      told(bearer("root")),
      "{\"error\":\"recovering: price has 0 of 10 rows in its answer; clicks has 0 of 20 rows "
      "in its answer\"}\n");
  models.engine(0).progress().set_recovery_target(0);
  EXPECT_EQ(told(bearer("reader")), alone);
}

// What holds up senders is for those who have a role on their model.
TEST(Rights, AStrangerIsNotToldWhatHoldsUpSenders) {
  const std::string file = write_identities("held_up", token_line("reader", "query"));
  testing::HttpWorld world;
  MappedBlock block(1 << 20);
  Arena arena(block.bytes());
  Access access(arena, 8, 1);
  access.set_model(0, "default");
  Access::Sentence sentence;
  ASSERT_TRUE(access.load(file, sentence).ok()) << sentence.data();
  world.state.access = &access;
  world.model.log.full = true;
  EXPECT_EQ(world.get("/readyz").body, "{\"status\":\"ready\"}\n");
  const auto told = world.ask("GET /readyz HTTP/1.1\r\n" + bearer("reader") + "\r\n");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].body.find("senders to default wait"), std::string::npos) << told[0].body;
}

TEST(Rights, HttpAsksForTheSameTokens) {
  const std::string file =
      write_identities("http", token_line("feeder", "observe") + token_line("reader", "query") +
                                   token_line("keeper", "admin"));
  TestServer server(http_with(file), http_engine());
  testing::HttpPeer peer("127.0.0.1:" + std::to_string(server.server().http().port));
  const std::string json = "Content-Type: application/json\r\n";
  const std::string rows = R"({"rows":1,"features_f64":[1,2,3],"targets_f64":[1]})";
  const std::string question = R"({"rows":1,"features_f64":[1,2,3]})";
  // The page is the same for everybody; what it asks is not.
  for (const char* path : {"/healthz", "/readyz", "/", "/page/main.js", "/v1/openapi.json"}) {
    EXPECT_EQ(peer.get(path).status, 200) << path;
  }
  for (const std::string& who :
       {std::string(), bearer("nobody"), std::string("Authorization: Basic YTpi\r\n")}) {
    for (const char* path :
         {"/metrics", "/v1/models", "/v1/hello", "/v1/status", "/v1/posterior", "/v1/schema"}) {
      const testing::HttpResponse refused = peer.get(path, who);
      EXPECT_EQ(refused.status, 401) << path;
      EXPECT_EQ(refused.field("WWW-Authenticate"), "Bearer");
    }
    EXPECT_EQ(peer.ask("POST", "/v1/observe", json + who, rows).status, 401);
    EXPECT_EQ(peer.get("/v1/hello?model=none", who).status, 401);
  }
  EXPECT_EQ(peer.get("/metrics", bearer("reader")).status, 200);
  EXPECT_EQ(peer.get("/metrics", bearer("feeder")).status, 403);
  for (const char* name : {"reader", "feeder", "keeper"}) {
    EXPECT_EQ(peer.get("/v1/status", bearer(name)).status, 200);
    EXPECT_EQ(peer.get("/v1/hello", bearer(name)).status, 200);
    const bool reads = std::string(name) == "reader";
    const bool feeds = std::string(name) == "feeder";
    EXPECT_EQ(peer.get("/v1/posterior", bearer(name)).status, reads ? 200 : 403);
    EXPECT_EQ(peer.get("/v1/schema", bearer(name)).status, reads ? 404 : 403);
    EXPECT_EQ(peer.ask("POST", "/v1/predict", json + bearer(name), question).status,
              reads ? 200 : 403);
    EXPECT_EQ(peer.ask("POST", "/v1/observe", json + bearer(name), rows).status, feeds ? 200 : 403);
    EXPECT_EQ(peer.get("/v1/producers/7", bearer(name)).status, feeds ? 200 : 403);
    // Without a folder the admin is told that.
    EXPECT_EQ(peer.ask("POST", "/v1/checkpoint", json + bearer(name), "{}").status,
              reads || feeds ? 403 : 501);
  }
  EXPECT_EQ(peer.get("/v1/hello?model=none", bearer("reader")).status, 404);
  write_identities("http", token_line("feeder", "observe"));
  ASSERT_TRUE(server.server().reload().ok());
  EXPECT_EQ(peer.get("/v1/posterior", bearer("reader")).status, 401);
}

// A model on which an identity has no role is not even listed for it.
TEST(Rights, ListsOfModelsHoldWhatOneMaySee) {
  const std::string file =
      write_identities("listing", token_line("ada", "query", "clicks,delay") +
                                      token_line("bob", "observe") + token_line("root", "admin"));
  const EngineConfig engine = testing::small_engine_of(2);
  testing::ServedModels models({{"price", engine}, {"clicks", engine}, {"delay", engine}},
                               server_with(file));
  const auto seen_by = [&](const std::string& name, const std::string& model) {
    ClientOptions options = as(name);
    options.model = model;
    Client client;
    EXPECT_EQ(client.connect(models.query_address(), options), Status::kOk) << client.error_text();
    std::vector<v1::ModelState> states;
    EXPECT_EQ(client.models(states), Status::kOk) << client.error_text();
    std::string names;
    for (const v1::ModelState& state : states) names += state.name() + " ";
    return names;
  };
  EXPECT_EQ(seen_by("ada", "delay"), "clicks delay ");
  EXPECT_EQ(seen_by("bob", "price"), "price clicks delay ");
  Client ada;
  ClientOptions options = as("ada");
  options.model = "clicks";
  ASSERT_EQ(ada.connect(models.query_address(), options), Status::kOk);
  v1::ChangeModel pause;
  pause.set_pause(v1::PAUSE_CHANGE_PAUSE);
  v1::ModelState state;
  EXPECT_EQ(ada.change_model(pause, state), Status::kNotPermitted);
  EXPECT_FALSE(models.engine(1).progress().paused());
  Client root;
  options = as("root");
  options.model = "clicks";
  ASSERT_EQ(root.connect(models.query_address(), options), Status::kOk);
  EXPECT_EQ(root.change_model(pause, state), Status::kOk) << root.error_text();
  EXPECT_TRUE(models.engine(1).progress().paused());
}

// One that may ask less than all may, and another one that may ask as much as it likes; taken up
// anew while they are there.
TEST(Rights, LimitsAreThoseOfTheIdentityAndChangeWithTheFile) {
  const auto line = [](const std::string& name, const std::string& limits) {
    std::string text = token_line(name, "query");
    return text.insert(text.size() - 1, " " + limits);
  };
  const std::string file =
      write_identities("limits", line("ada", "questions=0") + line("eve", "questions=1"));
  ServerConfig config = server_with(file);
  config.limits.questions = 5;
  TestServer server(config);
  v1::Request status;
  status.mutable_status();
  std::string many;
  for (int i = 0; i < 100; ++i) many += RawPeer::framed(status);
  v1::Response response;
  RawPeer ada(server.query_address());
  ASSERT_EQ(hello(ada, "ada-token"), v1::REASON_OK);
  ASSERT_TRUE(ada.send(many));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(ada.receive(response)) << i;
  EXPECT_EQ(server.counter(IoCounter::kLimitWaits), 0U);
  RawPeer eve(server.query_address());
  ASSERT_EQ(hello(eve, "eve-token"), v1::REASON_OK);
  ASSERT_TRUE(eve.send(many));
  ASSERT_TRUE(testing::eventually([&] { return server.counter(IoCounter::kLimitWaits) == 1; }));
  // Under these limits the last answer is a minute and a half away.
  write_identities("limits", line("ada", "questions=1") + line("eve", "questions=0"));
  ASSERT_TRUE(server.server().reload().ok());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(eve.receive(response)) << i;
  ASSERT_TRUE(ada.send(many));
  EXPECT_TRUE(testing::eventually([&] { return server.counter(IoCounter::kLimitWaits) == 2; }));
}

}  // namespace rights_test
}  // namespace windhover
