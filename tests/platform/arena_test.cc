#include "windhover/platform/arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <string>

namespace windhover {
namespace {

constexpr std::size_t kBlockBytes = 1 << 16;
alignas(Arena::kAlignment) std::byte arena_block[kBlockBytes];

std::span<std::byte> first_bytes(std::size_t bytes) { return std::span(arena_block).first(bytes); }

// A class in the style of the project: takes memory, writes nothing; nested objects, odd sizes.
struct Leaf {
  Leaf(Arena& arena, std::size_t doubles) noexcept : values(arena.allocate<double>(doubles)) {}
  std::span<double> values;
};

struct Top {
  Top(Arena& arena, std::size_t size) noexcept {
    arena.region("bytes");
    bytes = arena.allocate<char>(size, 1);
    more_bytes = arena.allocate<char>(3, 1);
    arena.region("leaves");
    one = arena.make<Leaf>(arena, size);
    leaves = arena.make_array<Leaf>(5, arena, size);
    arena.region("bytes");
    last = arena.allocate<std::uint16_t>(size, alignof(std::uint16_t));
  }
  std::span<char> bytes;
  std::span<char> more_bytes;
  Leaf* one;
  std::span<Leaf> leaves;
  std::span<std::uint16_t> last;
};

std::size_t footprint(std::size_t size) {
  Arena arena = Arena::measuring();
  Top top(arena, size);
  EXPECT_TRUE(arena.is_measuring());
  EXPECT_FALSE(arena.exhausted());
  return arena.used();
}

TEST(Arena, MeasuredSizeIsExactlyWhatABlockNeeds) {
  for (std::size_t size = 0; size < 150; ++size) {
    const std::size_t bytes = footprint(size);
    Arena arena(first_bytes(bytes));
    Top top(arena, size);
    EXPECT_FALSE(arena.exhausted()) << size;
    EXPECT_EQ(arena.used(), bytes) << size;
    EXPECT_EQ(top.leaves.size(), 5u);
    EXPECT_EQ(top.leaves[4].values.size(), size);
  }
}

TEST(Arena, OneByteLessIsRefusedAndTheNeedIsRemembered) {
  const std::size_t bytes = footprint(17);
  Arena arena(first_bytes(bytes - 1));
  Top top(arena, 17);
  EXPECT_TRUE(arena.exhausted());
  EXPECT_TRUE(top.last.empty());
  EXPECT_EQ(arena.used(), bytes);
}

TEST(Arena, FarTooSmallBlockStillSaysHowMuchIsNeeded) {
  const std::size_t bytes = footprint(100);
  for (const std::size_t given : {std::size_t{0}, std::size_t{1}, std::size_t{200}, bytes / 2}) {
    Arena arena(first_bytes(given));
    Top top(arena, 100);
    EXPECT_TRUE(arena.exhausted());
    EXPECT_EQ(arena.used(), bytes) << given;
  }
}

TEST(Arena, AllocationsAreAlignedDisjointAndInsideTheBlock) {
  Arena arena(arena_block);
  const std::byte* end = arena_block;
  for (std::size_t count = 1; count < 40; ++count) {
    const std::span<double> doubles = arena.allocate<double>(count);
    const auto* begin = reinterpret_cast<std::byte*>(doubles.data());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(begin) % Arena::kAlignment, 0u);
    EXPECT_GE(begin, end);
    end = begin + doubles.size_bytes();
  }
  EXPECT_LE(end, arena_block + kBlockBytes);
}

TEST(Arena, SmallerAlignmentPacksTightly) {
  Arena arena(arena_block);
  arena.allocate<char>(1, 1);
  EXPECT_EQ(arena.used(), 1u);
  arena.allocate<std::uint32_t>(1, alignof(std::uint32_t));
  EXPECT_EQ(arena.used(), 8u);
}

TEST(Arena, MeasuringGivesNullOfTheRightSize) {
  Arena arena = Arena::measuring();
  const std::span<double> doubles = arena.allocate<double>(12);
  EXPECT_EQ(doubles.data(), nullptr);
  EXPECT_EQ(doubles.size(), 12u);
  EXPECT_EQ(arena.make<Leaf>(arena, std::size_t{2}), nullptr);
}

TEST(Arena, AbsurdCountIsRefusedNotWrappedAround) {
  constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();
  Arena real(arena_block);
  EXPECT_TRUE(real.allocate<double>(kMax / 4).empty());
  EXPECT_TRUE(real.exhausted());
  EXPECT_EQ(real.used(), kMax);
  EXPECT_TRUE(real.allocate<double>(1).empty());
  EXPECT_EQ(real.used(), kMax);

  Arena measuring = Arena::measuring();
  measuring.allocate<char>(10);
  measuring.allocate<char>(kMax - 20);
  EXPECT_EQ(measuring.used(), kMax);
}

TEST(Arena, RegionsAddUpToUsedAndAreTheSameMeasuredAndReal) {
  Arena measuring = Arena::measuring();
  Top measured(measuring, 33);
  Arena arena(arena_block);
  Top top(arena, 33);
  ASSERT_EQ(arena.regions().size(), 2u);
  EXPECT_STREQ(arena.regions()[0].name, "bytes");
  EXPECT_STREQ(arena.regions()[1].name, "leaves");
  std::size_t sum = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(arena.regions()[i].bytes, measuring.regions()[i].bytes);
    sum += arena.regions()[i].bytes;
  }
  EXPECT_EQ(sum, arena.used());
}

TEST(Arena, WhatHasNoRegionIsUnnamed) {
  Arena arena = Arena::measuring();
  arena.allocate<char>(7);
  ASSERT_EQ(arena.regions().size(), 1u);
  EXPECT_STREQ(arena.regions()[0].name, "unnamed");
  EXPECT_EQ(arena.regions()[0].bytes, 7u);
}

TEST(Arena, RegionsPastTheLastAreCollectedAsOther) {
  static std::array<std::string, Arena::kMaxRegions + 5> names;
  Arena arena = Arena::measuring();
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = "region " + std::to_string(i);
    arena.region(names[i].c_str());
    arena.allocate<char>(64);
  }
  ASSERT_EQ(arena.regions().size(), Arena::kMaxRegions);
  EXPECT_STREQ(arena.regions().back().name, "other");
  EXPECT_EQ(arena.regions().back().bytes, 64u * 6);
  EXPECT_EQ(arena.regions().front().bytes, 64u);
}

TEST(Arena, BlockNotOnACacheLineIsRecognised) {
  EXPECT_TRUE(Arena::is_aligned(arena_block));
  EXPECT_FALSE(Arena::is_aligned(std::span(arena_block).subspan(8)));
}

}  // namespace
}  // namespace windhover
