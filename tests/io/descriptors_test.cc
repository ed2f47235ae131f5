#include "windhover/io/descriptors.h"

#include <sys/resource.h>

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "windhover/tests/io/server_fixture.h"

namespace windhover::testing::descriptors_test {
namespace {

// How many descriptors this process may have before the system makes their table larger.
std::size_t descriptor_room() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (std::size_t room = 0; word == "FDSize:" && status >> room) return room;
  }
  return 0;
}

TEST(Descriptors, OfAServerHaveRoomFromTheStart) {
  ServerConfig config = small_server();
  config.max_sessions = 300;
  const TestServer server(config);
  EXPECT_GE(descriptor_room(), 600U) << "where both endpoints are full";
}

// Models that come later would otherwise have the table made larger while others are answered.
TEST(Descriptors, HaveAsMuchRoomAsThereMayBeWhereThatIsLess) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 2 * descriptor_room();
  ASSERT_LE(few.rlim_cur, before.rlim_max);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  reserve_descriptors(10 * few.rlim_cur);
  const std::size_t room = descriptor_room();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_GE(room, few.rlim_cur);
}

}  // namespace
}  // namespace windhover::testing::descriptors_test
