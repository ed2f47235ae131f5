// Unix-domain sockets: who may connect, and whose file it is.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "windhover/tests/io/server_fixture.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover::testing::unix_socket_test {
namespace {

TEST(UnixSocket, IsPrivateServesAndIsRemovedAtTheEnd) {
  const std::string path = temporary_path("private");
  {
    ServerConfig config = small_server();
    config.observe.unix_path = path;
    TestServer server(config);
    struct stat file {};
    ASSERT_EQ(::stat(path.c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777, 0600U);
    Client client;
    ASSERT_EQ(client.connect("unix:" + path), Status::kOk) << client.error_text();
    ASSERT_EQ(client.observe(TestRows(5000).rows()), Status::kOk);
    EXPECT_EQ(client.totals().accepted, 5000U);
    Client over_tcp;
    EXPECT_EQ(over_tcp.connect(server.observe_address()), Status::kOk);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(UnixSocket, StaleOneIsReplacedLiveOneIsNot) {
  const std::string path = temporary_path("stale");
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(fd, 1), 0);
  ServerConfig config = small_server();
  config.observe.tcp_address = {};
  config.observe.unix_path = path;
  {
    RealClock clock;
    MappedBlock engine_block(Engine::footprint(small_engine()).value());
    Engine* engine = Engine::create(small_engine(), engine_block.bytes(), clock).value();
    MappedBlock block(Server::footprint(config, small_engine()).value());
    auto server = Server::create(config, *engine, block.bytes(), clock);
    EXPECT_EQ(server.value()->open().status(), Status::kUnavailable);
  }
  ::close(fd);  // now nobody listens
  ASSERT_TRUE(std::filesystem::exists(path));
  {
    TestServer server(config);
    Client client;
    EXPECT_EQ(client.connect("unix:" + path), Status::kOk) << client.error_text();
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(UnixSocket, AFileOfSomebodyElseIsLeftAlone) {
  const std::string path = temporary_path("file");
  { std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "w"), std::fclose); }
  ServerConfig config = small_server();
  config.query.unix_path = path;
  {
    RealClock clock;
    MappedBlock engine_block(Engine::footprint(small_engine()).value());
    Engine* engine = Engine::create(small_engine(), engine_block.bytes(), clock).value();
    MappedBlock block(Server::footprint(config, small_engine()).value());
    auto server = Server::create(config, *engine, block.bytes(), clock);
    const Result<bool> opened = server.value()->open();
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(std::string(opened.error().sentence), "query.unix_path " + path + " cannot be bound");
  }
  EXPECT_TRUE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace windhover::testing::unix_socket_test
