#include "windhover/io/producer_index.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/platform/memory.h"

namespace windhover::producer_index_test {
namespace {

// Compares with a search of all entries, over producers that come and go: with the seed 1 << 62
// only two of a number's bits tell its home, so that nearly all meet.
TEST(ProducerIndex, FindsThoseThatAreThereAndNoOthersHoweverTheyMeet) {
  constexpr std::size_t kPlaces = 12;
  for (const std::uint64_t seed : {std::uint64_t{0x9e3779b97f4a7c15}, std::uint64_t{1} << 62}) {
    MappedBlock block(1 << 16);
    Arena arena(block.bytes());
    std::vector<ProducerEntry> entries(kPlaces);
    ProducerIndex index(arena, entries, kPlaces);
    index.reset(seed);
    std::mt19937_64 random(7);
    for (int step = 0; step < 4'000; ++step) {
      const auto place = static_cast<ProducerPlace>(random() % kPlaces);
      ProducerEntry& entry = entries[place];
      if (entry.producer != 0) {
        index.remove(entry.producer);
        entry = {};
      } else if (const std::uint64_t producer = 1 + random() % 40;
                 index.find(producer) == kNoPlace) {
        entry.producer = producer;
        index.add(producer, place);
      }
      for (std::uint64_t producer = 1; producer <= 40; ++producer) {
        ProducerPlace expected = kNoPlace;
        for (std::size_t i = 0; i < kPlaces; ++i) {
          if (entries[i].producer == producer) expected = static_cast<ProducerPlace>(i);
        }
        ASSERT_EQ(index.find(producer), expected) << "step " << step << " producer " << producer;
      }
    }
    index.reset(seed);
    for (std::uint64_t producer = 1; producer <= 40; ++producer) {
      EXPECT_EQ(index.find(producer), kNoPlace);
    }
  }
}

// An arena that is exhausted says how much was needed.
TEST(ProducerIndex, AsksForAsMuchWhereThereIsNoRoom) {
  constexpr std::size_t kPlaces = 100;
  MappedBlock block(1 << 16);
  Arena large(block.bytes());
  const std::vector<ProducerEntry> entries(kPlaces);
  const ProducerIndex there(large, entries, kPlaces);
  Arena none(block.bytes().first(0));
  const ProducerIndex nowhere(none, {}, kPlaces);
  EXPECT_EQ(none.used(), large.used());
}

}  // namespace
}  // namespace windhover::producer_index_test
