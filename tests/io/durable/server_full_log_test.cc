// A log that is full, because no checkpoint lets old frames go.
#include <gtest/gtest.h>

#include <cerrno>
#include <random>
#include <vector>

#include "windhover/tests/io/durable/faulty_folder.h"
#include "windhover/tests/io/durable/stream_on_disk.h"
#include "windhover/tests/io/http/http_peer.h"

namespace windhover::testing::server_full_log_test {
namespace {

// Nothing has failed but checkpoints, and answers are as good as ever: it is said why senders wait.
TEST(ServerFullLog, IsSaidWithWhySendersWaitUntilACheckpointEmptiesIt) {
  std::mt19937_64 random(5);
  RecordingFolder disk;
  FaultyFolder faulty(disk);
  ServerConfig small = small_log_on_disk(&faulty);
  small.durable.log_options.bytes = 5 * small.durable.log_options.segment_bytes;
  std::uint64_t next = 0;
  {
    ServerLife life(small, exact_engine());
    ASSERT_TRUE(life.opens()) << life.error();
    faulty.only("checkpoint");
    faulty.fail(Call::kOpen, 0, EACCES, UINT32_MAX);
    StreamSender sender(1, life, 0);
    ASSERT_TRUE(sender.connected());
    const LogProgress& log = life.server().kept().log();
    while (!log.full) {
      ASSERT_TRUE(sender.send(20));
      next += 20;
      ASSERT_TRUE(eventually([&] {
        EXPECT_TRUE(sender.listen());
        return sender.outstanding() == 0 || log.full;
      }));
    }
    ASSERT_TRUE(sender.send(20));
    next += 20;
    ASSERT_TRUE(sender.listen_awhile());
    EXPECT_GE(sender.outstanding(), 1U);
    ASSERT_TRUE(eventually([&] { return life.server().kept().checkpoints().failures.load() > 0; }));
    const v1::Durable durable = durable_of(life);
    EXPECT_EQ(durable.log_status(), v1::REASON_LOG_FULL);
    EXPECT_EQ(durable.log_failures(), 0U);
    EXPECT_EQ(durable.checkpoint_status(), v1::REASON_NOT_PERMITTED);
    EXPECT_EQ(durable.checkpoint_errno(), EACCES);
    Client client;
    std::vector<v1::ModelState> models;
    ASSERT_EQ(client.connect(life.query()), Status::kOk);
    ASSERT_EQ(client.models(models), Status::kOk);
    EXPECT_EQ(models.at(0).log_status(), v1::REASON_LOG_FULL);

    faulty.heal();
    ASSERT_TRUE(life.checkpoint());
    ASSERT_EQ(sender.client().wait_acknowledged(), Status::kOk) << sender.client().error_text();
    EXPECT_EQ(sender.acknowledged(), next);
    ASSERT_TRUE(eventually([&] { return durable_of(life).log_status() == v1::REASON_OK; }));
    ASSERT_EQ(client.models(models), Status::kOk);
    EXPECT_EQ(models.at(0).log_status(), v1::REASON_OK);
  }
  disk.cut_power(random);
  ServerLife life(small, exact_engine());
  ASSERT_TRUE(life.opens()) << life.error();
  ASSERT_TRUE(eventually([&] { return standing(life, 1).next() == next; }));
}

TEST(ServerFullLog, IsSaidToWhoSendsOverHttp) {
  RecordingFolder disk;
  FaultyFolder faulty(disk);
  ServerConfig small = small_log_on_disk(&faulty);
  small.durable.log_options.bytes = 5 * small.durable.log_options.segment_bytes;
  small.http.listen.tcp_address = "127.0.0.1";
  small.http.request_timeout = std::chrono::milliseconds(500);
  EngineConfig engine = exact_engine();
  engine.max_readers = kServerReaders + kHttpReaders;
  engine.max_watchers = kServerWatchers + kHttpWatchers;
  ServerLife life(small, engine);
  ASSERT_TRUE(life.opens()) << life.error();
  faulty.only("checkpoint");
  faulty.fail(Call::kOpen, 0, EACCES, UINT32_MAX);
  std::string x = "1,2,3";
  std::string y = "1";
  for (int i = 1; i < 20; ++i) {
    x += ",1,2,3";
    y += ",1";
  }
  const std::string rows = "{\"rows\":20,\"features_f64\":[" + x + "],\"targets_f64\":[" + y + "]}";
  const auto send = [&] {
    return HttpPeer("127.0.0.1:" + std::to_string(life.server().http().port))
        .ask("POST", "/v1/observe", "Content-Type: application/json\r\n", rows);
  };
  HttpResponse response;
  // Others may wait for a disk that is slow.
  EXPECT_TRUE(eventually([&] {
    response = send();
    return response.body.find("the log is full until a checkpoint") != std::string::npos;
  })) << response.body;
  EXPECT_EQ(response.status, 504);
  faulty.heal();
  EXPECT_TRUE(eventually([&] { return send().status == 200; }));
}

}  // namespace
}  // namespace windhover::testing::server_full_log_test
