#include "windhover/platform/memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <utility>

#include "windhover/platform/arena.h"

namespace windhover {
namespace {

constexpr std::size_t kMegabyte = 1 << 20;

TEST(MappedBlock, IsAlignedZeroedAndOfTheSizeAskedFor) {
  const MappedBlock block(kMegabyte + 1);
  ASSERT_TRUE(block.valid());
  EXPECT_EQ(block.bytes().size(), kMegabyte + 1);
  EXPECT_TRUE(Arena::is_aligned(block.bytes()));
  for (const std::byte byte : block.bytes()) ASSERT_EQ(byte, std::byte{0});
}

TEST(MappedBlock, ImpossibleSizeIsEmpty) {
  const MappedBlock huge(std::size_t{1} << 62);
  EXPECT_FALSE(huge.valid());
  EXPECT_TRUE(huge.bytes().empty());
  const MappedBlock none(0);
  EXPECT_FALSE(none.valid());
}

TEST(MappedBlock, MovesItsMapping) {
  MappedBlock a(100);
  const std::byte* data = a.bytes().data();
  MappedBlock b(std::move(a));
  EXPECT_EQ(b.bytes().data(), data);
  MappedBlock c(200);
  c = std::move(b);
  EXPECT_EQ(c.bytes().data(), data);
  EXPECT_EQ(c.bytes().size(), 100u);
}

TEST(Prefault, MakesTheBlockResidentAndKeepsItsContents) {
  constexpr std::size_t kBytes = 32 * kMegabyte;
  const MappedBlock block(kBytes);
  ASSERT_TRUE(block.valid());
  block.bytes()[5] = std::byte{42};
  const std::size_t before = resident_bytes();
  prefault(block.bytes());
  const std::size_t after = resident_bytes();
  // Loose: other pages may come and go meanwhile.
  EXPECT_GE(after, before + kBytes - 4 * kMegabyte);
  EXPECT_EQ(block.bytes()[5], std::byte{42});
  prefault({});
}

TEST(ResidentBytes, PeakIsAtLeastWhatIsThereAndStaysAfterUnmapping) {
  std::size_t during = 0;
  {
    const MappedBlock block(32 * kMegabyte);
    prefault(block.bytes());
    during = resident_bytes();
  }
  EXPECT_GT(during, 32 * kMegabyte);
  EXPECT_GE(peak_resident_bytes() + kMegabyte, during);
  EXPECT_GT(peak_resident_bytes(), 32 * kMegabyte);
}

TEST(LockMemory, LocksOrSaysNotPermitted) {
#ifdef WINDHOVER_SANITIZED
  GTEST_SKIP() << "sanitizers reserve more memory than can be locked";
#else
  const Status status = lock_memory();
  EXPECT_TRUE(status == Status::kOk || status == Status::kNotPermitted);
  munlockall();
#endif
}

}  // namespace
}  // namespace windhover
