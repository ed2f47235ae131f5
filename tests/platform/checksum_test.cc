#include "windhover/platform/checksum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace windhover::checksum_test {
namespace {

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// The numbers of XXH3's own specification: files written today are read by any build.
TEST(Checksum, IsXxh3) {
  EXPECT_EQ(checksum({}), 0x2D06800538D394C2u);
  EXPECT_EQ(checksum(bytes("xxhash")), Checksum{[] {
                                         Checksum c;
                                         c.update(bytes("xxhash"));
                                         return c;
                                       }()}
                                           .value());
  EXPECT_EQ(checksum(bytes("a")), 0xE6C632B61E964E1Fu);
  EXPECT_EQ(checksum(bytes("abc")), 0x78AF5F94892F3950u);
}

TEST(Checksum, DoesNotDependOnHowBytesAreCut) {
  std::vector<std::byte> data(3000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * i >> 3);
  for (const std::uint64_t seed : {0ULL, 1ULL, 0x123456789abcdefULL}) {
    for (const std::size_t size : {0, 1, 3, 8, 16, 17, 128, 129, 240, 241, 1024, 3000}) {
      const std::span<const std::byte> all = std::span(data).first(size);
      const std::uint64_t whole = checksum(all, seed);
      for (const std::size_t piece : {1, 7, 64, 256, 1000}) {
        Checksum c(seed);
        for (std::size_t at = 0; at < size; at += piece) {
          c.update(all.subspan(at, std::min(piece, size - at)));
        }
        ASSERT_EQ(c.value(), whole) << size << " by " << piece;
        ASSERT_EQ(c.value(), whole) << "asking changes it";
      }
    }
  }
}

TEST(Checksum, CopiesGoOnApart) {
  Checksum one;
  one.update(bytes("one"));
  Checksum other = one;
  other.update(bytes("two"));
  EXPECT_EQ(one.value(), checksum(bytes("one")));
  EXPECT_EQ(other.value(), checksum(bytes("onetwo")));
}

TEST(Checksum, EveryBitOfDataAndSeedCounts) {
  std::vector<std::byte> data(300, std::byte{7});
  const std::uint64_t before = checksum(data);
  for (std::size_t bit = 0; bit < 8 * data.size(); ++bit) {
    data[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    ASSERT_NE(checksum(data), before) << bit;
    data[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
  EXPECT_NE(checksum(data, 1), before);
}

}  // namespace
}  // namespace windhover::checksum_test
