#include "windhover/platform/prefault.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "windhover/platform/memory.h"

namespace windhover {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;
constexpr std::size_t kPage = 4096;

std::size_t pages_in(std::span<std::byte> memory) {
  std::vector<unsigned char> here((memory.size() + kPage - 1) / kPage);
  EXPECT_EQ(mincore(memory.data(), memory.size(), here.data()), 0);
  return static_cast<std::size_t>(
      std::ranges::count_if(here, [](unsigned char c) { return c & 1; }));
}

// Sizes that divide into parts and that do not.
TEST(PrefaultByThreads, EveryPageIsThereAndContentsStay) {
  for (const std::size_t bytes : {130 * kMegabyte, 197 * kMegabyte + 4 * kPage + 5, kPage}) {
    for (const std::size_t threads : {0, 1, 2, 3, 100}) {
      const MappedBlock block(bytes);
      ASSERT_TRUE(block.valid());
      block.bytes()[bytes - 1] = std::byte{42};
      prefault(block.bytes(), threads);
      EXPECT_EQ(pages_in(block.bytes()), (bytes + kPage - 1) / kPage) << bytes << " " << threads;
      EXPECT_EQ(block.bytes()[bytes - 1], std::byte{42});
    }
  }
  prefault({}, 2);
}

}  // namespace
}  // namespace windhover
