// Memory does not grow with the stream: what is resident after 10^8 rows is what was after 10^6.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/tests/long_tests.h"
#include "windhover/tools/bench/frame_source.h"
#include "windhover/tools/daemon/child_daemon.h"

namespace windhover {
namespace {

class LongMemory : public ::testing::TestWithParam<const char*> {};

TEST_P(LongMemory, ResidentStaysFlatToTenToTheEight) {
  WINDHOVER_SKIP_UNLESS_LONG();
  constexpr std::uint32_t kColumns = 9;
  constexpr std::uint64_t kFirst = 1'000'000;
  constexpr std::uint64_t kLast = 100'000'000;
  ChildDaemon daemon(WINDHOVER_DAEMON,
                     {"--model.features", "9", "--engine.horizon", GetParam(), "--process.prefault",
                      "true", "--server.observe.tcp_port", "0", "--server.query.tcp_port", "0"},
                     WINDHOVER_HEAP_COUNTER_PRELOAD);
  Client client;
  ASSERT_EQ(client.connect(daemon.query_address()), Status::kOk) << client.error_text();
  std::uint64_t resident_first = 0;
  std::uint64_t resident = 0;
  {
    const LoadRows rows{.features = kColumns, .rows_per_frame = 256};
    const FrameSource source(daemon.observe_address(), rows, {});
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(9);
    std::uint64_t head = 0;
    while (head < kLast) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      v1::StatusResult status;
      ASSERT_EQ(client.status(status), Status::kOk) << client.error_text();
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "only " << head << " rows";
      head = status.head();
      resident = status.resident_bytes();
      if (resident_first == 0 && head >= kFirst) resident_first = resident;
    }
    std::printf("horizon %s: resident %llu bytes after 10^6 rows, %llu after 10^8\n", GetParam(),
                static_cast<unsigned long long>(resident_first),
                static_cast<unsigned long long>(resident));
  }
  ASSERT_GT(resident_first, 0U);
  // A page of stack or of a library's data may be touched late; a byte for every thousandth row
  // would be 25 pages.
  EXPECT_LE(resident, resident_first + 16 * 4096);
  const ChildDaemon::Stopped stopped = daemon.stop();
  EXPECT_EQ(stopped.exit_code, 0);
  EXPECT_EQ(stopped.heap_calls.value_or(1), 0U);
}

INSTANTIATE_TEST_SUITE_P(Horizons, LongMemory, ::testing::Values("window", "fading", "all"));

}  // namespace
}  // namespace windhover
