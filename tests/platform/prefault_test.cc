#include "windhover/platform/prefault.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "windhover/platform/memory.h"

namespace windhover {
namespace prefault_test {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kSmallPage = 4096;

std::size_t pages_in(std::span<std::byte> memory) {
  std::vector<unsigned char> here((memory.size() + kSmallPage - 1) / kSmallPage);
  EXPECT_EQ(mincore(memory.data(), memory.size(), here.data()), 0);
  return static_cast<std::size_t>(
      std::ranges::count_if(here, [](unsigned char c) { return c & 1; }));
}

// Sizes that divide into parts and that do not.
TEST(PrefaultByThreads, EveryPageIsThereAndContentsStay) {
  for (const std::size_t bytes : {130 * kMiB, 197 * kMiB + 4 * kSmallPage + 5, kSmallPage}) {
    for (const std::size_t threads : {0, 1, 2, 3, 100}) {
      const MappedBlock block(bytes);
      ASSERT_TRUE(block.valid());
      block.bytes()[bytes - 1] = std::byte{42};
      prefault(block.bytes(), threads);
      EXPECT_EQ(pages_in(block.bytes()), (bytes + kSmallPage - 1) / kSmallPage)
          << bytes << " " << threads;
      EXPECT_EQ(block.bytes()[bytes - 1], std::byte{42});
    }
  }
  prefault({}, 2);
}

}  // namespace prefault_test
}  // namespace windhover
