#include "windhover/platform/checksum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace windhover {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// Values of the XXH3 specification, so that files written today are read by other implementations.
TEST(Checksum, IsXxh3) {
  EXPECT_EQ(checksum({}), 0x2d06800538d394c2U);
  EXPECT_EQ(Checksum().value(), 0x2d06800538d394c2U);
}

TEST(Checksum, DoesNotDependOnHowTheBytesAreCut) {
  std::vector<std::byte> all(5000);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::byte>(i * 31 + i / 256);
  const std::uint64_t expected = checksum(all);
  for (const std::size_t piece : {1U, 7U, 64U, 255U, 256U, 257U, 1024U, 4999U}) {
    Checksum pieces;
    for (std::size_t i = 0; i < all.size(); i += piece) {
      pieces.update(std::span(all).subspan(i, std::min(piece, all.size() - i)));
    }
    EXPECT_EQ(pieces.value(), expected) << piece;
  }
}

TEST(Checksum, SeesEveryFlippedBit) {
  std::vector<std::byte> all(300, std::byte{5});
  const std::uint64_t expected = checksum(all);
  for (std::size_t i = 0; i < all.size() * 8; ++i) {
    all[i / 8] ^= static_cast<std::byte>(1U << (i % 8));
    EXPECT_NE(checksum(all), expected) << i;
    all[i / 8] ^= static_cast<std::byte>(1U << (i % 8));
  }
}

TEST(Checksum, BeginsAgain) {
  Checksum sum;
  sum.update(bytes_of("something"));
  sum.reset();
  sum.update(bytes_of("abc"));
  EXPECT_EQ(sum.value(), checksum(bytes_of("abc")));
}

}  // namespace
}  // namespace windhover
