#include "windhover/runtime/labels/key_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <random>
#include <string>

#include "windhover/platform/memory.h"

namespace windhover::test::key_table_test {
namespace {

struct Table {
  explicit Table(std::uint32_t places) : block(1 << 20), arena(block.bytes()), keys(arena, places) {
    keys.reset();
  }
  MappedBlock block;
  Arena arena;
  KeyTable keys;
};

TEST(KeyTable, FindsThePlaceOfAKeyUntilItIsErased) {
  Table t(5);
  EXPECT_EQ(t.keys.find("a"), std::nullopt);
  t.keys.insert(0, "a");
  t.keys.insert(1, "b");
  EXPECT_EQ(t.keys.find("a"), 0U);
  EXPECT_EQ(t.keys.find("b"), 1U);
  t.keys.erase(0);
  EXPECT_EQ(t.keys.find("a"), std::nullopt);
  EXPECT_EQ(t.keys.find("b"), 1U);
  t.keys.insert(2, "a");
  EXPECT_EQ(t.keys.find("a"), 2U);
  t.keys.reset();
  EXPECT_EQ(t.keys.find("b"), std::nullopt);
  t.keys.insert(0, "b");
  t.keys.erase(1);  // which held it before the reset
  EXPECT_EQ(t.keys.find("b"), 0U);
}

TEST(KeyTable, FindsAKeyByItsHashWhereverTheSeedIsTheSame) {
  Table one(64);
  Table other(128);
  other.keys.reset(one.keys.seed());
  for (std::uint32_t i = 0; i < 64; ++i) one.keys.insert(i, std::to_string(i));
  for (std::uint32_t i = 0; i < 64; ++i) other.keys.insert(127 - i, std::to_string(i));
  for (std::uint32_t i = 0; i < 64; ++i) {
    const std::uint64_t hash = one.keys.hash(one.keys.key(i));
    EXPECT_EQ(one.keys.find_hash(hash), i);
    EXPECT_EQ(other.keys.find_hash(hash), 127 - i);
  }
  EXPECT_EQ(one.keys.find_hash(one.keys.hash("64")), std::nullopt);
  other.keys.reset();
  EXPECT_NE(other.keys.seed(), one.keys.seed());
  EXPECT_TRUE(other.keys.key(127).empty());
}

TEST(KeyTable, ErasesAPlaceWithoutAKeyToNoEffect) {
  Table t(4);
  t.keys.erase(3);  // has never had one
  t.keys.insert(0, "a");
  t.keys.erase(0);
  t.keys.erase(0);
  t.keys.insert(1, "a");
  EXPECT_EQ(t.keys.find("a"), 1U);
}

TEST(KeyTable, TellsKeysOfTheGreatestLengthApart) {
  Table t(2);
  const std::string one(kMaxKeyBytes, 'k');
  std::string other = one;
  other.back() = 'l';
  t.keys.insert(0, one);
  EXPECT_EQ(t.keys.find(one), 0U);
  EXPECT_EQ(t.keys.find(other), std::nullopt);
  EXPECT_EQ(t.keys.find(one.substr(1)), std::nullopt);
}

TEST(KeyTable, KeepsWhatHasBecomeOfAKeyUntilItsPlaceHasAnother) {
  Table t(2);
  t.keys.insert(0, "a");
  t.keys.insert(1, "b");
  EXPECT_EQ(t.keys.state(0), KeyState::kPending);
  t.keys.settle(0, KeyState::kJoined);
  t.keys.settle(1, KeyState::kTimedOut);
  EXPECT_EQ(t.keys.state(0), KeyState::kJoined);
  EXPECT_EQ(t.keys.state(1), KeyState::kTimedOut);
  t.keys.erase(0);
  t.keys.insert(0, "c");
  EXPECT_EQ(t.keys.state(0), KeyState::kPending);
}

// Compares with a std::map that is told the same: many keys share a bucket, and are erased from
// anywhere in it.
TEST(KeyTable, IsAMapFromKeysToPlaces) {
  constexpr std::uint32_t kPlaces = 64;
  Table t(kPlaces);
  std::map<std::string, std::uint32_t> expected;
  std::mt19937 random(7);
  for (int step = 0; step < 5000; ++step) {
    const std::string key = std::to_string(random() % 100);
    const std::uint32_t place = random() % kPlaces;
    std::erase_if(expected, [&](const auto& entry) { return entry.second == place; });
    t.keys.erase(place);
    if (!expected.contains(key)) {
      expected[key] = place;
      t.keys.insert(place, key);
    }
    for (int k = 0; k < 100; ++k) {
      const auto found = expected.find(std::to_string(k));
      const auto place_of = t.keys.find(std::to_string(k));
      ASSERT_EQ(place_of.has_value(), found != expected.end()) << k;
      if (place_of) {
        ASSERT_EQ(*place_of, found->second) << k;
      }
    }
  }
}

}  // namespace
}  // namespace windhover::test::key_table_test
